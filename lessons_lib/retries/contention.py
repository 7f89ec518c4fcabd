"""The AWS backoff study: many clients update one row, and every collision costs a retry."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lessons_lib.errors import one_of, real_number, whole_number

__all__ = ["BACKOFFS", "Contention", "contention_study"]

BACKOFFS = ("none", "exponential", "decorrelated", "equal", "full")


@dataclass(frozen=True)
class Contention:
    """What the trials of one setting came to.

    Args:
        calls: write calls of each trial, int64, shape (trials,).
        time_ms: when the last client had its answer, float64, shape (trials,).
    """

    calls: np.ndarray
    time_ms: np.ndarray

    def means(self) -> dict[str, float]:
        """Return calls and time_ms averaged over the trials, with the standard error of each."""
        root = len(self.calls) ** 0.5
        return {
            "calls": float(self.calls.mean()),
            "calls_se": float(self.calls.std(ddof=1) / root),
            "time_ms": float(self.time_ms.mean()),
            "time_se": float(self.time_ms.std(ddof=1) / root),
        }


def contention_study(
    backoff: str,
    clients: int,
    rng: Any,
    *,
    trials: int = 100,
    base_ms: float = 5,
    cap_ms: float = 2000,
    net_mean_ms: float = 10,
    net_sd_ms: float = 2,
) -> Contention:
    """Let clients read a row, write it back if nobody else wrote meanwhile, else back off.

    This is optimistic concurrency control: a write succeeds if no write succeeded between the
    client's read and its write. Each message takes a normal time. A client stops after one
    success: a closed population, which is why backoff helps here (see `service` for an open
    one). All trials run in lockstep, one write call of each at a time.

    The wait after failure n, from 1, with v = min(cap, base · 2ⁿ), so at first 2 · base:
    none 0; exponential v; equal U(v/2, v); full U(0, v);
    decorrelated min(cap, U(base, 3 · previous)), previous = base at first.

    Args:
        backoff: one of `BACKOFFS`.
        clients: how many contend, at least 1.
        rng: a NumPy `Generator`.
        trials: how often the experiment is repeated, at least 2.
        base_ms: base of the backoff, in milliseconds; times are real numbers here.
        cap_ms: cap of the backoff.
        net_mean_ms: mean time of one message.
        net_sd_ms: its standard deviation.

    Source: M. Brooker, AWS Architecture Blog, "Exponential Backoff and Jitter" (2015), and
    github.com/aws-samples/aws-arch-backoff-simulator. It takes the absolute value of each
    time; with mean 10 and deviation 2 a negative one is a matter of 3 in 10 million.
    """
    one_of("backoff", backoff, BACKOFFS)
    clients = whole_number("clients", clients, low=1)
    trials = whole_number("trials", trials, low=2)
    base_ms, cap_ms = real_number("base_ms", base_ms, low=0), real_number("cap_ms", cap_ms, low=0)

    def two_messages(shape: Any) -> np.ndarray:
        # The sum of two normal times is normal, with √2 times the deviation.
        return np.abs(2 * net_mean_ms + 2**0.5 * net_sd_ms * rng.standard_normal(shape))

    read_at = np.abs(net_mean_ms + net_sd_ms * rng.standard_normal((trials, clients)))
    write_at = read_at + two_messages((trials, clients))
    failures = np.zeros((trials, clients), dtype=np.int64)
    previous = np.full((trials, clients), float(base_ms))
    changed_at = np.full(trials, -np.inf)  # the last success of each trial
    todo = np.full(trials, clients)
    calls = np.zeros(trials, dtype=np.int64)
    time_ms = np.zeros(trials)
    live = np.arange(trials)  # the trial that each row belongs to; finished rows are dropped

    while len(live):
        row = np.arange(len(live))
        who = write_at.argmin(axis=1)  # the write that arrives next, in each trial
        at = write_at[row, who]
        calls[live] += 1
        won = read_at[row, who] > changed_at

        winners = row[won]
        changed_at[won] = at[won]
        write_at[winners, who[won]] = np.inf
        todo[won] -= 1
        answered = at[won] + np.abs(net_mean_ms + net_sd_ms * rng.standard_normal(len(winners)))
        time_ms[live[won]] = np.maximum(time_ms[live[won]], answered)

        losers, loser = row[~won], who[~won]
        failures[losers, loser] += 1
        wait = _wait(
            backoff, failures[losers, loser], previous[losers, loser], base_ms, cap_ms, rng
        )
        previous[losers, loser] = wait
        # The answer travels back, the client waits, its read travels there; then the value
        # travels back and the write there.
        read_at[losers, loser] = at[~won] + two_messages(len(losers)) + wait
        write_at[losers, loser] = read_at[losers, loser] + two_messages(len(losers))

        if not todo.all():
            stay = todo > 0
            live, todo, changed_at = live[stay], todo[stay], changed_at[stay]
            read_at, write_at = read_at[stay], write_at[stay]
            failures, previous = failures[stay], previous[stay]
    return Contention(calls, time_ms)


def _wait(
    backoff: str, failure: np.ndarray, previous: np.ndarray, base_ms: float, cap_ms: float, rng: Any
) -> np.ndarray:
    if backoff == "none":
        return np.zeros(len(failure))
    if backoff == "decorrelated":
        return np.minimum(cap_ms, base_ms + rng.random(len(failure)) * (3 * previous - base_ms))
    full = np.minimum(cap_ms, base_ms * 2.0 ** np.minimum(failure, 60))
    if backoff == "exponential":
        return full
    share = rng.random(len(failure))
    return full * (share if backoff == "full" else (1 + share) / 2)
