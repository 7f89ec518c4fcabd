"""A service with limited capacity, its queue, its impatient clients, in virtual time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lessons_lib.errors import real_number, whole_number
from lessons_lib.retries.arrivals import ClosedArrivals, OpenArrivals
from lessons_lib.retries.client_side import ClientSide
from lessons_lib.retries.policy import Policy
from lessons_lib.retries.service_run import ServiceRun
from lessons_lib.retries.tally import Tally
from lessons_lib.retries.waiting_line import WaitingLine

__all__ = ["Service", "run_service"]


@dataclass(frozen=True)
class Service:
    """A service that finishes a limited number of requests per bucket, first come first served.

    It does not know whether a client still waits: it also works on requests that were given
    up. That is what lets a retry storm outlive its trigger.

    Args:
        capacity: requests finished per bucket.
        bucket_ms: the step of virtual time in milliseconds.
        queue_limit: requests that may wait; more are rejected at once. None: no limit.
        slowdown: how much a queue slows the work: capacity / (1 + slowdown · queue / capacity),
            so with 0.1 a queue of ten buckets' work halves it. 0: not at all.
        collapse_at: queue length that brings the service down, as memory running out does:
            the queue is lost, and for `restart_ms` every request is rejected. None: never.
        restart_ms: time a collapse takes, in milliseconds.
        outage_ms: from when to when it is down: the queue is lost, every request rejected.
    """

    capacity: int = 30
    bucket_ms: int = 100
    queue_limit: int | None = None
    slowdown: float = 0
    collapse_at: int | None = None
    restart_ms: int = 5000
    outage_ms: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        whole_number("capacity", self.capacity, low=1)
        whole_number("bucket_ms", self.bucket_ms, low=1)
        real_number("slowdown", self.slowdown, low=0)
        whole_number("restart_ms", self.restart_ms, low=0)
        for name in ("queue_limit", "collapse_at"):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), low=1)


def run_service(
    service: Service,
    arrivals: OpenArrivals | ClosedArrivals,
    policy: Policy,
    rng: Any,
    *,
    timeout_ms: int = 1000,
    until_ms: int = 60_000,
) -> ServiceRun:
    """Run clients against a limited service and count what happens in every bucket.

    In each bucket, in this order: clients whose patience ended give up their request; new
    calls and due retries are sent, past the breaker; the service works on the head of the
    queue; failed attempts are retried or given up, as the policy says. A retry comes at the
    end of its bucket plus its wait, so never in the same bucket.

    Args:
        service: the service.
        arrivals: who calls when.
        policy: what clients do about failures.
        rng: a NumPy `Generator`; "regular" arrivals without jitter draw nothing.
        timeout_ms: how long a client waits for an answer, at least one bucket.
        until_ms: when the run ends.
    """
    bucket_ms = service.bucket_ms
    buckets = -(-whole_number("until_ms", until_ms, low=bucket_ms) // bucket_ms)
    patience = whole_number("timeout_ms", timeout_ms, low=bucket_ms) // bucket_ms
    clients = ClientSide(arrivals, policy, buckets, bucket_ms, timeout_ms, rng)
    line = WaitingLine(patience)
    tally = Tally(buckets, bucket_ms)
    credit = 0.0
    down_until_ms = 0

    for bucket in range(buckets):
        now_ms, end_ms = bucket * bucket_ms, (bucket + 1) * bucket_ms
        down = now_ms < down_until_ms or service.outage_ms[0] <= now_ms < service.outage_ms[1]

        impatient = line.abandon(bucket)
        clients.failed(impatient, now_ms)
        tally.add(bucket, "timed_out", len(impatient))

        new, sending, refused = clients.send(bucket)
        if down:
            rejected = np.concatenate([line.lose_all(), sending])
        else:
            room = len(sending)
            if service.queue_limit is not None:
                room = max(0, service.queue_limit - line.length)
            line.join(sending[:room])
            rejected = sending[room:]
        line.close(bucket)
        clients.failed(rejected, now_ms)
        tally.add(bucket, "new", new)
        tally.add(bucket, "sent", len(sending))
        tally.add(bucket, "refused", refused)
        tally.add(bucket, "rejected", len(rejected))

        if not down:
            slower = 1 + service.slowdown * line.length / service.capacity
            credit = credit % 1 + service.capacity / slower
            done, served = line.serve(int(credit))
            tally.add(bucket, "served", served)
            tally.add(bucket, "wasted", served - len(done))
            tally.success(bucket, clients.succeeded(done, end_ms))
            if service.collapse_at is not None and line.length > service.collapse_at:
                lost = line.lose_all()
                clients.failed(lost, end_ms)
                tally.add(bucket, "rejected", len(lost))
                down_until_ms = end_ms + service.restart_ms

        tally.add(bucket, "gave_up", clients.decide(end_ms))
        tally.add(bucket, "queue", line.length)
        tally.add(bucket, "backing_off", clients.backing_off)
        tally.add(bucket, "in_progress", clients.backing_off + line.awaited)
    return tally.result()
