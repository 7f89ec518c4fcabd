"""What can be wrong with the file, the disk or the process: clear words, and nothing lost."""

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from lessons_lib.queues.queue_errors import DiskFull, NotAQueue, QueueBusy, QueueError
from lessons_lib.queues.sqlite_queue import Queue

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a system with fork")


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 512 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(queue, sent):
    for size in (900, 1):
        try:
            while len(sent) < 100_000:
                sent.append(queue.send("x" * size))
        except DiskFull as full:
            last = full
    raise last


@linux
def test_a_full_disk(small_disk):
    queue = Queue(small_disk / "a.queue")
    sent = []
    with pytest.raises(DiskFull, match=r"no room to send: the disk with .*a\.queue is full"):
        fill(queue, sent)
    assert len(sent) > 20
    # A receive has to write as well: it fails, and takes nothing.
    with pytest.raises(DiskFull, match="no room to receive"):
        queue.receive_batch(len(sent))
    assert queue.statistics().in_flight == 0
    assert queue.statistics().waiting == len(sent)
    queue.close()

    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    with Queue(small_disk / "a.queue") as again:
        assert [message.id for message in again.receive_batch(100_000)] == sent


@posix
def test_a_limit_on_the_size_of_files(tmp_path):
    # As a disk quota does, and without being root.
    code = """if True:
        import resource, sys
        from lessons_lib.queues.sqlite_queue import Queue
        from lessons_lib.queues.queue_errors import DiskFull
        queue = Queue(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
        try:
            while True:
                print(queue.send("x" * 900), flush=True)
        except DiskFull as full:
            print(full, file=sys.stderr)
    """
    path = tmp_path / "a.queue"
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "no room to send" in run.stderr, run.stderr
    sent = [int(line) for line in run.stdout.split()]
    assert [message.id for message in Queue(path).peek(10_000)] == sent


AS_NOBODY = """if True:
    import os, sys
    from lessons_lib.queues.sqlite_queue import Queue
    from lessons_lib.queues.queue_errors import ReadOnlyQueue
    if os.getuid() == 0:  # root may write everything
        os.setgid(65534)
        os.setuid(65534)
    try:
        Queue(sys.argv[1]).send("x")
    except ReadOnlyQueue as refused:
        print(refused)
"""


@posix
@pytest.mark.parametrize("what", ["file", "folder", "all"])
def test_a_file_that_may_only_be_read(what):
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = Path(name)
        path = folder / "a.queue"
        with Queue(path) as queue:
            queue.send("safe")
        folder.chmod(0o555 if what != "file" else 0o777)
        path.chmod(0o444 if what != "folder" else 0o666)
        run = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, path], capture_output=True, text=True, cwd="/"
        )
        folder.chmod(0o755)
        assert "may only be read" in run.stdout, run.stdout + run.stderr
        path.chmod(0o644)
        assert [message.body for message in Queue(path).peek()] == ["safe"]


def test_not_a_queue_file(tmp_path):
    text = tmp_path / "text.queue"
    text.write_text("this is a diary, not a queue\n" * 100)
    with pytest.raises(NotAQueue, match=r"text\.queue is damaged or is not a queue file"):
        Queue(text)
    assert text.read_text().startswith("this is a diary")

    other = tmp_path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE messages (id)")
    database.close()
    with pytest.raises(NotAQueue, match=r"other.db is a database of something else"):
        Queue(other)

    newer = tmp_path / "newer.queue"
    Queue(newer).close()
    database = sqlite3.connect(newer)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(NotAQueue, match="queue file of version 99; this code knows 1"):
        Queue(newer)

    with pytest.raises(QueueError, match="there is no folder"):
        Queue(tmp_path / "missing" / "a.queue")
    with pytest.raises(NotAQueue, match="is a folder, not a queue file"):
        Queue(tmp_path)


def test_a_damaged_file(tmp_path):
    path = tmp_path / "a.queue"
    with Queue(path) as queue:
        queue.send_batch(["x" * 500] * 200)
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(NotAQueue, match="is damaged or is not a queue file"):
        Queue(path).receive_batch(200)


def test_a_busy_file(tmp_path):
    path = tmp_path / "a.queue"
    queue = Queue(path, busy_timeout_ms=50)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(QueueBusy, match=r"cannot send: other processes kept .* busy"):
        queue.send("x")
    blocker.execute("ROLLBACK")
    blocker.close()
    assert queue.send("x") == 1


def test_an_empty_file_becomes_a_queue(tmp_path):
    path = tmp_path / "a.queue"
    path.touch()
    assert Queue(path).send("x") == 1


def test_threads_share_a_queue(tmp_path):
    queue = Queue(tmp_path / "a.queue", durable=False)
    queue.send_batch(range(200))
    got = []

    def work():
        while message := queue.receive():
            queue.acknowledge(message.receipt)
            got.append(message.id)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(1, 201))


def take_all(queue, results):
    got = []
    while message := queue.receive():
        queue.acknowledge(message.receipt)
        got.append(message.id)
    results.put(got)


@posix
def test_a_queue_object_survives_a_fork(tmp_path):
    queue = Queue(tmp_path / "a.queue", durable=False)
    queue.send_batch(range(300))
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    children = [context.Process(target=take_all, args=(queue, results)) for _ in range(3)]
    for child in children:
        child.start()
    take_all(queue, results)
    got = sorted(one for _ in range(4) for one in results.get(timeout=30))
    for child in children:
        child.join(30)
    assert got == list(range(1, 301))
    queue.close()
    database = sqlite3.connect(queue.path)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_several_processes_make_the_file_at_once(tmp_path):
    code = """if True:
        import sys
        from lessons_lib.queues.sqlite_queue import Queue
        queue = Queue(sys.argv[1])
        queue.send_batch(range(20))
        while message := queue.receive():
            queue.acknowledge(message.receipt)
            print(message.id)
    """
    path = tmp_path / "a.queue"
    command = [sys.executable, "-c", code, path]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    printed = [child.communicate(timeout=60)[0] for child in children]
    assert [child.returncode for child in children] == [0] * 6
    assert sorted(int(line) for out in printed for line in out.split()) == list(range(1, 121))
