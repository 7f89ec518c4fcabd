"""Three other meanings of "retry budget": gRPC's throttle, botocore's quota, Envoy's share."""

from lessons_lib.errors import real_number, whole_number

__all__ = ["RetryQuota", "Throttle", "concurrent_retries"]

UNITS = 1_000_000


class Throttle:
    """Stop all retries while too many calls fail: gRPC's retry throttling.

    A failure takes one token, a success gives `ratio` back, and retries are allowed while more
    than half the tokens are left. So it reacts to the *failure rate*: above ratio / (1 + ratio)
    the balance sinks and retries end; it does not count retries.

    Args:
        max_tokens: tokens of a full throttle, at least 1.
        ratio: tokens a success gives back.

    Source: gRPC proposal A6, "Throttling Retry Attempts".
    """

    def __init__(self, *, max_tokens: int = 10, ratio: float = 0.1) -> None:
        self.max_tokens = whole_number("max_tokens", max_tokens, low=1)
        self.ratio = real_number("ratio", ratio, low=0)
        self._units = self.max_tokens * UNITS

    def fresh(self) -> "Throttle":
        """Return an unused throttle with the same settings."""
        return Throttle(max_tokens=self.max_tokens, ratio=self.ratio)

    def balance(self, now_ms: int = 0) -> float:
        """Return the tokens left."""
        return self._units / UNITS

    def started(self, now_ms: int, calls: int = 1) -> None:
        """Tell of calls that start; only results count here."""

    def failed(self, now_ms: int) -> None:
        """Tell of an attempt that failed, whether or not a retry follows."""
        self._units = max(0, self._units - UNITS)

    def succeeded(self, now_ms: int, attempts: int = 1) -> None:
        """Tell of a call that succeeded."""
        self._units = min(self.max_tokens * UNITS, self._units + round(self.ratio * UNITS))

    def may_retry(self, now_ms: int) -> bool:
        """Say whether more than half the tokens are left; asking costs nothing."""
        return 2 * self._units > self.max_tokens * UNITS


class RetryQuota:
    """Let retries draw on a quota that successes give back: botocore's standard mode.

    A call that succeeds without a retry returns `refill`; one that succeeds after retries
    returns the cost of its last retry. Calls that fail for good return nothing.

    Args:
        capacity: tokens of a full quota.
        cost: tokens a retry takes, at least 1.
        refill: tokens a success without a retry returns.

    Source: botocore/retries/quota.py and standard.py (500, 5 and 1; a retry after a timeout
    costs 10 there).
    """

    def __init__(self, *, capacity: int = 500, cost: int = 5, refill: int = 1) -> None:
        self.capacity = whole_number("capacity", capacity, low=0)
        self.cost = whole_number("cost", cost, low=1)
        self.refill = whole_number("refill", refill, low=0)
        self._left = self.capacity

    def fresh(self) -> "RetryQuota":
        """Return an unused quota with the same settings."""
        return RetryQuota(capacity=self.capacity, cost=self.cost, refill=self.refill)

    def balance(self, now_ms: int = 0) -> float:
        """Return the tokens left."""
        return float(self._left)

    def started(self, now_ms: int, calls: int = 1) -> None:
        """Tell of calls that start; only results count here."""

    def failed(self, now_ms: int) -> None:
        """Tell of an attempt that failed; only a retry costs."""

    def succeeded(self, now_ms: int, attempts: int = 1) -> None:
        """Tell of a call that succeeded, after how many attempts."""
        back = self.refill if attempts == 1 else self.cost
        self._left = min(self.capacity, self._left + back)

    def may_retry(self, now_ms: int) -> bool:
        """Take the cost of one retry if it is there, and say whether it was."""
        if self._left < self.cost:
            return False
        self._left -= self.cost
        return True


def concurrent_retries(active: int, *, share: float = 0.2, at_least: int = 3) -> int:
    """Return how many retries Envoy lets be under way at once.

    The share shrinks as calls finish, so without the minimum the last calls of a quiet
    client could never retry.

    Args:
        active: calls under way or pending.
        share: retries allowed per active call, 0.2 for Envoy's 20 %.
        at_least: allowed whatever `active` is.
    """
    allowed = int(whole_number("active", active, low=0) * real_number("share", share, low=0) + 1e-9)
    return max(whole_number("at_least", at_least, low=0), allowed)
