"""Brooker's study repeated: the published run lies within its sampling error."""

import pytest

from lessons_lib.retries.token_repeats import token_repeats


def test_repeats_agree_with_the_published_run_and_the_closed_forms():
    table = token_repeats(range(6), failure_rates=(0.1, 0.5, 1.0))
    assert len(table) == 12
    # Known from six runs only: a t value of 5 degrees of freedom, beyond 6 once in 540.
    assert table[["success_z", "load_z"]].max().max() < 6
    exact = table[table["load_exact"].notna()]
    assert (exact["success"] - exact["success_exact"]).abs().max() < 0.01
    assert (exact["load"] - exact["load_exact"]).abs().max() < 0.02
    dead = table[(table["failure_rate"] == 1) & (table["strategy"] == "no retry")]
    assert dead[["success_z", "load_z"]].isna().all(axis=None)  # no spread, no standard error


def test_one_run_has_no_spread():
    with pytest.raises(ValueError, match="seeds must be at least 2, or there is no spread, got 1"):
        token_repeats([3], failure_rates=(0.1,))
