"""Why a choice in the policy game cost what it did, in sentences written from the run."""

from dataclasses import fields

from lessons_lib.retries.incident import Incident
from lessons_lib.retries.policy_game import Move, Outcome

__all__ = ["differences", "why"]


def differences(move: Move, other: Move) -> dict[str, tuple]:
    """Return the settings in which two choices differ: name → (mine, the other's)."""
    return {
        field.name: (getattr(move, field.name), getattr(other, field.name))
        for field in fields(Move)
        if getattr(move, field.name) != getattr(other, field.name)
    }


def why(incident: Incident, outcome: Outcome, best: Outcome) -> str:
    """Say what the choice cost most by, compared with the best known one, and what caused it.

    Args:
        incident: the incident both were played in.
        outcome: the choice in question.
        best: the best known.
    """
    if outcome.cost <= best.cost:
        return "This is as good as the best known choice, or better."
    gap = {part: outcome.bill[part] - best.bill[part] for part in best.bill}
    part = max(gap, key=gap.get)
    reason = {
        "recovery_s": _recovery,
        "wasted": _wasted,
        "lost": _lost,
        "late": _late,
    }[part](incident, outcome)
    return (
        f"{reason} The best known choice had {best.lost} lost, {best.late} late, {best.wasted} "
        f"wasted requests and recovered {_after(best)}."
    )


def _after(outcome: Outcome) -> str:
    if outcome.recovery_ms is None:
        return "not at all"
    if outcome.recovery_ms == 0:
        return "at once"
    return f"{outcome.recovery_ms / 1000:.1f} s after the outage"


def _cause(incident: Incident, outcome: Outcome) -> str:
    """Say what the service met once the outage was over."""
    if outcome.move.breaker_failures and outcome.run.total("refused") > outcome.wasted:
        return (
            f"the breaker refused {outcome.run.total('refused')} attempts, and each time it closed, "
            f"the messages that had waited came back together"
        )
    first = incident.over_ms // outcome.run.bucket_ms
    sent = outcome.run.column("sent")[first:]
    per_second = int(sent[: 10_000 // outcome.run.bucket_ms].sum()) // 10
    if per_second > incident.capacity_per_second:
        return (
            f"{per_second} requests a second came in the first ten seconds after the outage, and "
            f"the service can do {incident.capacity_per_second}"
        )
    busiest, width = int(sent.max()), outcome.run.bucket_ms
    return (
        f"in the busiest {width} ms after the outage {busiest} requests came at once, and the "
        f"service can do {incident.capacity_per_second * width // 1000}"
    )


def _recovery(incident: Incident, outcome: Outcome) -> str:
    if outcome.recovery_ms is None:
        return f"The service never recovered: {_cause(incident, outcome)}."
    return f"The service recovered only {_after(outcome)}: {_cause(incident, outcome)}."


def _wasted(incident: Incident, outcome: Outcome) -> str:
    per_message = outcome.wasted / max(1, outcome.run.total("new"))
    return (
        f"{outcome.wasted} requests were wasted, {per_message:.1f} per message: "
        f"{_cause(incident, outcome)}."
    )


def _lost(incident: Incident, outcome: Outcome) -> str:
    move = outcome.move
    lost = f"{outcome.lost} messages were lost"
    if move.attempts == 1:
        return f"{lost}: with a single attempt every message that met the outage is gone."
    # Without jitter: how long a message lasts that fails when the outage begins.
    waits_ms = int(move.policy().schedule.waits(move.attempts - 1).sum())
    lasts_ms = min(waits_ms, move.time_budget_ms)
    if lasts_ms < incident.outage_ms:
        bound = "attempts" if waits_ms <= move.time_budget_ms else "time budget"
        ended = f"after at most {lasts_ms / 1000:.1f} s" if lasts_ms else "at once"
        return (
            f"{lost}: their {bound} ended {ended}, and the outage took "
            f"{incident.outage_ms / 1000:.0f} s."
        )
    if move.token_percent:
        return (
            f"{lost}: the token bucket let only {move.token_percent} retries follow 100 messages, "
            f"and in the outage every message needs one."
        )
    if move.breaker_failures and outcome.run.total("refused") > outcome.wasted:
        return f"{lost}: attempts that the breaker refuses count too, and they ran out."
    return f"{lost}: their attempts ran out in the crowd: {_cause(incident, outcome)}."


def _late(incident: Incident, outcome: Outcome) -> str:
    late = f"{outcome.late} messages came more than 30 s late"
    if outcome.recovery_ms is None:
        return f"{late}, for the service never recovered: {_cause(incident, outcome)}."
    return (
        f"{late}: the waits had grown to {outcome.move.cap_ms / 1000:.0f} s when the outage ended."
    )
