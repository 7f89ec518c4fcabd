"""Exercises, one file a notebook."""

from lessons_lib.classroom.exercises import (
    backoff,
    breaker,
    budgets,
    jitter,
    poison,
    probes,
    restarts,
    shutdown,
    storm,
)
from lessons_lib.classroom.exercises.exercise import Exercise, Mistake

__all__ = [
    "Exercise",
    "Mistake",
    "backoff",
    "breaker",
    "budgets",
    "jitter",
    "poison",
    "probes",
    "restarts",
    "shutdown",
    "storm",
]
