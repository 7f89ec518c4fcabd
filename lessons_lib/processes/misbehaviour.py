"""Requests that make a shutdown hard: large, endless, in a thread, blocking, wedging."""

import asyncio
import time

from lessons_lib.processes.endpoints import Endpoint

__all__ = ["MISBEHAVIOUR"]

MIB = 1 << 20


class Large(Endpoint):
    """`/large?mib=64`: a body that a slow reader takes long to read."""

    async def get(self) -> None:
        mib = int(self.get_argument("mib", "64"))
        self.set_header("Content-Length", str(mib * MIB))
        for _ in range(mib):
            self.write(bytes(MIB))
            await self.flush()
        await self.finish()


class Endless(Endpoint):
    """`/endless`: an answer that never ends, as a stream of events does not."""

    async def get(self) -> None:
        while True:
            self.write("and on\n")
            await self.flush()
            await asyncio.sleep(0.05)


class Thread(Endpoint):
    """`/thread?ms=9000`: work in a thread, which nobody can cancel."""

    async def get(self) -> None:
        ms = float(self.get_argument("ms", "9000"))
        await asyncio.get_running_loop().run_in_executor(None, time.sleep, ms / 1000)
        self.finish("done\n")


class Block(Endpoint):
    """`/block?ms=9000`: blocks the event loop; nothing else is answered meanwhile."""

    async def get(self) -> None:
        time.sleep(float(self.get_argument("ms", "9000")) / 1000)
        self.finish("done\n")


class Wedge(Endpoint):
    """`/wedge`: spoil the process's own state for good."""

    def get(self) -> None:
        self.service.wedged = True
        self.finish("wedged\n")


MISBEHAVIOUR = [
    ("/large", Large),
    ("/endless", Endless),
    ("/thread", Thread),
    ("/block", Block),
    ("/wedge", Wedge),
]
