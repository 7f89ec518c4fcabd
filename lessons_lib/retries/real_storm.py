"""A retry storm for real: a local HTTP server, open arrivals, impatient clients, five seconds."""

import asyncio
import threading
from dataclasses import dataclass

import numpy as np

from lessons_lib.errors import real_number
from lessons_lib.retries.policy import Policy
from lessons_lib.retries.real_server import SlowServer, get
from lessons_lib.retries.service_run import ServiceRun
from lessons_lib.retries.tally import Tally

__all__ = ["RealStorm", "run_real_storms"]

BUCKET_MS = 100
TIMEOUT_MS = 300
PER_SECOND = 20
SPIKE_MS = (1000, 1500)
SPIKE_FACTOR = 5


@dataclass(frozen=True)
class RealStorm:
    """A run of real clients against a real server, counted like a simulated one.

    Args:
        run: what happened per bucket of 100 ms.
        capacity_per_second: requests the server can do.
        trigger_ms: from when to when five times as many calls came.
    """

    run: ServiceRun
    capacity_per_second: int
    trigger_ms: tuple[int, int] = SPIKE_MS

    def last_second(self, name: str) -> int:
        """Return the sum of one column (see `service_run.COUNTED`) over the last second."""
        return int(self.run.column(name)[-1000 // BUCKET_MS :].sum())


class _Clients:
    """All calls of one run: 20 a second, five times that in the spike."""

    def __init__(self, server: SlowServer, policy: Policy, until_ms: int) -> None:
        self._server, self._policy, self._until_ms = server, policy, until_ms
        self._buckets = until_ms // BUCKET_MS
        self._tally = Tally(self._buckets, BUCKET_MS)
        self._tokens = policy.tokens.fresh() if policy.tokens else None
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()

    def _now_ms(self) -> int:
        return int((self._loop.time() - self._began) * 1000)

    def _count(self, name: str, count: int = 1) -> None:
        self._tally.add(min(self._now_ms() // BUCKET_MS, self._buckets - 1), name, count)

    async def _call(self, waits_ms: list[int]) -> None:
        began_ms = self._now_ms()
        self._count("new")
        if self._tokens:
            self._tokens.started(began_ms)
        for wait_ms in [*waits_ms, None]:
            self._count("sent")
            if await get(self._server.port, TIMEOUT_MS):
                bucket = min(self._now_ms() // BUCKET_MS, self._buckets - 1)
                self._tally.success(bucket, np.array([self._now_ms() - began_ms]))
                return
            self._count("timed_out")
            if wait_ms is None or (self._tokens and not self._tokens.may_retry(self._now_ms())):
                self._count("gave_up")
                return
            await asyncio.sleep(wait_ms / 1000)

    async def _watch(self) -> None:
        served = wasted = 0
        while True:
            await asyncio.sleep(BUCKET_MS / 1000)
            self._count("served", self._server.served - served)
            self._count("wasted", self._server.wasted - wasted)
            self._count("queue", self._server.waiting)
            served, wasted = self._server.served, self._server.wasted

    async def run(self) -> ServiceRun:
        waits = self._policy.waits(20 * self._until_ms // BUCKET_MS, np.random.default_rng(1))
        tasks = {asyncio.create_task(self._watch())}
        next_ms = 0.0
        for number in range(len(waits)):
            if next_ms >= self._until_ms:
                break
            await asyncio.sleep(max(0, next_ms - self._now_ms()) / 1000)
            tasks.add(asyncio.create_task(self._call(waits[number].tolist())))
            spike = SPIKE_MS[0] <= next_ms < SPIKE_MS[1]
            next_ms += 1000 / PER_SECOND / (SPIKE_FACTOR if spike else 1)
        await asyncio.sleep(max(0, self._until_ms - self._now_ms()) / 1000)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return self._tally.result()


async def _one(policy: Policy, until_ms: int) -> RealStorm:
    async with SlowServer() as server:
        run = await _Clients(server, policy, until_ms).run()
        return RealStorm(run, server.workers * 1000 // server.work_ms)


async def _all(policies: dict[str, Policy], until_ms: int) -> dict[str, RealStorm]:
    runs = await asyncio.gather(*(_one(policy, until_ms) for policy in policies.values()))
    return dict(zip(policies, runs, strict=True))


def run_real_storms(policies: dict[str, Policy], seconds: float = 5) -> dict[str, RealStorm]:
    """Run each policy against a server of its own, all at the same time, on this machine.

    The server does 50 requests a second, 20 new calls come, and clients hang up after 300 ms.
    From second 1 to 1.5 five times as many calls come: that is the trigger. It all happens in
    one thread with a loop of its own, and ends with the time: servers, clients, connections.

    Args:
        policies: name → what clients do about failures. Breakers are not used here.
        seconds: length of the runs, 2 to 20.
    """
    until_ms = int(1000 * real_number("seconds", seconds, low=2, high=20))
    result: dict[str, RealStorm] = {}
    failed: list[BaseException] = []
    over = threading.Event()  # an interrupted `join` may take a running thread for ended
    loop = asyncio.new_event_loop()

    def work() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                result.update(runner.run(_all(policies, until_ms)))
        except BaseException as error:
            failed.append(error)
        finally:
            over.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while not over.wait(0.1):  # short, so that an interrupt is noticed
            pass
    except BaseException:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        over.wait(5)
        raise
    thread.join(5)
    if failed:
        raise failed[0]
    return result
