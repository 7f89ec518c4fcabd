"""The storm lab: a limited service, an outage, and clients that try again."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lessons_lib.classroom.charts.storm import StormChart
from lessons_lib.classroom.controls import Try, choice, slider
from lessons_lib.classroom.lab import Lab
from lessons_lib.classroom.labs.jitter import JITTERS
from lessons_lib.retries.arrivals import ClosedArrivals, OpenArrivals
from lessons_lib.retries.budgets import Budget
from lessons_lib.retries.policy import Policy
from lessons_lib.retries.schedules import Exponential
from lessons_lib.retries.service import Service, run_service
from lessons_lib.retries.service_run import ServiceRun
from lessons_lib.retries.tokens import TokenBucket

__all__ = ["StormView", "storm_lab", "storm_run"]

BUCKET_MS = 200
BEFORE_MS = 5000
UNTIL_MS = 60_000
LAST_MS = 10_000


@dataclass(frozen=True)
class StormView:
    """A run of the limited service with what a picture needs besides.

    Args:
        run: what happened per bucket.
        capacity_per_second: requests the service can do.
        trigger_ms: from when to when the trigger lasted.
    """

    run: ServiceRun
    capacity_per_second: int
    trigger_ms: tuple[int, int]

    @property
    def recovered_ms(self) -> int | None:
        """How long after the trigger calls succeed as fast as they come, or None for never."""
        return self.run.recovered_ms(self.trigger_ms[1])

    def per_second(self, name: str, from_ms: int, to_ms: int) -> float:
        """Return the mean of one column a second, between two moments; 0 if there is nothing."""
        part = self.run.column(name)[from_ms // self.run.bucket_ms : to_ms // self.run.bucket_ms]
        return float(part.mean() * 1000 / self.run.bucket_ms) if len(part) else 0.0


def storm_run(
    per_second: int = 280,
    capacity: int = 300,
    outage_s: int = 10,
    retries: int = 3,
    ratio_percent: int | None = None,
    base_ms: int = 500,
    jitter: str = "full",
    closed: bool = False,
    seed: int = 1,
) -> StormView:
    """Run a minute: 5 s of peace, an outage, and what comes after it. Clients wait 1 s.

    Args:
        per_second: new calls a second; of a closed population, the clients, each calling
            again 800 ms after its last call ended.
        capacity: requests a second the service can do, a multiple of 5.
        outage_s: length of the outage in seconds.
        retries: most retries of a call.
        ratio_percent: a token bucket shared by all: retries allowed per 100 calls; None: none.
        base_ms: first wait of the doubling schedule, in milliseconds; its cap is 30 s.
        jitter: kind of jitter.
        closed: whether clients wait for an answer before they call again.
        seed: of the random waits.
    """
    trigger_ms = (BEFORE_MS, BEFORE_MS + 1000 * outage_s)
    service = Service(capacity * BUCKET_MS // 1000, BUCKET_MS, outage_ms=trigger_ms)
    arrivals = ClosedArrivals(per_second, 800) if closed else OpenArrivals(per_second)
    tokens = None
    if ratio_percent is not None:
        tokens = TokenBucket(ratio=ratio_percent / 100, cap=100)
    policy = Policy(
        Exponential(base_ms, 2, 30_000), JITTERS[jitter], Budget.of_retries(retries), tokens
    )
    rng = np.random.default_rng(seed)
    return StormView(
        run_service(service, arrivals, policy, rng, until_ms=UNTIL_MS), capacity, trigger_ms
    )


def _say(view: StormView) -> str:
    new, sent, good = (
        view.per_second(name, UNTIL_MS - LAST_MS, UNTIL_MS) for name in ("new", "sent", "succeeded")
    )
    words = (
        f"In the last 10 s {new:.0f} new calls a second make {sent:.0f} requests; the service can "
        f"do {view.capacity_per_second}, and {good:.0f} calls succeed."
    )
    if view.trigger_ms[0] == view.trigger_ms[1]:
        return words + " There was no outage."
    if view.recovered_ms is None:
        gone = (UNTIL_MS - view.trigger_ms[1]) / 1000
        return words + f" The outage has been over for {gone:.0f} s, and the service is not back."
    if view.recovered_ms == 0:
        return words + " It was back as soon as the outage was over."
    return words + f" It was back {view.recovered_ms / 1000:.1f} s after the outage."


def _table(view: StormView) -> pd.DataFrame:
    begin, end = view.trigger_ms
    stretches = {
        "before": (0, begin),
        "outage": (begin, end),
        "10 s after it": (end, end + LAST_MS),
        "last 10 s": (UNTIL_MS - LAST_MS, UNTIL_MS),
    }
    columns = {
        "new": "new",
        "requests": "sent",
        "succeed": "succeeded",
        "worked in vain": "wasted",
        "given up": "gave_up",
    }
    rows = {
        stretch: {word: round(view.per_second(name, *times)) for word, name in columns.items()}
        | {"queue at its end": int(view.run.column("queue")[times[1] // BUCKET_MS - 1])}
        for stretch, times in stretches.items()
        if times[1] > times[0]
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("a second")


def storm_lab() -> Lab:
    """Build the storm lab of notebook 06."""
    return Lab(
        "A service with a limit, and clients that try again",
        [
            slider("per_second", "New calls", range(20, 401, 20), 280, "a second"),
            slider("capacity", "Capacity", range(100, 501, 25), 300, "a second"),
            slider("outage_s", "Outage", range(0, 21), 10, "s"),
            slider("retries", "Retries", range(0, 7), 3),
            slider("ratio_percent", "Retry budget", [None, 0, 2, 5, 10, 20, 50, 100, 200], None, "per 100 calls"),
            slider("base_ms", "Base", [0, 100, 200, 500, 1000, 2000, 5000, 10000], 500, "ms"),
            choice("jitter", "Jitter", {name: name for name in JITTERS}, "full"),
            choice("closed", "Arrivals", {"open": False, "closed": True}, False),
        ],
        storm_run,
        StormChart,
        _say,
        table=_table,
        tries=[
            Try("Budget of 10 per 100", {"ratio_percent": 10}, "How long is the service down after the outage? What did the budget do during it?"),
            Try("Quarter load", {"per_second": 60, "retries": 4}, "Five attempts of 60 calls are 300 requests, just the capacity: the storm cannot live."),
            Try("Long backoff", {"base_ms": 10000}, "The storm comes later. Does the long wait prevent it?"),
            Try("Closed arrivals", {"closed": True}, "The same clients, but each waits for its answer. Why can they not keep the service down?"),
        ],
        height_px=360,
    )  # fmt: skip
