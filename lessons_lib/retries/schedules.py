"""Backoff schedules: how long to wait before attempt n, counted from 1."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lessons_lib.errors import real_number, whole_number

__all__ = ["LONGEST_WAIT_MS", "Exponential", "Fixed", "Immediate", "Schedule"]

LONGEST_WAIT_MS = 2**53
"""Where a wait without a cap stops growing: beyond it doubles no longer count every millisecond."""


class Schedule(Protocol):
    """What every schedule offers.

    `base_ms` is the first wait before any cap, `cap_ms` the longest wait or None.
    `settles_at()` is the first attempt from which every later wait is the same.
    """

    @property
    def base_ms(self) -> int: ...  # noqa: D102
    @property
    def cap_ms(self) -> int | None: ...  # noqa: D102
    def wait(self, attempt: int) -> int: ...  # noqa: D102
    def waits(self, attempts: int) -> np.ndarray: ...  # noqa: D102
    def settles_at(self) -> int: ...  # noqa: D102


class _Waits:
    def waits(self, attempts: int) -> np.ndarray:
        """Return the waits before attempts 1 … `attempts`, int64 milliseconds, shape (attempts,)."""
        attempts = whole_number("attempts", attempts, low=0)
        return np.array([self.wait(n) for n in range(1, attempts + 1)], dtype=np.int64)


@dataclass(frozen=True)
class Immediate(_Waits):
    """Retry at once: every wait is 0 ms."""

    base_ms = 0
    cap_ms = None

    def wait(self, attempt: int) -> int:
        """Return 0, whatever the attempt."""
        whole_number("attempt", attempt, low=1)
        return 0

    def settles_at(self) -> int:
        """Return 1: all waits are the same."""
        return 1


@dataclass(frozen=True)
class Fixed(_Waits):
    """Wait the same time before every attempt.

    Args:
        wait_ms: the wait in milliseconds, a whole number, at least 0.
    """

    wait_ms: int = 2000

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "wait_ms", whole_number("wait_ms", self.wait_ms, low=0, high=LONGEST_WAIT_MS)
        )

    @property
    def base_ms(self) -> int:
        """The first wait."""
        return self.wait_ms

    cap_ms = None

    def wait(self, attempt: int) -> int:
        """Return the fixed wait in milliseconds."""
        whole_number("attempt", attempt, low=1)
        return self.wait_ms

    def settles_at(self) -> int:
        """Return 1: all waits are the same."""
        return 1


@dataclass(frozen=True)
class Exponential(_Waits):
    """Multiply the wait by `factor` from attempt to attempt, up to a cap.

    wait(n) = min(cap_ms, base_ms · factor^(n-1)), rounded half up to whole milliseconds.
    Without a cap the wait stops growing at `LONGEST_WAIT_MS`, about 285 000 years.

    Args:
        base_ms: the wait before attempt 1, a whole number of milliseconds, at least 0.
        factor: growth from one attempt to the next, at least 0; below 1 the waits shrink.
        cap_ms: the longest wait in milliseconds, or None. It may be below `base_ms`;
            then every wait of a growing schedule is the cap.
    """

    base_ms: int = 500
    factor: float = 2
    cap_ms: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "base_ms", whole_number("base_ms", self.base_ms, low=0, high=LONGEST_WAIT_MS))
        real_number("factor", self.factor, low=0)
        if self.cap_ms is not None:
            put(self, "cap_ms", whole_number("cap_ms", self.cap_ms, low=0, high=LONGEST_WAIT_MS))

    @property
    def _ceiling_ms(self) -> int:
        return LONGEST_WAIT_MS if self.cap_ms is None else self.cap_ms

    def wait(self, attempt: int) -> int:
        """Return the wait in milliseconds before attempt number `attempt`, counted from 1."""
        exponent = whole_number("attempt", attempt, low=1) - 1
        if self.base_ms == 0:
            return 0
        try:
            uncapped = self.base_ms * float(self.factor) ** exponent
        except OverflowError:  # the cap is far below: that is the answer, not an error
            return self._ceiling_ms
        if uncapped >= self._ceiling_ms:
            return self._ceiling_ms
        return math.floor(uncapped + 0.5)

    def settles_at(self) -> int:
        """Return the first attempt from which all waits are the same: at the cap, or at 0."""
        if self.factor == 1 or self._ceiling_ms == 0 or self.base_ms == 0:
            return 1
        if self.factor == 0:
            return 2
        # Growing: until the ceiling. Shrinking: until the wait rounds to 0.
        target = self._ceiling_ms if self.factor > 1 else 0.5
        steps = math.log(target / self.base_ms) / math.log(self.factor)
        attempt = max(1, math.floor(steps))  # the logarithm may be off by one: look from below
        last = self._ceiling_ms if self.factor > 1 else 0
        while self.wait(attempt) != last:
            attempt += 1
        return attempt
