"""Two published studies beside our own runs of them: the figures, ours, and how far apart."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from lessons_lib.retries.closed_forms import load_of, success_of
from lessons_lib.retries.contention import BACKOFFS, contention_study
from lessons_lib.retries.study_clients import STRATEGIES
from lessons_lib.retries.token_study import token_study

__all__ = ["contention_table", "published_contention", "published_tokens", "token_table"]

# Mean calls and mean milliseconds of 100 trials, in the order of BACKOFFS.
CONTENTION = {
    10: ((50.7, 381), (50.1, 3311), (37.5, 435), (42.4, 701), (39.1, 466)),
    20: ((151.7, 599), (147.2, 13878), (100.5, 829), (108.0, 1685), (100.3, 1023)),
    50: ((689.2, 1138), (628.1, 36647), (373.7, 2137), (347.9, 4273), (332.7, 2870)),
    100: ((2427.6, 2035), (1854.5, 63452), (1005.2, 4632), (812.0, 6682), (796.8, 4910)),
    150: ((5144.7, 2878), (3560.6, 85424), (1751.8, 6476), (1325.3, 8367), (1317.5, 6387)),
    190: ((8011.6, 3541), (5144.0, 101030), (2434.7, 7911), (1760.3, 9469), (1771.8, 7364)),
}

# Percent of calls that succeed and requests per 100 calls, in the order of STRATEGIES.
TOKENS = {
    0.05: ((95.21, 100), (100, 105.2), (99.97, 105.1), (99.54, 104.7)),
    0.1: ((90.10, 100), (99.99, 111.1), (98.77, 109.6), (93.49, 103.6)),
    0.2: ((80.09, 100), (99.82, 124.6), (88.72, 111.2), (80.40, 100.1)),
    0.3: ((69.85, 100), (99.06, 141.4), (77.63, 111.3), (70.05, 100)),
    0.5: ((50.16, 100), (93.53, 188.1), (55.43, 111.4), (50.11, 100)),
    0.75: ((25.11, 100), (68.69, 273.2), (27.41, 111.5), (None, None)),
    1.0: ((0, 100), (0, 400), (0, 111.5), (0, 100)),
}


def published_contention() -> pd.DataFrame:
    """Return the AWS study's figures: clients, backoff, calls, time_ms (means of 100 trials).

    Source: the study's own program (see `contention_study`), run with its own parameters.
    """
    rows = [
        (clients, backoff, *cell)
        for clients, cells in CONTENTION.items()
        for backoff, cell in zip(BACKOFFS, cells, strict=True)
    ]
    return pd.DataFrame(rows, columns=["clients", "backoff", "calls", "time_ms"])


def published_tokens() -> pd.DataFrame:
    """Return Brooker's figures: failure_rate, strategy, success and load, as shares of the calls.

    Source: the study's own program (see `token_study`), run with its own parameters.
    """
    rows = [
        (rate, strategy, cell[0] / 100, cell[1] / 100)
        for rate, cells in TOKENS.items()
        for strategy, cell in zip(STRATEGIES, cells, strict=True)
        if cell[0] is not None
    ]
    return pd.DataFrame(rows, columns=["failure_rate", "strategy", "success", "load"])


def contention_table(
    rng: Any, clients: Sequence[int] = tuple(CONTENTION), trials: int = 100
) -> pd.DataFrame:
    """Run the AWS study and put the published figures beside ours.

    Args:
        rng: a NumPy `Generator`.
        clients: numbers of contending clients.
        trials: repetitions of each.

    Returns:
        One row per number of clients and backoff: clients, backoff, calls, calls_se, time_ms,
        time_se, calls_published, time_ms_published (NaN where none is), and for both
        calls_z and time_z: the difference in standard errors, √2 of ours since the published
        mean has one too. Beyond 3 once in 370 figures, if all is well.
    """
    rows = [
        {"clients": count, "backoff": backoff}
        | contention_study(backoff, count, rng, trials=trials).means()
        for count in clients
        for backoff in BACKOFFS
    ]
    table = pd.DataFrame(rows).merge(
        published_contention(), on=["clients", "backoff"], how="left", suffixes=("", "_published")
    )
    for name, error in (("calls", "calls_se"), ("time", "time_se")):
        column = "calls" if name == "calls" else "time_ms"
        difference = table[column] - table[f"{column}_published"]
        table[f"{name}_z"] = difference / (2**0.5 * table[error])
    return table


def token_table(rng: Any, failure_rates: Sequence[float] = tuple(TOKENS)) -> pd.DataFrame:
    """Run Brooker's study and put the published figures and the closed forms beside ours.

    Args:
        rng: random numbers with `.random(size)`.
        failure_rates: probabilities that an attempt fails.

    Returns:
        One row per failure rate and strategy: failure_rate, strategy, calls, requests,
        success, load, success_published, load_published (NaN where none is), and for
        "no retry" and "3 retries" success_exact and load_exact.
    """
    rows = [token_study(rate, strategy, rng) for rate in failure_rates for strategy in STRATEGIES]
    table = pd.DataFrame(rows).merge(
        published_tokens(), on=["failure_rate", "strategy"], how="left", suffixes=("", "_published")
    )
    attempts = table["strategy"].map({"no retry": 1, "3 retries": 4})
    for name, exact in (("success", success_of), ("load", load_of)):
        table[f"{name}_exact"] = [
            exact(rate, int(most)) if most == most else float("nan")
            for rate, most in zip(table["failure_rate"], attempts, strict=True)
        ]
    return table
