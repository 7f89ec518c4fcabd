"""A real HTTP server that works on two requests at a time and never asks who still waits."""

import asyncio
from contextlib import suppress

__all__ = ["SlowServer", "get"]

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


class SlowServer:
    """Answer GET on an ephemeral port of 127.0.0.1, first come first served, a few at a time.

    Requests queue up in the order in which they come. When a client hangs up, its request
    stays in the queue and is worked on in its turn, as in most servers. Use it as
    `async with SlowServer() as server:`; at the end of the block everything is closed.

    Args:
        workers: requests worked on at once.
        work_ms: time one request takes, so `workers` · 1000 / `work_ms` are done a second.
    """

    def __init__(self, workers: int = 2, work_ms: int = 40) -> None:
        self.workers, self.work_ms = workers, work_ms
        self.served = self.wasted = self.port = 0
        self._queue: asyncio.Queue[asyncio.Future] = asyncio.Queue()

    @property
    def waiting(self) -> int:
        """Requests in the queue, their clients still there or not."""
        return self._queue.qsize()

    async def __aenter__(self) -> "SlowServer":
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self.workers)]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            job = await self._queue.get()
            await asyncio.sleep(self.work_ms / 1000)
            self.served += 1
            self.wasted += job.done()
            if not job.done():
                job.set_result(None)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await reader.readuntil(b"\r\n\r\n")
            job = asyncio.get_running_loop().create_future()
            self._queue.put_nowait(job)
            hung_up = asyncio.create_task(reader.read())
            await asyncio.wait({job, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            hung_up.cancel()
            if job.done():
                writer.write(ANSWER)
                await writer.drain()
            else:
                job.cancel()  # nobody waits any more; the queue keeps the request all the same
        writer.close()


async def get(port: int, timeout_ms: int) -> bool:
    """Send one GET to a local port; return whether the answer 200 came in time.

    Args:
        port: the server's port on 127.0.0.1.
        timeout_ms: how long to wait before hanging up.
    """
    writer = None
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return (await reader.readline()).split()[1:2] == [b"200"]
    except (TimeoutError, OSError):
        return False
    finally:
        if writer is not None:
            writer.close()
