"""The labs of the course: each function builds one, ready to show."""

from lessons_lib.classroom.labs.backoff import schedule_lab
from lessons_lib.classroom.labs.breaker import breaker_lab
from lessons_lib.classroom.labs.breaker_steps import breaker_steps_lab
from lessons_lib.classroom.labs.budgets import budget_lab
from lessons_lib.classroom.labs.first import first_lab
from lessons_lib.classroom.labs.game import game_lab
from lessons_lib.classroom.labs.jitter import jitter_lab
from lessons_lib.classroom.labs.outages import outage_lab
from lessons_lib.classroom.labs.poison import poison_lab, replay_lab
from lessons_lib.classroom.labs.probes import probes_lab
from lessons_lib.classroom.labs.restarts import restarts_lab
from lessons_lib.classroom.labs.shutdown import shutdown_lab
from lessons_lib.classroom.labs.storm import storm_lab
from lessons_lib.classroom.labs.visibility import visibility_lab

__all__ = [
    "breaker_lab",
    "breaker_steps_lab",
    "budget_lab",
    "first_lab",
    "game_lab",
    "jitter_lab",
    "outage_lab",
    "poison_lab",
    "probes_lab",
    "replay_lab",
    "restarts_lab",
    "schedule_lab",
    "shutdown_lab",
    "storm_lab",
    "visibility_lab",
]
