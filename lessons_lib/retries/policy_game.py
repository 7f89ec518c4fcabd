"""The policy game: choose the retry settings for an incident and see what it costs, and why."""

from dataclasses import dataclass, fields, replace

from lessons_lib.errors import one_of, whole_number
from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.budgets import Budget
from lessons_lib.retries.incident import AFTER_MS, Incident, run_incident
from lessons_lib.retries.jitter import DecorrelatedJitter, EqualJitter, FullJitter, NoJitter
from lessons_lib.retries.policy import Policy
from lessons_lib.retries.schedules import Exponential, Fixed, Immediate
from lessons_lib.retries.service_run import ServiceRun
from lessons_lib.retries.tokens import TokenBucket
from lessons_lib.retries.trip import InARow

__all__ = ["CHOICES", "PRICES", "Move", "Outcome", "play"]

CHOICES: dict[str, tuple] = {
    "schedule": ("immediate", "fixed", "exponential"),
    "base_ms": (100, 200, 500, 1000, 2000, 5000),
    "cap_ms": (2000, 5000, 10_000, 30_000),
    "jitter": ("none", "full", "equal", "decorrelated"),
    "attempts": (1, 2, 3, 4, 6, 8, 12, 20),
    "time_budget_ms": (5000, 10_000, 20_000, 40_000, 80_000),
    "token_percent": (0, 10, 20, 50, 100),
    "breaker_failures": (0, 5, 20, 50),
    "breaker_pause_ms": (1000, 2000, 5000, 10_000),
}
"""Every setting of the game and its stops. 0 token_percent or breaker_failures: not used."""

PRICES = {"recovery_s": 5.0, "wasted": 0.02, "lost": 1.0, "late": 0.25}
"""What the game charges for a second of recovery, a wasted request, a lost, a late message."""

LATE_MS = 30_000
JITTERS = {
    "none": NoJitter(),
    "full": FullJitter(),
    "equal": EqualJitter(),
    "decorrelated": DecorrelatedJitter(),
}


@dataclass(frozen=True)
class Move:
    """One choice of all settings; each must be one of its stops in `CHOICES`."""

    schedule: str = "exponential"
    base_ms: int = 500
    cap_ms: int = 10_000
    jitter: str = "full"
    attempts: int = 4
    time_budget_ms: int = 80_000
    token_percent: int = 0
    breaker_failures: int = 0
    breaker_pause_ms: int = 5000

    def __post_init__(self) -> None:
        for field in fields(self):
            value, stops = getattr(self, field.name), CHOICES[field.name]
            if isinstance(stops[0], str):
                one_of(field.name, value, stops)
            elif whole_number(field.name, value) not in stops:
                raise ValueError(f"{field.name} must be one of {stops}, got {value!r}")

    def policy(self) -> Policy:
        """Return the settings as a policy."""
        schedule = {
            "immediate": Immediate(),
            "fixed": Fixed(self.base_ms),
            "exponential": Exponential(self.base_ms, 2, self.cap_ms),
        }[self.schedule]
        tokens = TokenBucket(ratio=self.token_percent / 100, cap=50) if self.token_percent else None
        breaker = None
        if self.breaker_failures:
            breaker = Breaker(InARow(self.breaker_failures), pause_ms=self.breaker_pause_ms)
        budget = Budget(self.attempts, self.time_budget_ms)
        return Policy(schedule, JITTERS[self.jitter], budget, tokens, breaker)

    def with_(self, **settings: int | str) -> "Move":
        """Return the same choice with some settings changed."""
        return replace(self, **settings)


@dataclass(frozen=True)
class Outcome:
    """What a choice came to in an incident.

    Args:
        move: the choice.
        recovery_ms: from the end of the outage until messages succeed as fast as they come
            and stay so, or None if that did not happen within the run.
        wasted: requests that failed, and requests worked on although nobody waited.
        lost: messages given up (dead-lettered).
        late: messages that succeeded more than 30 s after they came, or were still under way
            at the end.
        run: the whole run, for charts.
    """

    move: Move
    recovery_ms: int | None
    wasted: int
    lost: int
    late: int
    run: ServiceRun

    @property
    def bill(self) -> dict[str, float]:
        """What each part costs; a service that never recovered pays for the whole run."""
        recovery_ms = AFTER_MS if self.recovery_ms is None else self.recovery_ms
        return {
            "recovery_s": PRICES["recovery_s"] * recovery_ms / 1000,
            "wasted": PRICES["wasted"] * self.wasted,
            "lost": PRICES["lost"] * self.lost,
            "late": PRICES["late"] * self.late,
        }

    @property
    def cost(self) -> float:
        """The whole bill; less is better."""
        return sum(self.bill.values())

    def score(self, best: "Outcome", without: "Outcome") -> int:
        """Return 100 for as good as `best`, 0 for as good as no retries at all, -100 at worst.

        Args:
            best: the best known choice in the same incident.
            without: the choice `Move(attempts=1)` in the same incident. Scores below 0 say that
                the retries did more harm than good.
        """
        if without.cost <= best.cost:
            return 100 if self.cost <= best.cost else 0
        share = (without.cost - self.cost) / (without.cost - best.cost)
        return max(-100, round(100 * share))


def play(incident: Incident, move: Move) -> Outcome:
    """Run the incident under the choice and count what it costs."""
    run = run_incident(incident, move.policy())
    return Outcome(
        move,
        recovery_ms=run.recovered_ms(incident.over_ms),
        wasted=run.total("rejected") + run.total("wasted"),
        lost=run.total("gave_up"),
        late=run.late(LATE_MS) + run.in_progress,
        run=run,
    )
