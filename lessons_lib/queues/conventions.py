"""Where a delivery counter moves, where it is compared, and with which sign."""

from dataclasses import dataclass

from lessons_lib.errors import one_of, whole_number

__all__ = ["CONVENTIONS", "COUNT_ON", "Rule"]

COUNT_ON = ("delivery", "caught error")
CONVENTIONS = ("reaches", "exceeds", "RabbitMQ")


@dataclass(frozen=True)
class Rule:
    """When a message is dead-lettered: a threshold, and the convention it belongs to.

    The same number means something else in each convention:

    - "reaches": counted when it is handed out, compared by the consumer before the work, with
      count >= threshold. 3 lets it be worked on twice; its third delivery isolates it.
    - "exceeds" (Amazon SQS, maxReceiveCount): counted when it is handed out and compared by
      the queue at that moment, with count > threshold. 3 lets it be worked on three times;
      the fourth receive moves it, and no consumer sees it.
    - "RabbitMQ" (quorum queues up to 4.2, x-delivery-limit): counted when it comes back
      and compared by the queue at that moment, with count > threshold. A limit of 3 lets it be
      worked on four times. 4.3 no longer counts every kind of return.

    Comparing with >= or >, never with ==, isolates a message whose count has jumped past the
    threshold, as counts do when several messages are held at once.

    Args:
        threshold: the number to compare with, at least 1. In "reaches" a threshold of 1
            isolates every message at its first delivery: nothing is ever worked on. (RabbitMQ
            itself also knows a limit of 0.)
        count_on: "delivery": counted whatever becomes of the work. "caught error": counted
            only where an error handler runs, so never for a process that died.
        convention: one of the three above.

    Raises:
        ValueError: the threshold is below 1, or a word is unknown.
    """

    threshold: int = 3
    count_on: str = "delivery"
    convention: str = "reaches"

    def __post_init__(self) -> None:
        whole_number("threshold", self.threshold, low=1)
        one_of("count_on", self.count_on, COUNT_ON)
        one_of("convention", self.convention, CONVENTIONS)

    @property
    def counts_handing_out(self) -> bool:
        """Whether the counter moves when the queue hands a message out."""
        return self.count_on == "delivery" and self.convention != "RabbitMQ"

    @property
    def counts_error(self) -> bool:
        """Whether the counter moves in the consumer's error handler."""
        return self.count_on == "caught error" and self.convention != "RabbitMQ"

    def counts_return(self, caught: bool) -> bool:
        """Tell whether the counter moves when a message comes back, after a caught error or not."""
        return self.convention == "RabbitMQ" and (caught or self.count_on == "delivery")

    def isolates_at(self, moment: str, count: int) -> bool:
        """Tell whether a message with this count is dead-lettered at this moment.

        Args:
            moment: "handing out", "before work" or "return".
            count: its counter, already incremented if it moves at that moment.
        """
        compared = {"reaches": "before work", "exceeds": "handing out", "RabbitMQ": "return"}
        if moment != compared[self.convention]:
            return False
        if self.convention == "reaches":
            return count >= self.threshold
        return count > self.threshold

    def times_worked_on(self) -> int:
        """Return how often a message that never succeeds is worked on, if it is counted at all."""
        if self.convention == "reaches":
            return self.threshold - (self.count_on == "delivery")
        # SQS's comparison comes before the work. If only errors count, it sees them one work late.
        late = self.convention == "RabbitMQ" or self.count_on == "caught error"
        return self.threshold + late

    def times_delivered(self) -> int:
        """Return how often such a message is delivered before it is isolated.

        In "reaches" the last delivery is the one that isolates it without work.
        """
        return self.times_worked_on() + (self.convention == "reaches")
