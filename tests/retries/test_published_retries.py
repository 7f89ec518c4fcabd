"""The published figures of schedules and jitter, from the code that computes them."""

import json
from pathlib import Path

import pytest

from lessons_lib.retries.bursts import retry_burst
from lessons_lib.retries.jitter import DecorrelatedJitter, FullJitter, NoJitter
from lessons_lib.retries.schedules import Exponential, Fixed, Immediate
from lessons_lib.retries.stream import LessonStream
from lessons_lib.retries.time_budget import attempts_within

PUBLISHED = json.loads((Path(__file__).parents[1] / "published.json").read_text("utf-8"))
S, J = PUBLISHED["schedules"], PUBLISHED["jitter"]
SETUP = S["setup"]
SCHEDULES = {
    "immediate": Immediate(),
    "fixed": Fixed(SETUP["fixed_ms"]),
    "exponential": Exponential(SETUP["base_ms"]),
    "capped": Exponential(SETUP["base_ms"], cap_ms=SETUP["cap_ms"]),
}
JITTERS = {"none": NoJitter(), "full": FullJitter(), "decorrelated": DecorrelatedJitter()}


@pytest.mark.parametrize("name", SCHEDULES)
def test_waits_and_totals(name):
    waits = SCHEDULES[name].waits(SETUP["attempts"])
    assert waits.tolist() == S["waits_ms"][name]
    assert waits.sum() == S["total_ms"][name]


@pytest.mark.parametrize("name", SCHEDULES)
def test_attempts_within_the_budget(name):
    within = attempts_within(SCHEDULES[name], SETUP["budget_ms"])
    assert {"attempts": within.attempts, "elapsed_ms": within.elapsed_ms} == S["within_budget"][
        name
    ]


@pytest.mark.parametrize("name", JITTERS)
def test_bursts(name):
    setup = J["setup"]
    burst = retry_burst(
        Exponential(setup["base_ms"], cap_ms=setup["cap_ms"]),
        JITTERS[name],
        setup["consumers"],
        setup["attempts"],
        LessonStream(setup["seed"]),
        setup["bucket_ms"],
    )
    got = {key: getattr(burst, key) for key in J[name]}
    assert got == J[name]
