"""The jitter lab: a fleet that failed together, and what randomness does to its retries."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lessons_lib.classroom.charts.burst import BurstChart
from lessons_lib.classroom.controls import Try, choice, slider, steps
from lessons_lib.classroom.lab import Lab
from lessons_lib.retries.bursts import Burst, retry_burst
from lessons_lib.retries.jitter import DecorrelatedJitter, EqualJitter, FullJitter, Jitter, NoJitter
from lessons_lib.retries.schedules import Exponential
from lessons_lib.retries.theory import expected_profile

__all__ = ["JITTERS", "JitterComparison", "compare_jitters", "jitter_lab"]

CAPACITIES = [None, 1, 2, 5, 10, 20, 30, 40, 60, 80, 100, 200, 500, 1000, 2000, 5000, 10000]
JITTERS: dict[str, Jitter] = {
    "none": NoJitter(),
    "full": FullJitter(),
    "equal": EqualJitter(),
    "decorrelated": DecorrelatedJitter(),
}


@dataclass(frozen=True)
class JitterComparison:
    """One fleet under every kind of jitter.

    Args:
        kind: the kind in the foreground: "none", "full", "equal" or "decorrelated".
        bursts: name → `Burst`.
        expected: expected retries per bucket of `kind`, or None where no closed form is known.
        capacity: retries per bucket that the service can take, or None.
    """

    kind: str
    bursts: dict[str, Burst]
    expected: np.ndarray | None
    capacity: int | None


def compare_jitters(
    kind: str = "full",
    consumers: int = 200,
    attempts: int = 4,
    base_ms: int = 500,
    cap_ms: int = 30000,
    bucket_ms: int = 100,
    seed: int = 7,
    capacity: int | None = None,
) -> JitterComparison:
    """Let one fleet fail together, once under each kind of jitter, with the same seed.

    Args:
        kind: the kind in the foreground.
        consumers: size of the fleet.
        attempts: retries of each consumer.
        base_ms: first wait of the exponential schedule, in milliseconds; the factor is 2.
        cap_ms: its longest wait, in milliseconds.
        bucket_ms: width of a bucket in milliseconds.
        seed: of a fresh NumPy generator for each kind.
        capacity: retries per bucket that the service can take, or None.
    """
    schedule = Exponential(base_ms, 2, cap_ms)
    bursts = {
        name: retry_burst(
            schedule, jitter, consumers, attempts, np.random.default_rng(seed), bucket_ms
        )
        for name, jitter in JITTERS.items()
    }
    expected = None
    if kind != "decorrelated":
        expected = consumers * expected_profile(schedule, JITTERS[kind], attempts, bucket_ms)
    return JitterComparison(kind, bursts, expected, capacity)


def _last_s(burst: Burst) -> float:
    return (burst.last_bucket + 1) * burst.bucket_ms / 1000


def _say(result: JitterComparison) -> str:
    burst = result.bursts[result.kind]
    kind = "No" if result.kind == "none" else result.kind.capitalize()
    words = (
        f"{kind} jitter: {burst.requests} retries, at most {burst.peak} in "
        f"{burst.bucket_ms} ms, the last one within {_last_s(burst):g} s."
    )
    if result.capacity is not None:
        above = int((burst.counts > result.capacity).sum())
        words += f" {above} buckets are above the capacity of {result.capacity}."
    return words


def _table(result: JitterComparison) -> pd.DataFrame:
    rows = {
        name: {
            "busiest bucket": burst.peak,
            "filled buckets": burst.filled_buckets,
            "last bucket": burst.last_bucket,
            "last retry, mean": f"{burst.mean_last_ms / 1000:.2f} s",
            "last retry, worst": f"{_last_s(burst):g} s",
        }
        for name, burst in result.bursts.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("jitter")


def jitter_lab() -> Lab:
    """Build the lab of notebook 03."""
    return Lab(
        "A fleet that failed together",
        [
            choice("kind", "Jitter", {name: name for name in JITTERS}, "full"),
            slider("consumers", "Consumers", steps(1, 10000), 200),
            slider("attempts", "Retries each", range(1, 15), 4),
            slider("base_ms", "Base", [10, 50, 100, 200, 500, 1000, 2000, 5000], 500, "ms"),
            slider("cap_ms", "Cap", [500, 1000, 2000, 5000, 10000, 20000, 30000, 60000], 30000, "ms"),
            slider("bucket_ms", "Bucket", [10, 20, 50, 100, 200, 500, 1000], 100, "ms"),
            slider("capacity", "Capacity", CAPACITIES, None, "per bucket"),
            slider("seed", "Seed", range(0, 21), 7),
        ],
        compare_jitters,
        BurstChart,
        _say,
        table=_table,
        tries=[
            Try("No jitter", {"kind": "none"}, "Every wave is one bucket, as high as the fleet is large."),
            Try("Low cap", {"kind": "decorrelated", "attempts": 14, "cap_ms": 2000, "consumers": 5000},
                "Decorrelated draws are cut at the cap: many consumers wait exactly 2 s, and waves return."),
            Try("Capacity 40", {"kind": "full", "capacity": 40}, "Which kind stays below the line, and how late does it get?"),
        ],
        height_px=340,
    )  # fmt: skip
