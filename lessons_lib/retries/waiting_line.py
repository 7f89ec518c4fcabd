"""The queue in front of a service: requests in order, and how many are still waited for."""

import numpy as np

__all__ = ["WaitingLine"]


class WaitingLine:
    """A first-come-first-served queue of requests whose clients lose patience in the same order.

    Three marks move along one long list of requests: up to `head` they are served, up to
    `given_up` no client waits for them any more, at `tail` new ones join. Since all clients
    are equally patient, the marks only move forward, and every step is a slice.

    Args:
        patience: buckets a client waits; a request sent in bucket k is given up at the
            beginning of bucket k + patience, if it has not been served by then.
    """

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._call = np.zeros(1024, dtype=np.int64)
        self._head = self._given_up = self._tail = 0
        self._tail_after: list[int] = []  # the tail at the end of each bucket's arrivals

    @property
    def length(self) -> int:
        """Requests in the queue, given up or not."""
        return self._tail - self._head

    @property
    def awaited(self) -> int:
        """Requests in the queue that a client still waits for."""
        return self._tail - max(self._head, self._given_up)

    def abandon(self, bucket: int) -> np.ndarray:
        """Return the calls whose client's patience ends at the beginning of `bucket`."""
        if bucket < self._patience:
            return self._call[0:0]
        begin = max(self._head, self._given_up)
        self._given_up = max(begin, self._tail_after[bucket - self._patience])
        return self._call[begin : self._given_up]

    def join(self, calls: np.ndarray) -> None:
        """Append requests of these calls."""
        tail = self._tail + len(calls)
        if tail > len(self._call):
            self._call = np.concatenate([self._call, np.zeros(max(tail, 1024), dtype=np.int64)])
        self._call[self._tail : tail] = calls
        self._tail = tail

    def close(self, bucket: int) -> None:
        """Note that no more requests join in this bucket."""
        self._tail_after.append(self._tail)

    def serve(self, most: int) -> tuple[np.ndarray, int]:
        """Take up to `most` requests; return the calls still waited for, and how many it took."""
        head = min(self._tail, self._head + most)
        served = head - self._head
        done = self._call[max(self._head, self._given_up) : max(head, self._given_up)]
        self._head = head
        return done, served

    def lose_all(self) -> np.ndarray:
        """Empty the queue; return the calls that were still waited for."""
        lost = self._call[max(self._head, self._given_up) : self._tail]
        self._head = self._tail
        return lost
