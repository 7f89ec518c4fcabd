"""When a circuit breaker opens: after failures in a row, or at a share of failures in a window."""

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from lessons_lib.errors import real_number, whole_number

__all__ = ["FailureShare", "InARow", "Trip"]


class Trip(Protocol):
    """What every rule offers: `counter()` begins to count afresh, `add` says "open now"."""

    def counter(self) -> "Counter": ...  # noqa: D102


class Counter(Protocol):
    """The memory of one closed period."""

    def add(self, now_ms: int, failed: bool) -> bool: ...


@dataclass(frozen=True)
class InARow:
    """Open after `failures` failures in a row; one success starts the count again.

    Args:
        failures: how many, at least 1.
    """

    failures: int = 5

    def __post_init__(self) -> None:
        whole_number("failures", self.failures, low=1)

    def counter(self) -> "_Row":
        """Return a counter at 0."""
        return _Row(self.failures)


class _Row:
    def __init__(self, limit: int) -> None:
        self._limit, self._row = limit, 0

    def add(self, now_ms: int, failed: bool) -> bool:
        self._row = self._row + 1 if failed else 0
        return self._row >= self._limit


@dataclass(frozen=True)
class FailureShare:
    """Open when the share of failures among the latest calls reaches `share`.

    Args:
        share: 0.5 for half; more than 0, at most 1.
        window_ms: how far back calls count, in milliseconds.
        at_least: calls the window must hold before the share means anything.
    """

    share: float = 0.5
    window_ms: int = 10_000
    at_least: int = 20

    def __post_init__(self) -> None:
        if real_number("share", self.share, low=0, high=1) == 0:
            raise ValueError("share must be more than 0, got 0: it would open without a failure")
        whole_number("window_ms", self.window_ms, low=1)
        whole_number("at_least", self.at_least, low=1)

    def counter(self) -> "_Window":
        """Return a counter with an empty window."""
        return _Window(self)


class _Window:
    def __init__(self, rule: FailureShare) -> None:
        self._rule = rule
        self._calls: deque[tuple[int, bool]] = deque()
        self._failures = 0

    def add(self, now_ms: int, failed: bool) -> bool:
        self._calls.append((now_ms, failed))
        self._failures += failed
        while self._calls[0][0] <= now_ms - self._rule.window_ms:
            self._failures -= self._calls.popleft()[1]
        count = len(self._calls)
        return (
            failed and count >= self._rule.at_least and self._failures >= self._rule.share * count
        )
