"""The policy game as a lab: an incident by its number, all settings, the score and the reason."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from lessons_lib.classroom.charts.game import GameChart
from lessons_lib.classroom.controls import Try, choice, slider, switch
from lessons_lib.classroom.lab import Lab
from lessons_lib.retries.game_reasons import differences, why
from lessons_lib.retries.game_search import best_known
from lessons_lib.retries.incident import BEFORE_MS, Incident, random_incident
from lessons_lib.retries.policy_game import CHOICES, Move, Outcome, play
from lessons_lib.retries.service_run import ServiceRun

__all__ = ["GameView", "game_lab", "play_game"]

INCIDENTS = range(1, 13)
NAMES = {
    "schedule": "Schedule",
    "base_ms": "Base",
    "cap_ms": "Cap",
    "jitter": "Jitter",
    "attempts": "Attempts",
    "time_budget_ms": "Time budget",
    "token_percent": "Retry budget",
    "breaker_failures": "Breaker after",
    "breaker_pause_ms": "Breaker pause",
}


@dataclass(frozen=True)
class GameView:
    """A choice in an incident, beside the best known choice and no retries at all.

    Args:
        incident: the incident.
        outcome: what the choice came to.
        best: the best known choice.
        without: a single attempt of each message.
        show_best: whether the picture and the table tell what the best known choice is.
    """

    incident: Incident
    outcome: Outcome
    best: Outcome
    without: Outcome
    show_best: bool

    @property
    def run(self) -> ServiceRun:
        """The run in the picture."""
        return self.best.run if self.show_best else self.outcome.run

    @property
    def capacity_per_second(self) -> int:
        """Requests the service can do."""
        return self.incident.capacity_per_second

    @property
    def trigger_ms(self) -> tuple[int, int]:
        """From when to when the outage lasts."""
        return BEFORE_MS, self.incident.over_ms

    @property
    def score(self) -> int:
        """100: as good as the best known choice; 0: no better than no retries."""
        return self.outcome.score(self.best, self.without)


@lru_cache(maxsize=64)
def _marks(number: int) -> tuple[Outcome, Outcome]:
    """Return the best known choice of an incident and the one without retries: seconds, once."""
    incident = random_incident(number)
    best = best_known(incident, np.random.default_rng(number))
    return best, play(incident, Move(attempts=1))


def play_game(number: int = 2, show_best: bool = False, **settings: int | str | None) -> GameView:
    """Play one choice in an incident. The first choice in an incident takes some seconds.

    Args:
        number: the incident's number, which is its seed.
        show_best: whether to show the best known choice.
        settings: the choice, by the names of `policy_game.Move`; None: not used.
    """
    incident = random_incident(number)
    move = Move(**{name: 0 if value is None else value for name, value in settings.items()})
    outcome = play(incident, move)
    return GameView(incident, outcome, *_marks(number), show_best)


def _say(view: GameView) -> str:
    incident = view.incident
    collapse = f", collapse at {incident.collapse_at} waiting" if incident.collapse_at else ""
    return (
        f"Incident: {incident.outage_ms / 1000:g} s outage, capacity {incident.capacity_per_second} "
        f"and {incident.arrivals_per_second:g} new messages a second{collapse}. "
        f"Score {view.score} of 100. {why(incident, view.outcome, view.best)}"
    )


def _row(outcome: Outcome) -> dict[str, object]:
    never = outcome.recovery_ms is None
    return {
        "recovered after": "never" if never else f"{outcome.recovery_ms / 1000:.1f} s",
        "wasted requests": outcome.wasted,
        "lost": outcome.lost,
        "late": outcome.late,
        "cost": round(outcome.cost),
    }


def _table(view: GameView) -> pd.DataFrame:
    rows = {
        "yours": _row(view.outcome),
        "best known": _row(view.best),
        "no retries": _row(view.without),
    }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("choice")
    if view.show_best:
        other = differences(view.outcome.move, view.best.move)
        words = "; ".join(
            f"{NAMES[name]} {value[1] or 'none'}{' ms' if name.endswith('_ms') else ''}"
            for name, value in other.items()
        )
        table["set differently"] = ["", words or "nothing", ""]
    return table


def _unused_first(stops: tuple[int, ...]) -> list[int | None]:
    return [None if stop == 0 else stop for stop in stops]


def game_lab() -> Lab:
    """Build the policy game that closes lesson 1."""
    start = Move()
    stops = CHOICES
    return Lab(
        "The policy game",
        [
            slider("number", "Incident", INCIDENTS, 2),
            choice("schedule", NAMES["schedule"], {name: name for name in stops["schedule"]}, start.schedule),
            choice("jitter", NAMES["jitter"], {name: name for name in stops["jitter"]}, start.jitter),
            slider("base_ms", NAMES["base_ms"], stops["base_ms"], start.base_ms, "ms"),
            slider("cap_ms", NAMES["cap_ms"], stops["cap_ms"], start.cap_ms, "ms"),
            slider("attempts", NAMES["attempts"], stops["attempts"], start.attempts),
            slider("time_budget_ms", NAMES["time_budget_ms"], stops["time_budget_ms"], start.time_budget_ms, "ms"),
            slider("token_percent", NAMES["token_percent"], _unused_first(stops["token_percent"]), None, "per 100"),
            slider("breaker_failures", NAMES["breaker_failures"], _unused_first(stops["breaker_failures"]), None, "failures"),
            slider("breaker_pause_ms", NAMES["breaker_pause_ms"], stops["breaker_pause_ms"], start.breaker_pause_ms, "ms"),
            switch("show_best", "Show the best"),
        ],
        play_game,
        GameChart,
        _say,
        table=_table,
        tries=[
            Try("No retries", {"attempts": 1}, "This is 0 points. What is it good at, and what does it cost?"),
            Try("Eager", {"attempts": 20, "base_ms": 100, "cap_ms": 2000, "jitter": "none"}, "Twenty quick attempts for every message. What does the bill consist of?"),
            Try("Patient, with a breaker", {"attempts": 20, "base_ms": 5000, "cap_ms": 30_000, "breaker_failures": 5, "breaker_pause_ms": 1000}, "Play the same choice in the other incidents. Where does it fail, and what is different there?"),
        ],
        height_px=380,
    )  # fmt: skip
