"""Exercises: the starter is "not yet", each planted mistake has its own words, the solution is right."""

import re

import numpy as np
import pytest

from lessons_lib.classroom import exercises
from lessons_lib.classroom.exercises import Exercise, Mistake
from lessons_lib.classroom.expect import expect_error
from lessons_lib.classroom.predict import Prediction
from tools.notebooks import assemble, text_files

ROOMS = [getattr(exercises, n) for n in exercises.__all__ if n not in ("Exercise", "Mistake")]
ALL = [getattr(room, name) for room in ROOMS for name in room.__all__]


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.name)
def test_the_right_answer_is_right_and_no_mistake_is(exercise):
    assert exercise.verdict(exercise.right)[0] == "right"
    assert len(exercise.mistakes) >= 3
    spoken = [exercise.verdict(mistake.answer) for mistake in exercise.mistakes]
    assert {status for status, _ in spoken} == {"look again"}
    for mistake, (_, words) in zip(exercise.mistakes, spoken, strict=True):
        assert mistake.look_at in words
    assert len({words for _, words in spoken}) == len(spoken)


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.name)
@pytest.mark.parametrize(
    "odd",
    [None, ..., "text", -1, 1e300, float("nan"), [], {}, np.array([1, 2]), lambda: 1, lambda *a: 1 / 0,
     lambda *a: None, lambda *a: float("nan"), lambda *a: "text", lambda *a: [1, 2], object()],
)  # fmt: skip
def test_a_check_never_raises_and_never_takes_nonsense(exercise, odd):
    status, words = exercise.verdict(odd)
    assert status in ("not yet", "look again")
    assert words
    assert exercise.check(odd).data


def test_a_mistake_never_gives_the_answer_away():
    for exercise in ALL:
        if not callable(exercise.right):
            for mistake in exercise.mistakes:
                assert not re.search(rf"\b{exercise.right}\b", mistake.look_at), exercise.name


def _cells(text):
    return [c for c in assemble(text).cells if c.cell_type == "code" or "<summary>" in c.source]


@pytest.mark.parametrize("text", text_files(), ids=lambda path: path.stem)
def test_starter_and_solution_in_the_notebook(text):
    """Run the notebook's own starter and folded solution through its own check line."""
    cells = assemble(text).cells
    starters = [
        (n, c) for n, c in enumerate(cells) if c.cell_type == "code" and ".check(" in c.source
    ]
    if text.stem[:2] not in ("00",):
        assert 2 <= len(starters) <= 3, "two or three exercises in each lesson"
    setup = next((c.source for c in cells if c.cell_type == "code"), "")
    for number, starter in starters:
        folded = next(c.source for c in cells[number + 1 :] if c.cell_type == "markdown")
        assert len(re.findall(r"<summary>Hint \d</summary>", folded)) >= 3
        solution = re.search(
            r"<summary>Solution</summary>\s*```python\n(.*?)```", folded, re.DOTALL
        )
        assert solution, f"no folded solution after {starter.source!r}"
        check = starter.source.splitlines()[-1]
        scope: dict = {}
        exec(setup, scope)
        exec(starter.source, scope)
        assert eval(check, scope).data.startswith("…"), "the starter must be 'not yet'"
        exec(solution.group(1), scope)
        assert eval(check, scope).data.startswith("✓"), solution.group(1)


def test_unknown_wrong_answers_name_the_case_they_fail_on():
    double = Exercise("d", lambda x: 2 * x, [(1,), (3,)], [Mistake(lambda x: x, "look")], "yes")
    assert double.verdict(lambda x: 2 if x == 1 else 7)[1].startswith(
        "Look again: called with (3) it gives 7"
    )
    assert "raises ZeroDivisionError" in double.verdict(lambda x: x / 0)[1]
    assert "NaN" in double.verdict(lambda x: float("nan"))[1]
    assert "asks for a function" in double.verdict(2)[1]
    assert double.verdict(lambda x: np.int64(2 * x))[0] == "right"


def test_a_prediction_is_kept_compared_and_not_graded():
    assert "No guess yet" in repr(Prediction("How many?"))
    assert "made no guess" in Prediction("How many?").compare(9).data
    assert Prediction("How many?", 9).compare(9).data.startswith("You said 9")
    assert "10 times what happened" in Prediction("How many?", 90).compare(9).data
    assert "3 times as many" in Prediction("How many?", 3).compare(9).data
    assert "not a number" in Prediction("How many?", "nine").compare(9).data


def test_expect_error_fails_if_nothing_is_raised_or_the_words_differ():
    assert expect_error(lambda: int("x"), "invalid") == (
        "ValueError: invalid literal for int() with base 10: 'x'"
    )
    with pytest.raises(AssertionError, match="an error was expected here, but the call returned 3"):
        expect_error(lambda: 3)
    with pytest.raises(AssertionError, match="lacks"):
        expect_error(lambda: int("x"), "disk full")
