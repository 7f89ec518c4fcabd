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
    time; that matters for 3 in 10 million, and is left out here.
    """
    one_of("backoff", backoff, BACKOFFS)
    clients = whole_number("clients", clients, low=1)
    trials = whole_number("trials", trials, low=2)
    base_ms, cap_ms = real_number("base_ms", base_ms, low=0), real_number("cap_ms", cap_ms, low=0)
    two_sd_ms = 2**0.5 * net_sd_ms  # the sum of two normal times is normal as well

    shape = (trials, clients)
    read_at = net_mean_ms + net_sd_ms * rng.standard_normal(shape)
    write_at = read_at + 2 * net_mean_ms + two_sd_ms * rng.standard_normal(shape)
    # What the backoff remembers of each client: its previous wait, or the ceiling of its next.
    memory = np.full(shape, base_ms if backoff == "decorrelated" else min(cap_ms, 2 * base_ms))
    changed_at = np.full(trials, -np.inf)  # the last success of each trial
    todo = np.full(trials, clients)
    end_ms = np.zeros(trials)
    live = np.arange(trials)  # the trial that each row belongs to; finished rows are dropped
    calls, time_ms = np.zeros(trials, dtype=np.int64), np.zeros(trials)

    flat_read, flat_write, flat_memory = read_at.ravel(), write_at.ravel(), memory.ravel()
    row_begins = np.arange(trials) * clients

    step = 0
    while len(live):
        step += 1
        who = row_begins + write_at.argmin(axis=1)  # the write that arrives next in each trial
        at = flat_write[who]
        won = flat_read[who] > changed_at
        np.copyto(changed_at, at, where=won)
        wait, flat_memory[who] = _backoff(backoff, flat_memory[who], base_ms, cap_ms, rng)
        there, back = rng.standard_normal((2, len(live)))
        # A loser's answer travels back, it waits, its read travels there; then the value
        # travels back and its write there. Winners stop: their next write never comes.
        read = at + wait + (2 * net_mean_ms) + two_sd_ms * there
        flat_read[who] = read
        write = read + (2 * net_mean_ms) + two_sd_ms * back
        np.copyto(write, np.inf, where=won)
        flat_write[who] = write
        answered = at + net_mean_ms + net_sd_ms * there  # for winners, the one message back
        np.maximum(end_ms, answered, out=end_ms, where=won)
        todo -= won
        if not todo.all():
            over = live[todo == 0]
            calls[over], time_ms[over] = step, end_ms[todo == 0]
            stay = todo > 0
            live, todo, changed_at, end_ms = live[stay], todo[stay], changed_at[stay], end_ms[stay]
            read_at, write_at, memory = read_at[stay], write_at[stay], memory[stay]
            flat_read, flat_write, flat_memory = read_at.ravel(), write_at.ravel(), memory.ravel()
            row_begins = row_begins[: len(live)]
    return Contention(calls, time_ms)


def _backoff(
    backoff: str, memory: np.ndarray, base_ms: float, cap_ms: float, rng: Any
) -> tuple[Any, np.ndarray]:
    """Return the wait of one client per trial, and what to remember of it."""
    if backoff == "none":
        return 0.0, memory
    if backoff == "decorrelated":
        wait = np.minimum(cap_ms, base_ms + rng.random(len(memory)) * (3 * memory - base_ms))
        return wait, wait
    doubled = np.minimum(cap_ms, 2 * memory)
    if backoff == "exponential":
        return memory, doubled
    share = rng.random(len(memory))
    return memory * (share if backoff == "full" else 0.5 + 0.5 * share), doubled
