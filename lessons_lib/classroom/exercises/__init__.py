"""Exercises, one file a notebook."""

from lessons_lib.classroom.exercises import backoff, budgets, jitter, poison
from lessons_lib.classroom.exercises.exercise import Exercise, Mistake

__all__ = ["Exercise", "Mistake", "backoff", "budgets", "jitter", "poison"]
