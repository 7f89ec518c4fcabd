"""The four kinds of client in Brooker's study, which differ in when they retry."""

from dataclasses import dataclass
from typing import Protocol

from lessons_lib.errors import one_of

__all__ = ["STRATEGIES", "StudyClient", "client_of"]

STRATEGIES = ("no retry", "3 retries", "token bucket", "breaker")


class StudyClient(Protocol):
    """What all four answer to."""

    def started(self) -> None:
        """Take note of a call that begins."""

    def may_retry(self, attempt: int) -> bool:
        """Take note of the failure of attempt number `attempt`, from 1; say whether to retry."""


def client_of(strategy: str, fill: float, size: float, share: float) -> StudyClient:
    """Return an unused client of one of the `STRATEGIES`.

    Args:
        strategy: which.
        fill: tokens a call deposits.
        size: tokens a bucket holds, and holds at the beginning.
        share: failures per call above which the breaker allows no retry.
    """
    one_of("strategy", strategy, STRATEGIES)
    if strategy == "token bucket":
        return _Tokens(fill, size)
    if strategy == "breaker":
        return _RateBreaker(share)
    return _Retries(3 if strategy == "3 retries" else 0)


class _Retries:
    """A client's rule with a fixed number of retries."""

    def __init__(self, retries: int) -> None:
        self._retries = retries

    def started(self) -> None:
        pass

    def may_retry(self, attempt: int) -> bool:
        return attempt <= self._retries


@dataclass
class _Tokens:
    """A client's bucket as in the study: a retry needs *more than* one token and takes one."""

    fill: float
    size: float

    def __post_init__(self) -> None:
        self._held = self.size

    def started(self) -> None:
        self._held = min(self.size, self._held + self.fill)

    def may_retry(self, attempt: int) -> bool:
        if self._held <= 1:
            return False
        self._held -= 1
        return True


@dataclass
class _RateBreaker:
    """A client's breaker as in the study: it never pauses calls, it only stops retries.

    It does so while the failures so far are more than `share` of the calls so far.
    """

    share: float
    calls: int = 0
    failures: int = 0

    def started(self) -> None:
        self.calls += 1

    def may_retry(self, attempt: int) -> bool:
        self.failures += 1
        return self.failures <= self.share * self.calls and attempt <= 3
