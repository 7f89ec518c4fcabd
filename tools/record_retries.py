"""Record a real retry burst: a hundred clients, one local HTTP server that fails for a while.

    python -m tools.record_retries

Writes notebooks/data/retries-none.csv and retries-full.csv, one row a retry: milliseconds
since the common failure as the server's clock saw the request, client, attempt, HTTP status.
"""

import asyncio
import csv
import time
from pathlib import Path

import numpy as np
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from lessons_lib.retries.jitter import FullJitter, Jitter, NoJitter
from lessons_lib.retries.schedules import Exponential

CLIENTS = 100
OUTAGE_S = 5.0
MOST_RETRIES = 12
DATA = Path(__file__).resolve().parent.parent / "notebooks" / "data"


class Work(RequestHandler):
    """Answer 503 during the outage and 200 afterwards; note every request."""

    def get(self) -> None:
        """Serve one attempt."""
        settings = self.application.settings
        settings["began"] = settings["began"] or time.monotonic()  # time 0: the first failure
        at_ms = int((time.monotonic() - settings["began"]) * 1000)
        status = 503 if at_ms < OUTAGE_S * 1000 else 200
        attempt = int(self.get_query_argument("attempt"))
        if attempt:  # attempt 0 is the common failure at the start
            settings["rows"].append(
                (at_ms, int(self.get_query_argument("client")), attempt, status)
            )
        self.set_status(status)


async def _client(http: AsyncHTTPClient, port: int, number: int, waits_ms: np.ndarray) -> None:
    for attempt in range(MOST_RETRIES + 1):
        if attempt:
            await asyncio.sleep(waits_ms[attempt - 1] / 1000)
        url = f"http://127.0.0.1:{port}/?client={number}&attempt={attempt}"
        answer = await http.fetch(HTTPRequest(url, request_timeout=10), raise_error=False)
        if answer.code == 200:
            return


async def _record(jitter: Jitter) -> list[tuple[int, int, int, int]]:
    rows: list[tuple[int, int, int, int]] = []
    quiet = {"log_function": lambda _: None}
    server = HTTPServer(Application([("/", Work)], began=None, rows=rows, **quiet))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    port = sockets[0].getsockname()[1]
    schedule = Exponential(500, 2, 30000)
    waits = jitter.waits(schedule, CLIENTS, MOST_RETRIES, np.random.default_rng())
    http = AsyncHTTPClient(force_instance=True, max_clients=CLIENTS)
    await asyncio.gather(*(_client(http, port, n, waits[n]) for n in range(CLIENTS)))
    http.close()
    server.stop()
    return sorted(rows)


def main() -> None:
    """Record both runs and write the two files."""
    for name, jitter in (("none", NoJitter()), ("full", FullJitter())):
        rows = asyncio.run(_record(jitter))
        target = DATA / f"retries-{name}.csv"
        with target.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["at_ms", "client", "attempt", "status"])
            writer.writerows(rows)
        print(f"{target.name}: {len(rows)} retries of {CLIENTS} clients")


if __name__ == "__main__":
    main()
