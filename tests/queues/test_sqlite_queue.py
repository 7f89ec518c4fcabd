"""The durable queue on a virtual clock: counts, receipts, visibility, dead letters."""

import json

import pytest

from lessons_lib.queues.clocks import VirtualClock
from lessons_lib.queues.conventions import Rule
from lessons_lib.queues.queue_errors import ReceiptRefused
from lessons_lib.queues.sqlite_queue import Queue


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def queue(tmp_path, clock):
    with Queue(tmp_path / "a.queue", clock=clock, visibility_timeout_ms=30) as queue:
        yield queue


def events(queue, message=None):
    return [(e.at_ms, e.actor, e.event, e.message, e.attempt) for e in queue.history.log(message)]


def test_send_receive_acknowledge(queue):
    assert queue.receive() is None
    assert queue.send({"shipment": 1}) == 1
    assert queue.send("plain text") == 2
    first, second = queue.receive(), queue.receive()
    assert (first.id, first.json(), first.receive_count, first.attempt) == (
        *(1, {"shipment": 1}),
        *(1, 1),
    )
    assert second.body == "plain text"
    assert queue.receive() is None
    queue.acknowledge(second.receipt)
    queue.acknowledge(first.receipt)
    assert queue.statistics().sent == 2
    assert queue.peek() == []


def test_order_is_the_order_sent_also_after_coming_back(queue):
    queue.send_batch(range(5))
    first, second = queue.receive_batch(2)
    queue.release(second.receipt)
    queue.release(first.receipt)
    assert [message.id for message in queue.receive_batch(10)] == [1, 2, 3, 4, 5]


def test_a_batch_is_sent_whole_or_not_at_all(queue):
    with pytest.raises(TypeError, match="not JSON serializable"):
        queue.send_batch(["fine", object()])
    assert queue.statistics().waiting == 0
    assert queue.send_batch([]) == []


def test_a_delay_hides_a_message_at_first(queue, clock):
    queue.send("later", delay_ms=10)
    queue.send("now")
    assert queue.receive().body == "now"
    assert queue.receive() is None
    assert queue.statistics().delayed == 1
    clock.until(10)
    assert queue.receive().body == "later"


def test_visibility_expiry_30_against_work_of_45(queue, clock):
    # V = 30, P = 45: the second delivery comes at t = 30 and both work until 45.
    queue.send("slow")
    first = queue.receive()
    clock.until(29)
    assert queue.receive() is None
    clock.until(30)
    second = queue.receive()
    assert (second.id, second.attempt, second.receive_count) == (1, 2, 2)
    clock.until(45)
    with pytest.raises(ReceiptRefused, match="was delivered again \\(delivery 2\\)") as refused:
        queue.acknowledge(first.receipt)
    assert refused.value.reason == "delivered again"
    assert queue.statistics().in_flight == 1, "the late acknowledgement must not delete it"
    queue.acknowledge(second.receipt)
    assert events(queue) == [
        (0, "producer", "sent", 1, None),
        (0, "queue", "counted", 1, 1),
        (0, "consumer", "delivered", 1, 1),
        (30, "queue", "expired", 1, 1),
        (30, "queue", "counted", 1, 2),
        (30, "consumer", "delivered", 1, 2),
        (45, "consumer", "acknowledged", 1, 2),
    ]


def test_the_exact_millisecond_of_expiry(queue, clock):
    queue.send("x")
    receipt = queue.receive().receipt
    clock.until(30)
    with pytest.raises(ReceiptRefused, match="expired 0 ms ago: it was hidden until 30 ms"):
        queue.acknowledge(receipt)
    queue.send("y")
    receipt = queue.receive_batch(2)[1].receipt
    clock.until(59)
    queue.acknowledge(receipt)


def test_prefetch_ten_work_5_visibility_30(queue, clock):
    # Messages 7 to 10 would begin at t = 30 or later: they have expired in the buffer.
    queue.send_batch(range(10))
    begun = []
    for message in queue.receive_batch(10, buffered=True):
        if message.id >= 7:
            assert clock() >= 30
            with pytest.raises(ReceiptRefused, match="expired 0 ms ago"):
                queue.begin(message.receipt)
            continue
        queue.begin(message.receipt)
        begun.append(message.id)
        clock.advance(5)
        if clock() < 30:
            queue.acknowledge(message.receipt)
    assert begun == [1, 2, 3, 4, 5, 6]
    assert [message.id for message in queue.receive_batch(10)] == [6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("visibility_ms", "work_ms"),
    [(3_600_000, 7_200_000), (360_000, 540_000)],  # ETA 2 h, V 1 h; rescue 6 min, job 9 min
)
def test_hold_longer_than_hidden_is_a_duplicate(queue, clock, visibility_ms, work_ms):
    queue.send("x")
    queue.receive(visibility_timeout_ms=visibility_ms)
    clock.until(visibility_ms - 1)
    assert queue.receive() is None
    clock.advance(1)
    assert clock() < work_ms
    assert queue.receive().attempt == 2


def test_extend_hides_from_now_on_and_is_not_remembered(queue, clock):
    queue.send("x")
    first = queue.receive()
    clock.until(20)
    assert queue.extend(first.receipt, 100) == 120
    clock.until(119)
    assert queue.receive() is None
    clock.until(120)
    with pytest.raises(ReceiptRefused, match="expired 0 ms ago"):
        queue.extend(first.receipt, 100)
    assert queue.receive().hidden_until_ms == 150
    assert queue.extend("1:2") == 150


def test_release_with_a_delay_waits_in_the_queues_time(queue, clock):
    queue.send_batch(["waits", "other"])
    first = queue.receive()
    queue.release(first.receipt, delay_ms=500, failed=True)
    assert queue.receive().body == "other"
    clock.until(499)
    assert [m.body for m in queue.receive_batch(5)] == ["other"]
    clock.until(500)
    assert queue.receive().attempt == 2
    with pytest.raises(ReceiptRefused, match="delivered again"):
        queue.release(first.receipt)


def test_refusals_say_why(queue, clock):
    queue.send_batch(["a", "b", "c"])
    gone, returned, dead = queue.receive_batch(3)
    queue.acknowledge(gone.receipt)
    queue.release(returned.receipt)
    queue.dead_letter(dead.receipt, "no use")
    cases = {
        gone.receipt: ("gone", "was acknowledged or purged before"),
        returned.receipt: ("given back", "the message was given back"),
        dead.receipt: ("dead-lettered", "is in the dead-letter queue"),
        "9:1": ("unknown", "no message 9 was ever sent here"),
        "2:7": ("unknown", "there was no delivery 7 of message 2"),
        "nonsense": ("unknown", "'nonsense' is not a receipt of this queue"),
        None: ("unknown", "None is not a receipt"),
    }
    for receipt, (reason, words) in cases.items():
        for method in (queue.acknowledge, queue.release, queue.dead_letter, queue.begin):
            with pytest.raises(ReceiptRefused, match=words) as refused:
                method(receipt)
            assert refused.value.reason == reason


def test_give_back_returns_what_one_consumer_holds(tmp_path, clock):
    path = tmp_path / "a.queue"
    one, two = Queue(path, clock=clock, name="one"), Queue(path, clock=clock, name="two")
    one.send_batch("abcd")
    held = one.receive_batch(2)
    others = two.receive_batch(2)
    assert two.give_back("one") == [1, 2]
    assert two.give_back("one") == []
    with pytest.raises(ReceiptRefused, match="was given back"):
        one.acknowledge(held[0].receipt)
    two.acknowledge(others[0].receipt)
    assert [message.id for message in two.receive_batch(9)] == [1, 2]


# Dead letters -------------------------------------------------------------------------------


def worked_on_until_isolated(queue, way):
    """Fail until the queue isolates the message; return how often it was worked on."""
    for works in range(50):
        message = queue.receive()
        if message is None:
            return works
        if way == "error":
            queue.release(message.receipt, failed=True)
        elif way == "death":
            queue.give_back("consumer")
        else:
            queue.clock.advance(30)
    raise AssertionError("never isolated")


@pytest.mark.parametrize("way", ["error", "death", "expiry"])
@pytest.mark.parametrize("threshold", [1, 2, 3])
@pytest.mark.parametrize(("convention", "more"), [("exceeds", 0), ("RabbitMQ", 1)])
def test_the_queue_isolates(tmp_path, clock, convention, more, threshold, way):
    rule = Rule(threshold, convention=convention)
    queue = Queue(tmp_path / "a.queue", clock=clock, rule=rule, visibility_timeout_ms=30)
    queue.send("poison")
    assert worked_on_until_isolated(queue, way) == threshold + more
    (letter,) = queue.dead_letters.peek()
    assert letter.reason == f"its count {threshold + 1} exceeds {threshold}"
    assert letter.deliveries == threshold + more
    assert len(queue.dead_letters) == 1


@pytest.mark.parametrize("convention", ["exceeds", "RabbitMQ"])
def test_only_errors_count_if_the_rule_says_so(tmp_path, clock, convention):
    rule = Rule(1, "caught error", convention)
    queue = Queue(tmp_path / "a.queue", clock=clock, rule=rule, visibility_timeout_ms=30)
    queue.send("poison")
    with pytest.raises(AssertionError, match="never isolated"):
        worked_on_until_isolated(queue, "death")
    assert worked_on_until_isolated(queue, "error") == 2


def test_reaches_is_compared_by_the_consumer(tmp_path, clock):
    queue = Queue(tmp_path / "a.queue", clock=clock, rule=Rule(2))
    queue.send("poison")
    assert queue.receive().count == 1
    queue.give_back("consumer")
    second = queue.receive()
    assert second.count == 2
    queue.dead_letter(second.receipt, "its count reached 2")
    assert queue.dead_letters.peek()[0].reason == "its count reached 2"


def test_redrive_starts_the_count_anew_and_keeps_the_history(tmp_path, clock):
    # With the count kept, the first receive would make 2 > 1 and send it straight back.
    rule = Rule(1, convention="exceeds")
    queue = Queue(tmp_path / "a.queue", clock=clock, rule=rule)
    queue.send_batch(["poison", "behind"])
    old = queue.receive()
    queue.give_back("consumer")
    assert queue.receive().body == "behind"
    assert queue.dead_letters.redrive() == [1]
    again = queue.receive()
    assert (again.id, again.receive_count, again.attempt) == (1, 1, 2)
    with pytest.raises(ReceiptRefused):
        queue.acknowledge(old.receipt)
    queue.acknowledge(again.receipt)
    assert [event[2] for event in events(queue, message=1)] == [
        *("sent", "counted", "delivered", "returned", "counted", "dead-lettered"),
        *("redriven", "counted", "delivered", "acknowledged"),
    ]


def test_redrive_and_purge_of_some(queue):
    queue.send_batch("abc")
    for message in queue.receive_batch(3):
        queue.dead_letter(message.receipt)
    assert queue.dead_letters.redrive([2, 99]) == [2]
    assert queue.dead_letters.purge([1]) == [1]
    assert [letter.id for letter in queue.dead_letters.peek()] == [3]
    assert queue.purge() == 1
    assert queue.statistics().dead_letters == 1
    assert queue.dead_letters.redrive() == [3]
    assert queue.dead_letters.redrive() == []


def test_brighter_4341_the_count_survives_a_requeue_and_a_new_process(tmp_path, clock):
    path = tmp_path / "a.queue"
    for expected in (1, 2, 3):
        with Queue(path, clock=clock) as queue:
            if expected == 1:
                queue.send("x")
            message = queue.receive()
            assert message.receive_count == expected
            queue.release(message.receipt)


def test_newchat_346_a_delay_keeps_a_limit_from_burning_at_once(tmp_path, clock):
    queue = Queue(tmp_path / "a.queue", clock=clock, rule=Rule(5, convention="exceeds"))
    queue.send("x")
    waits = []
    while message := queue.receive():
        clock.advance(10)
        queue.release(message.receipt, delay_ms=1000, failed=True)
        clock.advance(1000)
        waits.append(clock())
    assert len(waits) == 5
    assert waits[-1] == 5 * 1010


# Looking ------------------------------------------------------------------------------------


def test_looking_counts_nothing(queue, clock):
    queue.send_batch("ab")
    queue.send("c", delay_ms=100)
    queue.receive()
    clock.until(7)
    for _ in range(3):
        seen = queue.statistics()
        assert [message.receive_count for message in queue.peek()] == [1, 0, 0]
    assert (seen.waiting, seen.delayed, seen.in_flight, seen.dead_letters) == (1, 1, 1, 0)
    assert seen.oldest_waiting_ms == 7
    assert [message.holder for message in queue.peek(2)] == ["consumer", None]


def test_purge_deletes_held_ones_too(queue):
    queue.send_batch("abc")
    held = queue.receive()
    assert queue.purge() == 3
    with pytest.raises(ReceiptRefused, match="acknowledged or purged"):
        queue.acknowledge(held.receipt)
    assert queue.send("next") == 4, "numbers are never used twice"


def test_history_is_an_event_table(queue):
    queue.send("x")
    queue.acknowledge(queue.receive().receipt)
    table = queue.history.table()
    assert list(table.columns) == ["at_ms", "actor", "event", "message", "attempt"]
    assert list(table.event) == ["sent", "counted", "delivered", "acknowledged"]


def test_history_can_be_left_out(tmp_path):
    queue = Queue(tmp_path / "a.queue", keep_history=False, durable=False)
    queue.send("x")
    assert queue.history.log() == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda q: q.send("x", delay_ms=-1), "delay_ms must be at least 0, got -1"),
        (lambda q: q.receive(visibility_timeout_ms=0), "visibility_timeout_ms must be at least 1"),
        (lambda q: q.receive_batch(0), "limit must be at least 1, got 0"),
        (lambda q: q.peek(0), "limit must be at least 1, got 0"),
        (lambda q: q.release("1:1", delay_ms=0.5), "delay_ms must be a whole number, got 0.5"),
    ],
)
def test_bad_arguments_are_refused_in_words(queue, call, words):
    with pytest.raises(ValueError, match=words):
        call(queue)


def test_a_virtual_clock_never_goes_back(clock):
    clock.advance(5)
    with pytest.raises(ValueError, match="at_ms must be at least 5, got 4"):
        clock.until(4)
    with pytest.raises(ValueError, match="ms must be at least 0, got -1"):
        clock.advance(-1)


def test_bodies_come_back_as_they_were(queue):
    for body in ("", "ä€𝄞\n\0x", '{"a": 1}', "x" * 1_000_000):
        queue.send(body)
        assert queue.receive().body == body
    for value in ({"a": [1, None]}, [1.5], 7, None, True):
        queue.send(value)
        message = queue.receive()
        assert message.json() == json.loads(json.dumps(value))
