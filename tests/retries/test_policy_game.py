"""The policy game: honest, repeatable, quick enough for a slider, and it says why."""

import numpy as np
import pytest

from lessons_lib.retries.game_reasons import differences, why
from lessons_lib.retries.game_search import FIRST_TRIES, best_known
from lessons_lib.retries.incident import Incident, random_incident, run_incident
from lessons_lib.retries.policy_game import CHOICES, Move, play

INCIDENT = Incident()
PATIENT = Move(base_ms=5000, cap_ms=30_000, attempts=20, breaker_failures=5, breaker_pause_ms=1000)


def test_the_same_choice_costs_the_same():
    first, second = play(INCIDENT, Move()), play(INCIDENT, Move())
    assert first.bill == second.bill
    assert (first.run.counts == second.run.counts).all()


def test_messages_are_delivered_lost_or_under_way():
    for move in (Move(), PATIENT, Move(attempts=20, jitter="none"), Move(token_percent=10)):
        outcome = play(INCIDENT, move)
        run = outcome.run
        assert run.total("new") == run.total("succeeded") + outcome.lost + run.in_progress
        assert outcome.cost == pytest.approx(sum(outcome.bill.values()))


def test_eagerness_keeps_the_service_down_and_patience_does_not():
    assert play(INCIDENT, Move(attempts=20)).recovery_ms is None
    patient = play(INCIDENT, PATIENT)
    assert patient.recovery_ms < 5000
    assert patient.lost == 0


def test_the_best_known_choice_beats_the_first_tries():
    best = best_known(INCIDENT, np.random.default_rng(1), evaluations=60)
    assert best.cost <= min(play(INCIDENT, move).cost for move in FIRST_TRIES)
    again = best_known(INCIDENT, np.random.default_rng(1), evaluations=60)
    assert again.move == best.move


def test_scores_have_two_fixed_points():
    best, without = play(INCIDENT, PATIENT), play(INCIDENT, Move(attempts=1))
    assert best.score(best, without) == 100
    assert without.score(best, without) == 0
    assert play(INCIDENT, Move(schedule="immediate", attempts=20)).score(best, without) == -100


def test_the_reason_names_what_went_wrong():
    best = play(INCIDENT, PATIENT)

    def reason(**settings):
        return why(INCIDENT, play(INCIDENT, Move(**settings)), best)

    assert "single attempt" in reason(attempts=1)
    assert "attempts ended after at most 3.5 s, and the outage took 15 s" in reason()
    assert "time budget ended after at most 5.0 s" in reason(attempts=20, time_budget_ms=5000)
    assert "token bucket let only 10" in reason(token_percent=10, attempts=20)
    assert "never recovered" in reason(attempts=20)
    assert "breaker refused" in reason(attempts=20, jitter="none", breaker_failures=5)
    assert why(INCIDENT, best, best).startswith("This is as good")


@pytest.mark.parametrize("seed", range(12))
def test_every_random_incident_can_be_played_and_explained(seed):
    incident = random_incident(seed)
    assert incident == random_incident(seed)
    best, without = play(incident, PATIENT), play(incident, Move(attempts=1))
    for move in (Move(), Move(schedule="fixed", attempts=12), Move(schedule="immediate")):
        outcome = play(incident, move)
        assert outcome.score(best, without) >= -100
        sentence = why(incident, outcome, best)
        assert sentence.endswith((".", "better."))
        assert "nan" not in sentence


def test_differences_name_settings_and_both_values():
    assert differences(Move(), Move(attempts=20)) == {"attempts": (4, 20)}
    assert differences(Move(), Move()) == {}


def test_only_the_stops_of_the_game_can_be_chosen():
    for name, stops in CHOICES.items():
        for stop in stops:
            assert getattr(Move(**{name: stop}), name) == stop
    with pytest.raises(ValueError, match="attempts must be one of"):
        Move(attempts=5)
    with pytest.raises(ValueError, match="got 'sometimes'"):
        Move(jitter="sometimes")
    with pytest.raises(ValueError, match="must be below the capacity of 100, got 100"):
        Incident(arrivals_per_second=100)


def test_an_incident_is_a_run_of_the_service():
    run = run_incident(INCIDENT, Move().policy())
    frame = run.to_frame()
    down = frame[(frame["from_ms"] >= 3000) & (frame["from_ms"] < 18_000)]
    assert down["served"].sum() == 0
    assert down["sent"].sum() == down["rejected"].sum() > 0
