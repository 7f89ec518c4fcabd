"""The graceful server: each behaviour with a real process, bare sockets and real signals."""

import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import psutil
import pytest

from lessons_lib.processes.child import Child
from lessons_lib.processes.http_client import Connection, Lost, Refused, ask

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

DRAIN_MS, LIMIT_MS = 200, 700
SLACK_MS = 1500  # other processes share the machine


class Server(Child):
    def __init__(self, *options, drain_ms=DRAIN_MS, limit_ms=LIMIT_MS):
        given = ("--drain-ms", drain_ms, "--limit-ms", limit_ms, *options)
        super().__init__("lessons_lib.processes.server", *given, module=True, limit_s=40)
        self.port = self.wait_event("listening", 20)["port"]

    def stop(self, number=signal.SIGTERM):
        self.send_signal(number)
        return self.wait_event(f"{signal.Signals(number).name} received")

    def ms(self, name):
        """Milliseconds from the signal to an event of this name."""
        times = {event["event"]: event["at_s"] for event in self.events}
        began = times.get("SIGTERM received", times.get("SIGINT received"))
        return (times[name] - began) * 1000

    def end(self):
        """Wait for the end; milliseconds after the signal, and the exit code."""
        code = self.wait()
        began = next(e["at_s"] for e in self.events if e["event"].endswith("received"))
        return (time.monotonic() - began) * 1000, code

    @property
    def names(self):
        return [event["event"] for event in self.events]


@contextmanager
def at_work(port, path):
    """A request that has begun; yields its connection."""
    with Connection(port) as connection:
        connection.send(path)
        time.sleep(0.1)
        yield connection


def at_the_limit(ms):
    return DRAIN_MS + LIMIT_MS - 20 <= ms < DRAIN_MS + LIMIT_MS + SLACK_MS


def test_it_answers():
    with Server("--slow-ms", 50) as server:
        assert ask(server.port, "/live").status == 200
        assert ask(server.port, "/ready").status == 200
        assert ask(server.port, "/slow").status == 200
        assert ask(server.port, "/anything").status == 404
        with Connection(server.port) as connection:
            for _ in range(3):
                assert not connection.ask("/live").last


def test_it_is_not_ready_at_once_and_still_serves_through_the_drain_window():
    with Server(drain_ms=600) as server:
        server.stop()
        for _ in range(4):
            assert ask(server.port, "/ready").status == 503
            assert ask(server.port, "/live").status == 200
            assert ask(server.port, "/slow?ms=1").status == 200
            time.sleep(0.06)
        server.wait_event("no new connections")
        assert server.ms("no new connections") >= 595
        with pytest.raises(Refused):
            ask(server.port, "/live")
        assert server.end()[1] == 0


def test_idle_connections_are_closed_in_phase_two():
    with Server(limit_ms=5000) as server, Connection(server.port) as idle:
        idle.ask("/live")
        server.stop()
        assert idle.wait_closed()
        assert server.wait_event("no new connections")
        ms, code = server.end()
        assert code == 0
        assert DRAIN_MS - 20 <= ms < DRAIN_MS + SLACK_MS


def test_a_connection_that_becomes_idle_later_is_closed_then():
    # Without the announcement its client means to keep it.
    with (
        Server("--without=announcement", limit_ms=5000) as server,
        at_work(server.port, "/slow?ms=600") as connection,
    ):
        server.stop()
        answer = connection.answer()
        assert (answer.status, answer.last) == (200, False)
        assert connection.wait_closed()
        ms, code = server.end()
        assert code == 0
        assert ms < 600 + SLACK_MS


def test_an_answer_says_that_it_is_the_last():
    with Server(drain_ms=500) as server, at_work(server.port, "/slow?ms=300") as running:
        with Connection(server.port) as idle:
            assert not idle.ask("/live").last
            server.stop()
            assert idle.ask("/live").last  # read to the end: the server closed it
            assert running.answer().last
            assert ask(server.port, "/nothing").last
        assert "no new connections" not in server.names
        assert server.end()[1] == 0


def test_eight_busy_clients_lose_nothing():
    lost, served = [], []

    def client(port):
        try:
            with Connection(port) as connection:
                while not connection.ask("/live").last:
                    served.append(1)
                    time.sleep(0.01)
        except Lost as error:
            lost.append(error)

    with Server(drain_ms=300) as server:
        threads = [threading.Thread(target=client, args=(server.port,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        server.stop()
        for thread in threads:
            thread.join(5)
        assert server.end()[1] == 0
    assert not lost
    assert len(served) > 20


def test_five_running_requests_are_finished():
    with Server(limit_ms=5000) as server:
        connections = [Connection(server.port) for _ in range(5)]
        for connection in connections:
            connection.send("/slow?ms=600")
        time.sleep(0.15)
        server.stop()
        assert [connection.answer().status for connection in connections] == [200] * 5
        for connection in connections:
            connection.close()
        assert server.end()[1] == 0
    assert server.names[-1] == "all requests finished"


def test_a_slow_reader_gets_all_of_a_large_body():
    with Server(drain_ms=100, limit_ms=20_000) as server, Connection(server.port) as reader:
        reader.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        reader.send("/large?mib=64")
        server.stop()
        server.wait_event("no new connections")
        time.sleep(0.3)  # not a byte read so far
        assert server.code is None
        answer = reader.answer()
        assert (answer.status, answer.length) == (200, 64 << 20)
        assert server.end()[1] == 0
    assert "limit reached" not in server.names


@pytest.mark.parametrize("path", ["/endless", "/large?mib=64"])
def test_a_client_that_never_lets_go_is_cut_at_the_limit(path):
    with Server() as server, at_work(server.port, path) as connection:
        server.stop()
        ms, code = server.end()
        with pytest.raises(Lost):
            connection.answer()
    assert code == 0
    assert at_the_limit(ms)
    assert server.names[-2:] == ["no new connections", "limit reached"]


def test_a_busy_thread_cannot_keep_the_process():
    with Server() as server, at_work(server.port, "/thread?ms=9000"):
        server.stop()
        ms, code = server.end()
    assert code == 0
    assert at_the_limit(ms)


def test_a_busy_thread_whose_client_is_gone_cannot_keep_the_process():
    with Server() as server:
        with at_work(server.port, "/thread?ms=9000"):
            pass
        server.stop()
        ms, code = server.end()
    assert code == 0
    assert at_the_limit(ms)


def test_a_blocked_event_loop_cannot_keep_the_process():
    with Server() as server, at_work(server.port, "/block?ms=9000"):
        before = time.monotonic()
        signalled = server.stop()["at_s"]
        assert signalled - before < 1, "the handler waits for the loop"
        ms, code = server.end()
    assert code == 0
    assert at_the_limit(ms)
    assert server.names[-1] == "limit reached"


@pytest.mark.parametrize("sent", [b"", b"GET /li", b"GET /live HTTP/1.1\r\nHost: x\r\n"])
def test_half_a_request_does_not_block(sent):
    with Server(limit_ms=5000) as server, Connection(server.port) as half:
        half.socket.sendall(sent)
        time.sleep(0.1)
        server.stop()
        ms, code = server.end()
    assert code == 0
    assert ms < DRAIN_MS + SLACK_MS


@pytest.mark.parametrize("second", ["SIGTERM", "SIGINT"])
def test_a_second_signal_changes_nothing(second):
    with Server(limit_ms=5000) as server, at_work(server.port, "/slow?ms=600") as connection:
        server.stop()
        for _ in range(3):
            time.sleep(0.05)
            server.send_signal(getattr(signal, second))
        assert connection.answer().status == 200
        assert server.end()[1] == 0
    assert server.ms("no new connections") >= DRAIN_MS - 5
    assert server.names[1:] == ["SIGTERM received", "no new connections", "all requests finished"]


def test_sigterm_during_start_up():
    with Server("--startup-ms", 9000, drain_ms=3000) as server:
        assert ask(server.port, "/live").status == 200
        assert ask(server.port, "/ready").status == 503
        server.stop()
        ms, code = server.end()
    assert code == 0
    assert ms < SLACK_MS, "nobody sends it requests, so there is nothing to drain"


def test_it_becomes_ready_when_its_start_up_is_done():
    with Server("--startup-ms", 200) as server:
        assert ask(server.port, "/ready").status == 503
        server.wait_event("started")
        assert ask(server.port, "/ready").status == 200


def test_sigint_does_the_same():
    with Server() as server, at_work(server.port, "/slow?ms=400") as connection:
        server.stop(signal.SIGINT)
        assert ask(server.port, "/ready").status == 503
        assert connection.answer().status == 200
        assert server.end()[1] == 0
    assert server.names[1:] == ["SIGINT received", "no new connections", "all requests finished"]


def test_the_timer_does_not_keep_the_process_alive():
    with Server(limit_ms=20_000) as server:
        server.stop()
        ms, code = server.end()
    assert code == 0
    assert ms < DRAIN_MS + SLACK_MS


def test_left_out_the_timer_keeps_it():
    with Server("--without=daemon timer") as server:
        server.stop()
        ms, code = server.end()
    assert code == 0
    assert at_the_limit(ms)
    assert server.names[-2:] == ["all requests finished", "limit reached"]


def test_readiness_asks_the_dependency_and_liveness_does_not():
    with socket.create_server(("127.0.0.1", 0)) as dependency:
        port = dependency.getsockname()[1]
        with (
            Server("--dependency", port) as right,
            Server("--dependency", port, "--liveness", "dependency") as wrong,
        ):
            for server in (right, wrong):
                assert ask(server.port, "/ready").status == 200
                assert ask(server.port, "/live").status == 200
            dependency.close()
            assert ask(right.port, "/ready").status == 503
            assert ask(right.port, "/live").status == 200
            assert ask(wrong.port, "/live").status == 503


@pytest.mark.parametrize(("liveness", "status"), [("own state", 503), ("always ok", 200)])
def test_a_wedged_process_says_so_if_it_looks(liveness, status):
    with Server("--liveness", liveness) as server:
        ask(server.port, "/wedge")
        assert ask(server.port, "/ready").status == 503
        assert ask(server.port, "/live").status == status


def test_it_works_from_a_shell_without_a_guard():
    command = [sys.executable, "-m", "lessons_lib.processes.server", "--drain-ms", "50"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert '"listening"' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(20) == 0
    assert [line.split('"')[3] for line in rest.splitlines()] == [
        *("SIGINT received", "no new connections", "all requests finished")
    ]


def test_nothing_is_left():
    assert psutil.Process().children(recursive=True) == []
