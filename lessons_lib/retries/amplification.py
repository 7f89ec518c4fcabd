"""Retry amplification: each layer retries the whole of the layer below, so attempts multiply."""

from collections.abc import Callable

import pandas as pd

from lessons_lib.errors import real_number, whole_number
from lessons_lib.retries.closed_forms import load_of

__all__ = ["amplification", "amplification_table", "calls_at_the_bottom", "mean_amplification"]


def _attempts(attempts: int | None, retries: int | None) -> int:
    if (attempts is None) == (retries is None):
        raise ValueError(
            f"name either attempts or retries (attempts = retries + 1), got attempts={attempts!r} "
            f"and retries={retries!r}"
        )
    if retries is not None:
        return whole_number("retries", retries, low=0) + 1
    return whole_number("attempts", attempts, low=1)


def amplification(layers: int, *, attempts: int | None = None, retries: int | None = None) -> int:
    """Return how many calls reach the bottom for one call at the top, if all of them fail.

    "Three times" means two things: three *attempts* in five layers are 3⁵ = 243 calls (the
    Amazon Builders' Library), three *retries* in three layers are 4³ = 64 (Google's SRE book).

    Args:
        layers: callers above the failing service that retry, each on its own.
        attempts: attempts of each layer, the first included; or
        retries: retries of each layer, one fewer than its attempts.

    Raises:
        ValueError: both or neither of attempts and retries are given.
    """
    return _attempts(attempts, retries) ** whole_number("layers", layers, low=0)


def mean_amplification(layers: int, attempts: int, failure_rate: float) -> list[float]:
    """Return the mean calls into each level, for one call at the top, from the top to the bottom.

    A layer whose calls fail with probability x makes (1-xᵃ)/(1-x) of them and itself fails
    with probability xᵃ, so failures become rare above and calls many below. The list has
    `layers + 1` entries: the top's own single call, then the calls into each level down.

    Args:
        layers: callers above the failing service that retry.
        attempts: attempts of each layer, the first included.
        failure_rate: probability that a call to the bottom service fails, 0 to 1.
    """
    layers = whole_number("layers", layers, low=0)
    attempts = whole_number("attempts", attempts, low=1)
    fails = real_number("failure_rate", failure_rate, low=0, high=1)
    per_call = []  # calls a layer makes for each call it gets; the lowest layer first
    for _ in range(layers):
        per_call.append(load_of(fails, attempts))
        fails **= attempts
    calls = [1.0]
    for factor in reversed(per_call):
        calls.append(calls[-1] * factor)
    return calls


def calls_at_the_bottom(layers: int, attempts: int, works: Callable[[], bool]) -> tuple[bool, int]:
    """Make one call through real nested retry loops; return whether it succeeded, calls made.

    Args:
        layers: retry loops around the service.
        attempts: attempts of each loop.
        works: the service; called for every call that reaches it.
    """
    if layers == 0:
        return works(), 1
    calls = 0
    for _ in range(attempts):
        succeeded, made = calls_at_the_bottom(layers - 1, attempts, works)
        calls += made
        if succeeded:
            return True, calls
    return False, calls


def amplification_table(layers: int, ratio: float = 0.1) -> pd.DataFrame:
    """Return the worst case by number of layers, and the bound a retry budget puts on it.

    Columns: layers, three_attempts (3ⁿ), three_retries (4ⁿ), with_budget ((1 + ratio)ⁿ).

    Args:
        layers: the last row's number of layers.
        ratio: retries that each layer's budget allows per call.
    """
    ratio = real_number("ratio", ratio, low=0)
    rows = [
        (n, amplification(n, attempts=3), amplification(n, retries=3), (1 + ratio) ** n)
        for n in range(1, whole_number("layers", layers, low=1) + 1)
    ]
    return pd.DataFrame(rows, columns=["layers", "three_attempts", "three_retries", "with_budget"])
