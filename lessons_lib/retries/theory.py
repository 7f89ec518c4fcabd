"""What the numbers must be on average: closed forms, without simulation."""

import numpy as np

from lessons_lib.errors import whole_number
from lessons_lib.retries.jitter import DecorrelatedJitter, Jitter, NoJitter, ScaledJitter
from lessons_lib.retries.schedules import Schedule

__all__ = ["expected_profile", "mean_wait_ms", "wait_distribution"]

MOST_MS = 50_000_000


def _rounded_range(low: float, high: float) -> tuple[int, np.ndarray]:
    """Return where floor(U(low, high) + 0.5) begins, and the probability of each millisecond."""
    first, last = int(np.floor(low + 0.5)), int(np.floor(high + 0.5))
    if high == low:
        return first, np.ones(1)
    edges = np.arange(first, last + 2) - 0.5
    return first, np.diff(np.clip(edges, low, high)) / (high - low)


def _scale(jitter: Jitter) -> tuple[float, float]:
    if isinstance(jitter, NoJitter):
        return 1.0, 1.0
    if isinstance(jitter, ScaledJitter):
        return jitter.low, jitter.high
    raise TypeError(f"there is no closed form here for {jitter!r}")


def _check_length(length: float) -> None:
    if length > MOST_MS:
        raise ValueError(
            f"the waits add up to {length:.0f} ms, more than the {MOST_MS} ms drawn here; set a cap"
        )


def _decorrelated(schedule: Schedule, attempt: int) -> np.ndarray:
    base, cap = schedule.base_ms, schedule.cap_ms
    if cap is not None and cap <= base:
        return np.eye(1, cap + 1, cap)[0]
    longest = base * 3**attempt if cap is None else min(cap, base * 3**attempt)
    _check_length(longest)
    wait = np.eye(1, longest + 1, base)[0]
    for _ in range(attempt):
        # A wait of `previous` spreads evenly over base … 3·previous: density 1/(3·previous - base)
        # per millisecond, half of it at both ends (rounding half up). Sum over all `previous`.
        previous = np.flatnonzero(wait)
        ends = 3 * previous
        density = np.divide(wait[previous], ends - base, where=ends > base, out=0.0 * previous)
        steps = np.zeros(3 * longest + 2)
        np.subtract.at(steps, ends, density / 2)
        np.subtract.at(steps, ends + 1, density / 2)
        steps[base] += density.sum() / 2
        steps[base + 1] += density.sum() / 2
        spread = np.cumsum(steps)
        spread[base] += wait[previous[ends == base]].sum()  # base 0: the wait stays 0
        wait = spread[: longest + 1].copy()
        wait[longest] += spread[longest + 1 :].sum()  # everything beyond the cap waits the cap
    return wait


def wait_distribution(schedule: Schedule, jitter: Jitter, attempt: int) -> np.ndarray:
    """Return the probability of each wait before `attempt`, float64; index = milliseconds.

    Args:
        schedule: the waits without randomness.
        jitter: none, scaled (full and equal are such) or decorrelated.
        attempt: the attempt's number, from 1.

    Raises:
        TypeError: no closed form is known here for this jitter.
        ValueError: the distribution is longer than 50 000 s.
    """
    attempt = whole_number("attempt", attempt, low=1)
    if isinstance(jitter, DecorrelatedJitter):
        return _decorrelated(schedule, attempt)
    low, high = _scale(jitter)
    wait = schedule.wait(attempt)
    _check_length(wait * high)
    first, chance = _rounded_range(wait * low, wait * high)
    return np.concatenate([np.zeros(first), chance])


def mean_wait_ms(schedule: Schedule, jitter: Jitter, attempt: int) -> float:
    """Return the mean wait before `attempt`, in milliseconds.

    None: d. Full: d/2. Equal: 3d/4 (d is the scheduled wait). Decorrelated without a cap:
    base · (3 · 1.5^(n-1) - 1); with a cap the mean of the exact distribution.
    """
    attempt = whole_number("attempt", attempt, low=1)
    if isinstance(jitter, DecorrelatedJitter):
        if schedule.cap_ms is None:
            return schedule.base_ms * (3 * 1.5 ** (attempt - 1) - 1)
        chance = _decorrelated(schedule, attempt)
        return float(chance @ np.arange(len(chance)))
    low, high = _scale(jitter)
    return schedule.wait(attempt) * (low + high) / 2


def expected_profile(
    schedule: Schedule, jitter: Jitter, attempts: int, bucket_ms: int = 100
) -> np.ndarray:
    """Return the expected retries per bucket and consumer, float64, shape (buckets,).

    The moment of retry n is a sum of n independent waits, so its distribution is that of
    retry n-1 convolved with one more wait: one running sum (a box filter) per attempt.

    Args:
        schedule: the waits without randomness.
        jitter: none, scaled (full, equal), or decorrelated with a single attempt: its waits
            depend on each other, so later moments are no sums of independent ones.
        attempts: retries of each consumer, at least 1.
        bucket_ms: width of a bucket in milliseconds, at least 1.
    """
    attempts = whole_number("attempts", attempts, low=1)
    bucket_ms = whole_number("bucket_ms", bucket_ms, low=1)
    if isinstance(jitter, DecorrelatedJitter):
        if attempts > 1:
            raise ValueError(
                f"decorrelated jitter has a closed profile here for attempts=1 only, got {attempts}"
            )
        moment = total = wait_distribution(schedule, jitter, 1)
    else:
        low, high = _scale(jitter)
        scheduled = schedule.waits(attempts)
        _check_length(float(scheduled.sum(dtype=np.float64)) * max(high, 1.0))
        length = int(np.floor(scheduled * high + 0.5).sum()) + 1
        moment, total = np.zeros(length), np.zeros(length)
        moment[0] = 1.0
        for wait in scheduled:
            moment = _convolve(moment, *_rounded_range(wait * low, wait * high))
            total += moment
    padded = np.concatenate([total, np.zeros(-len(total) % bucket_ms)])
    return np.trim_zeros(padded.reshape(-1, bucket_ms).sum(axis=1), "b")


def _convolve(moment: np.ndarray, first: int, chance: np.ndarray) -> np.ndarray:
    """Convolve with a distribution that is flat except at its two ends."""
    length = len(moment)
    flat = chance[len(chance) // 2]

    def shifted(by: int) -> np.ndarray:
        return np.concatenate([np.zeros(min(by, length)), moment[: max(0, length - by)]])

    running = np.cumsum(shifted(first))
    box = running - np.concatenate([np.zeros(min(len(chance), length)), running[: -len(chance)]])
    result = flat * box + (chance[0] - flat) * shifted(first)
    if len(chance) > 1:
        result += (chance[-1] - flat) * shifted(first + len(chance) - 1)
    return np.maximum(result, 0.0)  # running sums leave rounding dust of either sign
