"""Laws of the durable queue, under any order of operations, on a virtual clock."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons_lib.queues.clocks import VirtualClock
from lessons_lib.queues.conventions import CONVENTIONS, COUNT_ON, Rule
from lessons_lib.queues.queue_errors import ReceiptRefused
from lessons_lib.queues.sqlite_queue import Queue

VISIBILITY_MS = 30
RULES = st.none() | st.builds(
    Rule, st.integers(1, 3), st.sampled_from(COUNT_ON), st.sampled_from(CONVENTIONS)
)
ACTIONS = (
    *("send", "receive", "receive", "acknowledge", "release", "fail", "extend", "dead-letter"),
    *("death", "time", "time", "redrive", "purge dead", "reopen"),
)
STEPS = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 40)), min_size=20, max_size=60)


class Book:
    """What must be true of the queue, kept beside it."""

    def __init__(self):
        self.sent, self.acknowledged, self.purged = set(), set(), set()
        self.receipts = []  # (receipt, message, hidden until), newest last
        self.ended = set()  # receipts that were used up
        self.counts = {}


@given(RULES, STEPS)
@settings(max_examples=200, deadline=None)
def test_any_order_of_operations(rule, steps):
    with tempfile.TemporaryDirectory() as folder:
        clock, book = VirtualClock(), Book()
        made = {"clock": clock, "rule": rule, "visibility_timeout_ms": VISIBILITY_MS}
        queue = Queue(Path(folder, "a.queue"), **made, durable=False)
        for step, number in steps:
            if step == "reopen":
                queue.close()
                queue = Queue(Path(folder, "a.queue"), **made, durable=False)
            one_step(queue, clock, book, step, number)
            look(queue, book, redriven=step == "redrive")
        queue.close()


def one_step(queue, clock, book, step, number):
    if step == "send":
        book.sent.add(queue.send("x", delay_ms=number))
    elif step == "receive":
        before = [message.id for message in queue.peek(1000)]
        batch = queue.receive_batch(1 + number % 3)
        ids = [message.id for message in batch]
        assert ids == sorted(ids)
        assert set(ids) <= set(before)
        for message in batch:
            assert message.receipt not in {receipt for receipt, _, _ in book.receipts}
            book.ended |= {r for r, owner, _ in book.receipts if owner == message.id}
            book.receipts.append((message.receipt, message.id, clock() + VISIBILITY_MS))
    elif step == "time":
        clock.advance(number)
    elif step == "death":
        queue.give_back("consumer")
        book.ended |= {receipt for receipt, _, _ in book.receipts}
    elif step == "redrive":
        queue.dead_letters.redrive()
    elif step == "purge dead":
        book.purged |= set(queue.dead_letters.purge())
    elif step != "reopen" and book.receipts:
        use_a_receipt(queue, clock, book, step, number % len(book.receipts))


def use_a_receipt(queue, clock, book, step, place):
    receipt, message, until_ms = book.receipts[place]
    good = receipt not in book.ended and clock() < until_ms
    use = {
        "acknowledge": queue.acknowledge,
        "release": queue.release,
        "fail": lambda receipt: queue.release(receipt, 5, failed=True),
        "extend": lambda receipt: queue.extend(receipt, 50),
        "dead-letter": queue.dead_letter,
    }[step]
    if not good:
        with pytest.raises(ReceiptRefused):
            use(receipt)
        return
    use(receipt)
    if step == "extend":
        book.receipts[place] = (receipt, message, clock() + 50)
    else:
        book.ended.add(receipt)
    if step == "acknowledge":
        book.acknowledged.add(message)


def look(queue, book, redriven):
    seen = queue.statistics()
    alive = {message.id: message for message in queue.peek(1000)}
    dead = {message.id: message for message in queue.dead_letters.peek(1000)}
    # Each message is in one place, and none is lost.
    assert book.sent == set(alive) | set(dead) | book.acknowledged | book.purged
    assert not set(alive) & set(dead)
    assert not book.acknowledged & (set(alive) | set(dead))
    assert seen.waiting + seen.delayed + seen.in_flight == len(alive)
    assert (seen.dead_letters, seen.sent) == (len(dead), len(book.sent))
    # Counts only grow, but for a redrive; deliveries only grow, without exception.
    for message in (*alive.values(), *dead.values()):
        count, deliveries = book.counts.get(message.id, (0, 0))
        assert message.receive_count >= count or redriven
        assert message.deliveries >= deliveries
        book.counts[message.id] = (message.receive_count, message.deliveries)
