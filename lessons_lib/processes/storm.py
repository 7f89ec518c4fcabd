"""A restart storm: how often a process that always crashes is started, by its supervisor's delay."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from lessons_lib.errors import whole_number
from lessons_lib.events import Event, event_table
from lessons_lib.processes.restart_delay import RestartDelay
from lessons_lib.processes.supervisor import Supervisor

__all__ = ["POLICIES", "Storm", "run_storm", "simulate_storm", "storm_table"]

POLICIES = {
    "no delay": (RestartDelay(0), False),
    "fixed delay": (RestartDelay(1000, factor=1), False),
    "growing delay": (RestartDelay(100, reset_after_ms=10_000), False),
    "growing delay, fake success": (RestartDelay(100, reset_after_ms=10_000), True),
}
"""Names of four ways to restart: the delay, and whether the process feigns health."""


@dataclass(frozen=True, eq=False)
class Storm:
    """The starts of a process that always crashes.

    Args:
        starts_ms: when it was started, in milliseconds, in order.
        for_ms: how long it was watched.
        lives_ms: how long it lived each time, on the average.
    """

    starts_ms: tuple[int, ...] = field(repr=False)
    for_ms: int
    lives_ms: float

    @property
    def starts(self) -> int:
        """How many starts there were."""
        return len(self.starts_ms)

    @property
    def per_minute(self) -> float:
        """Starts a minute, on the average."""
        return self.starts * 60_000 / self.for_ms

    @property
    def per_second(self) -> np.ndarray:
        """Starts in each second, int64, one number for each second begun."""
        seconds = -(-self.for_ms // 1000)
        return np.bincount(np.array(self.starts_ms, np.int64) // 1000, minlength=seconds)

    @cached_property
    def events(self) -> pd.DataFrame:
        """The event table: "started" and "crashed"; the attempt is the number of the start."""
        log = [Event(at, "process", "started", None, n + 1) for n, at in enumerate(self.starts_ms)]
        log += [
            Event(at + round(self.lives_ms), "process", "crashed", None, n + 1)
            for n, at in enumerate(self.starts_ms)
            if at + self.lives_ms <= self.for_ms
        ]
        return event_table(sorted(log, key=lambda event: event.at_ms))


def simulate_storm(
    delay: RestartDelay | None = None,
    *,
    fake_success: bool = False,
    lives_ms: int = 50,
    for_ms: int = 60_000,
) -> Storm:
    """Compute when a process that always crashes is started.

    Args:
        delay: the supervisor's delay.
        fake_success: whether the process says that it is healthy before it crashes, to a
            supervisor that believes it: then each crash is the first one.
        lives_ms: from a start to the crash, at least 1. A bare Python needs some 20 ms to start.
        for_ms: how long to watch.
    """
    delay = delay or RestartDelay()
    lives_ms = whole_number("lives_ms", lives_ms, low=1)
    for_ms = whole_number("for_ms", for_ms, low=1)
    forgets = fake_success or lives_ms >= delay.reset_after_ms
    starts, at_ms, crashes = [], 0, 0
    while at_ms < for_ms:
        starts.append(at_ms)
        crashes = 1 if forgets else crashes + 1
        wait = delay.wait_ms(crashes)
        steady = forgets or (crashes > delay.at_once and wait == delay.wait_ms(crashes + 1))
        if steady:  # it will not change any more
            starts.extend(range(at_ms + lives_ms + wait, for_ms, lives_ms + wait))
            break
        at_ms += lives_ms + wait
    return Storm(tuple(starts), for_ms, lives_ms)


def run_storm(
    delay: RestartDelay | None = None,
    *,
    fake_success: bool = False,
    lives_ms: int = 0,
    for_ms: int = 3000,
) -> Storm:
    """Let the real supervisor deal with a real process that always crashes.

    Args:
        delay: the supervisor's delay.
        fake_success: whether the process says that it is healthy first, and is believed.
        lives_ms: how long it lives besides the time that a start takes.
        for_ms: how long to watch.
    """
    options = ["--lives-ms", whole_number("lives_ms", lives_ms, low=0)]
    supervisor = Supervisor(
        *("lessons_lib.processes.crash", *options, *(["--fake-success"] if fake_success else [])),
        module=True,
        delay=delay,
        believes="healthy" if fake_success else None,
        grace_ms=200,
    )
    log = supervisor.run(for_ms=whole_number("for_ms", for_ms, low=1)).log
    starts = tuple(event.at_ms for event in log if event.event == "started")
    ends = [event.at_ms for event in log if event.event.startswith("exit code")]
    lived = [end - start for start, end in zip(starts, ends, strict=True)]
    return Storm(starts, for_ms, sum(lived) / len(lived))


def storm_table(lives_ms: int = 50, for_ms: int = 60_000) -> pd.DataFrame:
    """Return one row a policy: starts in the first second, in the last one, and a minute."""
    rows = {}
    for name, (delay, fake) in POLICIES.items():
        storm = simulate_storm(delay, fake_success=fake, lives_ms=lives_ms, for_ms=for_ms)
        rows[name] = {
            "in the first second": int(storm.per_second[0]),
            "in the last second": int(storm.per_second[-1]),
            "a minute": round(storm.per_minute, 1),
        }
    return pd.DataFrame(rows).T.astype({"in the first second": int, "in the last second": int})
