"""Brooker's study several times over: means, their spread, and how far the published run is away."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from lessons_lib.retries.study_tables import TOKENS, token_table

__all__ = ["token_repeats"]

ROUNDING = {"success": 0.00005, "load": 0.0005}  # the published figures: 0.01 % and 0.1 %


def token_repeats(
    seeds: Iterable[int] = range(6), failure_rates: Sequence[float] = tuple(TOKENS)
) -> pd.DataFrame:
    """Run the study once a seed, and set the means beside the published single run.

    Args:
        seeds: one run each, at least two.
        failure_rates: probabilities that an attempt fails.

    Returns:
        One row per failure rate and strategy: failure_rate, strategy; and for success and for
        load (shares of the calls) the mean, `_se` (its standard error, from the runs' spread),
        `_published`, `_exact` (closed form, or NaN) and `_z`: the difference from the published
        run, less what rounding may have taken, in its standard errors. A published figure is
        one run, so that is √(runs + 1) of ours. NaN where the runs do not spread at all.
        With six runs the spread itself is known badly: beyond 4.5 once in 150 figures.
    """
    runs = [token_table(np.random.default_rng(seed), failure_rates) for seed in seeds]
    if len(runs) < 2:
        raise ValueError(f"seeds must be at least 2, or there is no spread, got {len(runs)}")
    keys = ["failure_rate", "strategy"]
    grouped = pd.concat(runs).groupby(keys, sort=False)
    table = runs[0][keys].copy()
    for name, rounding in ROUNDING.items():
        table[name] = grouped[name].mean().to_numpy()
        table[f"{name}_se"] = grouped[name].std().to_numpy() / len(runs) ** 0.5
        table[f"{name}_published"] = runs[0][f"{name}_published"]
        table[f"{name}_exact"] = runs[0][f"{name}_exact"]
        away = (table[name] - table[f"{name}_published"]).abs() - rounding
        error = table[f"{name}_se"] * (len(runs) + 1) ** 0.5
        table[f"{name}_z"] = away.clip(lower=0).where(error > 0) / error.where(error > 0)
    return table
