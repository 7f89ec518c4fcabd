"""The consumer's own notes in a queue's history: what the queue itself cannot see."""

from collections.abc import Callable

from lessons_lib.queues.sqlite_queue import Queue

__all__ = ["noting"]


def noting(queue: Queue) -> Callable[[str, int, int], None]:
    """Return a function that notes (event, message, attempt) at the queue's present time."""

    def note(event: str, message: int, attempt: int) -> None:
        queue.history.note(queue.clock(), queue.name, event, message, attempt)

    return note
