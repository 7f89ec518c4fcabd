"""Exercises of notebook 01, poison messages."""

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake
from lessons_lib.queues.conventions import Rule
from lessons_lib.queues.counters import run_consumer

__all__ = ["collateral", "isolates", "tries_allowed"]

tries_allowed = Exercise(
    name="tries allowed",
    right={"ours": 7, "SQS": 8, "RabbitMQ": 9}.__getitem__,
    cases=[("ours",), ("SQS",), ("RabbitMQ",)],
    mistakes=[
        Mistake(
            lambda queue: 8,
            "the same number means something else in each of the three. Where is it compared?",
        ),
        Mistake(
            {"ours": 8, "SQS": 8, "RabbitMQ": 9}.__getitem__,
            "in ours the delivery that reaches the threshold does no work. Count the work, not the deliveries.",
        ),
        Mistake(
            {"ours": 7, "SQS": 7, "RabbitMQ": 8}.__getitem__,
            "a count that must *exceed* the number may still be equal to it. Look at SQS once more.",
        ),
        Mistake(
            {"ours": 8, "SQS": 9, "RabbitMQ": 9}.__getitem__,
            "you counted deliveries and receives. How often is the message really worked on?",
        ),
        Mistake(
            {"ours": 7, "SQS": 8, "RabbitMQ": 8}.__getitem__,
            "RabbitMQ counts when a message comes back. What does the counter say during the first work?",
        ),
    ],
    praise="A threshold belongs to its convention. Write both down together.",
)


def _isolates(count: int, threshold: int) -> bool:
    return Rule(threshold).isolates_at("before work", count)


isolates = Exercise(
    name="isolate in time",
    right=_isolates,
    cases=[(1, 3), (2, 3), (3, 3), (4, 3), (7, 3), (1, 1), (2, 1)],
    mistakes=[
        Mistake(
            lambda count, threshold: count == threshold,
            "counts can jump: a message held in a buffer may come back at 4. What happens to it then?",
        ),
        Mistake(
            lambda count, threshold: count > threshold,
            "that is the SQS convention: one more try than ours. Here the count that reaches the threshold isolates.",
        ),
        Mistake(
            lambda count, threshold: count >= threshold - 1,
            "you isolate one delivery too early. A threshold of 3 allows two tries.",
        ),
        Mistake(
            lambda count, threshold: count < threshold,
            "that is the question the other way round: it is true for messages that may be worked on.",
        ),
    ],
    praise="With >= a count that jumped past the threshold is still caught.",
)


def _collateral(messages: int, deadly: int, prefetch: int) -> int:
    return len(run_consumer(messages, {deadly}, prefetch=prefetch).innocents)


collateral = Exercise(
    name="collateral damage",
    right=_collateral,
    cases=[(5, 3, 1), (5, 3, 2), (10, 3, 4), (5, 3, 10), (8, 8, 5), (20, 1, 20)],
    mistakes=[
        Mistake(
            lambda messages, deadly, prefetch: prefetch - 1,
            "near the end of the queue there are not enough messages left to fill the buffer.",
        ),
        Mistake(
            lambda messages, deadly, prefetch: min(prefetch, messages - deadly),
            "the poison message takes one place in the buffer itself.",
        ),
        Mistake(
            lambda messages, deadly, prefetch: messages - deadly,
            "only messages that were *held* when the process died come back with a higher count.",
        ),
        Mistake(
            lambda messages, deadly, prefetch: min(prefetch - 1, messages - 1),
            "messages before the poison one were acknowledged in time. Who is behind it?",
        ),
        Mistake(
            lambda messages, deadly, prefetch: min(prefetch, messages - deadly + 1),
            "you counted the poison message itself. It is no innocent.",
        ),
    ],
    praise="Whoever shares the buffer with the poison message shares its counter, and its end.",
)
