"""Predict before you run: the guess is kept and set beside the result, not graded."""

from IPython.display import Markdown

__all__ = ["Prediction"]


class Prediction:
    """Keep a guess until the run has spoken.

    Args:
        question: what is to be predicted, one sentence.
        guess: the student's number, or None while there is none.
    """

    def __init__(self, question: str, guess: float | None = None) -> None:
        self.question, self.guess = question, guess

    def _repr_markdown_(self) -> str:
        if self.guess is None:
            return f"**{self.question}** No guess yet: put a number in place of `None` and run the cell again."
        return f"**{self.question}** Your guess: {self.guess}."

    def __repr__(self) -> str:
        return self._repr_markdown_().replace("**", "")

    def compare(self, result: float) -> Markdown:
        """Set the guess beside the result of the run."""
        if self.guess is None:
            return Markdown(f"You made no guess. The run gives **{result}**.")
        if not isinstance(self.guess, int | float) or isinstance(self.guess, bool):
            return Markdown(
                f"Your guess, {self.guess!r}, is not a number. The run gives **{result}**."
            )
        if self.guess == result:
            return Markdown(f"You said {self.guess}, and the run gives **{result}**.")
        ratio = ""
        if result and self.guess / result >= 2:
            ratio = f", {self.guess / result:.3g} times what happened"
        elif self.guess > 0 and result / self.guess >= 2:
            ratio = f", while {result / self.guess:.3g} times as many happened"
        return Markdown(
            f"You said {self.guess}{ratio}; the run gives **{result}**. "
            "Before you read on: what did you expect to happen that did not?"
        )
