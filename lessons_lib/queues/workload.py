"""Which messages there are, and what each does to the consumer that takes it."""

from collections.abc import Collection
from dataclasses import dataclass

from lessons_lib.errors import whole_number

__all__ = ["Workload"]


@dataclass(frozen=True)
class Workload:
    """Messages 1 … n, and the few among them that do harm.

    Args:
        messages: how many, called 1, 2, 3, …
        deadly: well-formed bodies that end the process.
        failing: bodies that raise an error, each time.
        malformed: bodies that do not parse.

    Raises:
        TypeError: a set is a single number or names something that is no number.
        ValueError: a set names a message that does not exist or that another set names too.
    """

    messages: int
    deadly: Collection[int] = frozenset()
    failing: Collection[int] = frozenset()
    malformed: Collection[int] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "messages", whole_number("messages", self.messages, low=0))
        owner: dict[int, str] = {}
        for name in ("deadly", "failing", "malformed"):
            value = getattr(self, name)
            if isinstance(value, str) or not isinstance(value, Collection):
                raise TypeError(f"{name} must be a set of message numbers, got {value!r}")
            chosen = frozenset(whole_number(f"a message in {name}", one) for one in value)
            for one in sorted(chosen):
                if not 1 <= one <= self.messages:
                    raise ValueError(
                        f"{name} names message {one}, but the messages are 1 to {self.messages}"
                    )
                if owner.setdefault(one, name) != name:
                    raise ValueError(f"message {one} is named by both {owner[one]} and {name}")
            object.__setattr__(self, name, chosen)

    @property
    def ids(self) -> range:
        """The messages, in the order they were sent."""
        return range(1, self.messages + 1)

    def harm(self, message: int) -> str:
        """Return "deadly", "failing", "malformed" or "none"."""
        for name in ("deadly", "failing", "malformed"):
            if message in getattr(self, name):
                return name
        return "none"
