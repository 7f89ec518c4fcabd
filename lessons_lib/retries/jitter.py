"""Jitter: randomness added to the waits, so that consumers that failed together part."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lessons_lib.errors import real_number, whole_number
from lessons_lib.retries.schedules import LONGEST_WAIT_MS, Schedule

__all__ = [
    "AddedJitter",
    "DecorrelatedJitter",
    "EqualJitter",
    "FullJitter",
    "Jitter",
    "NoJitter",
    "ScaledJitter",
]


class Jitter(Protocol):
    """What every kind of jitter offers."""

    def waits(self, schedule: Schedule, consumers: int, attempts: int, rng: Any) -> np.ndarray:
        """Return the waits of a whole fleet, int64 milliseconds, shape (consumers, attempts).

        Args:
            schedule: the waits without randomness.
            consumers: how many, at least 1.
            attempts: attempts of each consumer, at least 1.
            rng: anything with `.random(size)` in [0, 1), such as `numpy.random.default_rng(7)`.
                Numbers are drawn consumer by consumer, attempt by attempt.
        """


def _whole(by_attempt: np.ndarray) -> np.ndarray:
    """Cut to whole milliseconds; rounding half up, if 0.5 was added before."""
    # One row an attempt lies together in memory: whoever adds up attempts reads it in order.
    return by_attempt.astype(np.int64).T


def _shape(consumers: int, attempts: int) -> tuple[int, int]:
    return (
        whole_number("consumers", consumers, low=1),
        whole_number("attempts", attempts, low=1),
    )


def _draw(rng: Any, shape: tuple[int, int]) -> np.ndarray:
    if not callable(getattr(rng, "random", None)):
        raise TypeError(
            f"rng must have a .random(size) method, such as numpy.random.default_rng(7), got {rng!r}"
        )
    return rng.random(shape)


@dataclass(frozen=True)
class NoJitter:
    """Add nothing: every consumer waits exactly as scheduled. No number is drawn."""

    def waits(self, schedule: Schedule, consumers: int, attempts: int, rng: Any) -> np.ndarray:
        """Return the schedule's waits for every consumer (see `Jitter.waits`)."""
        shape = _shape(consumers, attempts)
        return np.broadcast_to(schedule.waits(shape[1]), shape)


@dataclass(frozen=True)
class ScaledJitter:
    """Draw each wait evenly between `low` and `high` times the scheduled wait.

    "Full jitter" is used for three of these ranges by different projects: 0 to 1 (AWS and
    this course), 0.5 to 1 (equal jitter here) and 1 to 2. With `high` above 1 the wait may
    exceed the schedule's cap; gRPC does so on purpose with 0.8 to 1.2.

    Args:
        low: smallest multiple of the scheduled wait, at least 0.
        high: largest multiple, at least `low`.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        real_number("low", self.low, low=0)
        real_number("high", self.high, low=self.low)

    def waits(self, schedule: Schedule, consumers: int, attempts: int, rng: Any) -> np.ndarray:
        """Return round(scheduled · (low + u·(high - low))) (see `Jitter.waits`)."""
        shape = _shape(consumers, attempts)
        scheduled = schedule.waits(shape[1])[:, np.newaxis]
        waits = np.empty(shape[::-1])
        np.multiply(_draw(rng, shape).T, scheduled * (self.high - self.low), out=waits)
        waits += scheduled * self.low + 0.5
        return _whole(waits)


@dataclass(frozen=True)
class FullJitter(ScaledJitter):
    """Draw each wait evenly between 0 and the scheduled wait: round(u · scheduled).

    Source: AWS Architecture Blog, "Exponential Backoff and Jitter" (2015). The cap is applied
    to the schedule before the draw, so the range already lies under it.
    """

    low: float = 0
    high: float = 1


@dataclass(frozen=True)
class EqualJitter(ScaledJitter):
    """Keep half of the scheduled wait and draw the other half: round(scheduled · (1 + u) / 2).

    Source: AWS Architecture Blog, "Exponential Backoff and Jitter" (2015).
    """

    low: float = 0.5
    high: float = 1


@dataclass(frozen=True)
class DecorrelatedJitter:
    """Draw each wait between the base and three times the previous wait.

    wait = min(cap, round(base + u · (3 · previous - base))), previous = wait; the first
    `previous` is the base. It needs only the schedule's base and cap, not its growth.
    Each consumer has its own `previous`, and each call starts afresh.

    Source: AWS Architecture Blog, "Exponential Backoff and Jitter" (2015).
    """

    def waits(self, schedule: Schedule, consumers: int, attempts: int, rng: Any) -> np.ndarray:
        """Return the waits of the fleet (see `Jitter.waits`)."""
        shape = _shape(consumers, attempts)
        base_ms = schedule.base_ms
        cap_ms = LONGEST_WAIT_MS if schedule.cap_ms is None else schedule.cap_ms
        waits = np.array(_draw(rng, shape).T, order="C")
        span = np.full(shape[0], 2.0 * base_ms)  # 3 · previous - base, for the next draw
        for wait in waits:
            wait *= span
            wait += base_ms + 0.5
            np.floor(wait, out=wait)
            np.minimum(wait, cap_ms, out=wait)
            np.multiply(wait, 3.0, out=span)
            span -= base_ms
        return _whole(waits)


@dataclass(frozen=True)
class AddedJitter:
    """Add up to `spread_ms` to the scheduled wait, then cut at the cap.

    wait = min(cap, uncapped + U(0, spread)). Several libraries do this. Once the uncapped
    wait has passed the cap, the cut removes the randomness: everybody waits exactly the cap.

    Args:
        spread_ms: the most that is added, in milliseconds, at least 0.
    """

    spread_ms: int = 1000

    def __post_init__(self) -> None:
        whole_number("spread_ms", self.spread_ms, low=0)

    def waits(self, schedule: Schedule, consumers: int, attempts: int, rng: Any) -> np.ndarray:
        """Return the waits of the fleet (see `Jitter.waits`)."""
        shape = _shape(consumers, attempts)
        waits = np.empty(shape[::-1])
        np.multiply(_draw(rng, shape).T, self.spread_ms, out=waits)
        waits += schedule.waits(shape[1])[:, np.newaxis]
        if schedule.cap_ms is not None:
            np.minimum(waits, schedule.cap_ms, out=waits)
        waits += 0.5
        return _whole(waits)
