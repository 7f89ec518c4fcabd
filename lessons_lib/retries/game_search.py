"""The best known choice for an incident: found by trying, setting by setting, nothing stored."""

from dataclasses import fields
from typing import Any

from lessons_lib.errors import whole_number
from lessons_lib.retries.incident import Incident
from lessons_lib.retries.policy_game import CHOICES, Move, Outcome, play

__all__ = ["FIRST_TRIES", "best_known"]

FIRST_TRIES = (
    Move(attempts=1),
    Move(token_percent=10),
    Move(base_ms=2000, cap_ms=30_000, attempts=8),
    Move(base_ms=5000, cap_ms=30_000, attempts=20, breaker_failures=5, breaker_pause_ms=1000),
)
"""Where the search begins: give up, a token bucket, patience, a breaker."""


def best_known(incident: Incident, rng: Any, evaluations: int = 150) -> Outcome:
    """Search for a cheap choice of settings in this incident.

    Begins with `FIRST_TRIES`, then improves the best one setting at a time, in a random
    order, until no single change helps; then begins again from a random choice. So it is the
    best *known*, not the best there is, and more evaluations may find a better one.

    Args:
        incident: the incident.
        rng: random numbers with `.random(size)`: the order of the changes, the later starts.
        evaluations: most choices tried; each takes about 20 ms.
    """
    evaluations = whole_number("evaluations", evaluations, low=len(FIRST_TRIES))
    tried: dict[Move, Outcome] = {}

    def cost(move: Move) -> float:
        if move not in tried:
            if len(tried) >= evaluations:
                return float("inf")
            tried[move] = play(incident, move)
        return tried[move].cost

    here = min(FIRST_TRIES, key=cost)
    while len(tried) < evaluations:
        before = len(tried)
        here = _improved(here, cost, rng)
        here = Move(**{field.name: _pick(CHOICES[field.name], rng) for field in fields(Move)})
        if len(tried) == before and cost(here) == float("inf"):
            break
    return min(tried.values(), key=lambda outcome: outcome.cost)


def _improved(move: Move, cost: Any, rng: Any) -> Move:
    improved = True
    while improved:
        improved = False
        for name in sorted(CHOICES, key=lambda _: rng.random()):
            best = min((move.with_(**{name: stop}) for stop in CHOICES[name]), key=cost)
            if cost(best) < cost(move):
                move, improved = best, True
    return move


def _pick(stops: tuple, rng: Any) -> Any:
    return stops[int(rng.random() * len(stops))]
