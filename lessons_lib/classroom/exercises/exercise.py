"""An exercise: a function to write, checked by running it beside the right one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from IPython.display import Markdown

__all__ = ["Exercise", "Mistake"]

NOT_YET = (
    "Not yet: there is no answer. Replace the `...` and run the cell again. "
    "(A function must `return` its answer; printing it is not enough.)"
)


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people really give.

    Args:
        answer: the wrong function, or the wrong value, itself.
        look_at: what to look at again. It never gives the answer.
    """

    answer: Any
    look_at: str


class _Raised:
    """Stands for an error where a value was expected."""

    def __init__(self, error: Exception) -> None:
        self.words = f"{type(error).__name__}: {error}"


def _run(answer: Any, case: tuple[Any, ...]) -> Any:
    if not callable(answer):
        return answer
    try:
        return answer(*case)
    except Exception as error:  # a check never raises: the student sees words, not a traceback
        return _Raised(error)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, _Raised) or isinstance(right, _Raised):
        return isinstance(left, _Raised) and isinstance(right, _Raised)
    try:
        if isinstance(right, str) or right is None or isinstance(right, bool):
            return type(left) is type(right) and left == right
        if isinstance(left, str) or left is None or isinstance(left, bool | np.bool_):
            return False
        left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
        return left.shape == right.shape and bool(np.allclose(left, right, rtol=1e-9, atol=1e-9))
    except (TypeError, ValueError):
        return False


def _shown(value: Any) -> str:
    text = repr(value.tolist() if isinstance(value, np.ndarray) else value)
    return text if len(text) <= 80 else text[:77] + "…"


@dataclass(frozen=True)
class Exercise:
    """A question with a right answer, and the wrong ones that deserve a word.

    Args:
        name: short, unique in the course.
        right: the right function, or the right value.
        cases: arguments the functions are tried with; one empty tuple for a value.
        mistakes: wrong answers with what to look at; the first that matches speaks.
        praise: one sentence on what the right answer shows.
        starter: what the notebook's starter cell gives before anything is written.
    """

    name: str
    right: Any
    cases: Sequence[tuple[Any, ...]]
    mistakes: Sequence[Mistake]
    praise: str
    starter: Any = None

    def verdict(self, answer: Any) -> tuple[str, str]:
        """Return ("right" | "not yet" | "look again", words). It never raises."""
        got = [_run(answer, case) for case in self.cases]
        if all(value is None or value is Ellipsis for value in got):
            return "not yet", NOT_YET
        if callable(self.right) and not callable(answer):
            return "look again", "This exercise asks for a function; what you gave is a value."
        if callable(answer) and not callable(self.right):
            return "look again", "This exercise asks for a value; what you gave is a function."
        wanted = [_run(self.right, case) for case in self.cases]
        if all(_same(a, b) for a, b in zip(got, wanted, strict=True)):
            return "right", f"Right. {self.praise}"
        for mistake in self.mistakes:
            theirs = [_run(mistake.answer, case) for case in self.cases]
            if all(_same(a, b) for a, b in zip(got, theirs, strict=True)):
                return "look again", f"Look again: {mistake.look_at}"
        pairs = zip(self.cases, got, wanted, strict=True)
        case, value = next((c, g) for c, g, w in pairs if not _same(g, w))
        called = ", ".join(_shown(part) for part in case)
        if isinstance(value, _Raised):
            return "look again", f"Look again: called with ({called}) it raises {value.words}"
        if isinstance(value, float) and math.isnan(value):
            return "look again", f"Look again: called with ({called}) it gives NaN, not a number."
        if not case:
            return "look again", f"Look again: {_shown(value)} is not it. The hints may help."
        return (
            "look again",
            f"Look again: called with ({called}) it gives {_shown(value)}, and that is not right. "
            "Work that case out by hand.",
        )

    def check(self, answer: Any) -> Markdown:
        """Say whether the answer is right, and if not, what to look at.

        Args:
            answer: the student's function or value.
        """
        status, words = self.verdict(answer)
        mark = {"right": "✓", "not yet": "…", "look again": "✗"}[status]
        return Markdown(f"{mark} {words}")
