"""A retry budget as a token bucket: calls pay in, retries pay out, so retries add at most a share."""

from collections import deque

from lessons_lib.errors import one_of, real_number, whole_number

__all__ = ["DEPOSITS", "TokenBucket"]

DEPOSITS = ("at start", "on success")
UNITS = 1_000_000  # one token in whole units, so that ten deposits of 0.1 are exactly one token


def _units(name: str, tokens: float) -> int:
    return round(real_number(name, tokens, low=0) * UNITS)


class TokenBucket:
    """Let retries spend tokens that calls deposit.

    Each call deposits `ratio` tokens, each retry costs `cost`: with 0.1 and 1 the retries add
    at most a tenth to the load, whatever the failure rate. A token is spent once or expires
    once. One bucket per client bounds each client; one bucket handed to all bounds the fleet.

    Args:
        ratio: tokens a call deposits, at least 0.
        cap: most tokens the bucket holds; what does not fit is lost.
        start: tokens at the beginning, at most `cap`; None: a full bucket.
        cost: tokens a retry takes, more than 0.
        deposit: "at start" of each call (Brooker, Finagle), or "on success", so that a dead
            service earns nothing and retries stop altogether once the start balance is gone.
        min_per_second: tokens that flow in by the clock, so that rare callers can retry.
        expiry_ms: how long a token lives, or None for ever (Finagle: 10 000 ms).

    Source: Finagle's RetryBudget (20 % and 10 a second) and M. Brooker, "Fixing retries with
    token buckets and circuit breakers". Finagle nets deposits and withdrawals inside one
    window; here every token carries its own date, so that no balance is ever negative.
    """

    def __init__(
        self,
        *,
        ratio: float = 0.1,
        cap: float = 100,
        start: float | None = None,
        cost: float = 1,
        deposit: str = "at start",
        min_per_second: float = 0,
        expiry_ms: int | None = None,
    ) -> None:
        start = cap if start is None else start
        self._ratio, self._cap = _units("ratio", ratio), _units("cap", cap)
        self._cost, self._per_second = (
            _units("cost", cost),
            _units("min_per_second", min_per_second),
        )
        if self._cost == 0:
            raise ValueError(f"cost must be more than 0, got {cost!r}")
        if _units("start", start) > self._cap:
            raise ValueError(f"start must be at most the cap of {cap:g}, got {start!r}")
        self._expiry_ms = None if expiry_ms is None else whole_number("expiry_ms", expiry_ms, low=1)
        self._deposit = one_of("deposit", deposit, DEPOSITS)
        self._settings = {
            "ratio": ratio, "cap": cap, "start": start, "cost": cost, "deposit": deposit,
            "min_per_second": min_per_second, "expiry_ms": expiry_ms,
        }  # fmt: skip
        self.deposits = 0
        self._now_ms = 0
        self._flowed = 0  # thousandths of a unit that flowed in by the clock, not yet whole
        self._held: deque[list[int]] = deque()  # [date, units], oldest first
        self._balance = 0
        self._put(_units("start", start))

    def fresh(self) -> "TokenBucket":
        """Return an unused bucket with the same settings."""
        return TokenBucket(**self._settings)

    def balance(self, now_ms: int) -> float:
        """Return the tokens in the bucket at `now_ms`."""
        self._advance(now_ms)
        return self._balance / UNITS

    def started(self, now_ms: int, calls: int = 1) -> None:
        """Tell of calls that start: first attempts only, never retries."""
        self._advance(now_ms)
        if self._deposit == "at start":
            self.deposits += calls
            self._put(self._ratio * calls)

    def failed(self, now_ms: int) -> None:
        """Tell of an attempt that failed; this kind of budget does not mind."""
        self._advance(now_ms)

    def succeeded(self, now_ms: int, attempts: int = 1) -> None:
        """Tell of a call that succeeded, after how many attempts."""
        self._advance(now_ms)
        if self._deposit == "on success":
            self.deposits += 1
            self._put(self._ratio)

    def may_retry(self, now_ms: int) -> bool:
        """Take the cost of one retry if it is there, and say whether it was."""
        self._advance(now_ms)
        if self._balance < self._cost:
            return False
        self._balance -= self._cost
        owed = self._cost
        while owed:  # the oldest tokens go first: they would expire first
            taken = min(owed, self._held[0][1])
            owed -= taken
            self._held[0][1] -= taken
            if self._held[0][1] == 0:
                self._held.popleft()
        return True

    def _put(self, units: int) -> None:
        units = min(units, self._cap - self._balance)
        if units <= 0:
            return
        self._balance += units
        if self._held and (self._expiry_ms is None or self._held[-1][0] == self._now_ms):
            self._held[-1][1] += units
        else:
            self._held.append([self._now_ms, units])

    def _advance(self, now_ms: int) -> None:
        if now_ms < self._now_ms:
            raise ValueError(f"time runs forward: now_ms was {self._now_ms}, got {now_ms!r}")
        if self._per_second:
            self._flowed += (now_ms - self._now_ms) * self._per_second
        self._now_ms = now_ms
        if self._expiry_ms is not None:
            while self._held and self._held[0][0] + self._expiry_ms <= now_ms:
                self._balance -= self._held.popleft()[1]
        if self._flowed >= 1000:
            self._put(self._flowed // 1000)
            self._flowed %= 1000
