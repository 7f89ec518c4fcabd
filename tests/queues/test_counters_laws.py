"""Laws of the model consumer that hold for any load, rule and prefetch."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lessons_lib.queues.conventions import CONVENTIONS, COUNT_ON
from lessons_lib.queues.counters import run_consumer

KINDS = st.sampled_from(["none", "none", "none", "deadly", "failing", "malformed"])


@st.composite
def settings_of_a_run(draw):
    kinds = dict(enumerate(draw(st.lists(KINDS, max_size=9)), start=1))
    chosen = {
        name: {message for message, kind in kinds.items() if kind == name}
        for name in ("deadly", "failing", "malformed")
    }
    return {
        "messages": len(kinds),
        **chosen,
        "threshold": draw(st.integers(1, 5)),
        "count_on": draw(st.sampled_from(COUNT_ON)),
        "max_starts": draw(st.integers(1, 15)),
        "validate": draw(st.booleans()),
        "prefetch": draw(st.integers(1, 6)),
        "convention": draw(st.sampled_from(CONVENTIONS)),
    }


@given(settings_of_a_run())
@settings(max_examples=150, deadline=None)
def test_every_run(arguments):
    run = run_consumer(**arguments)
    messages, threshold = arguments["messages"], arguments["threshold"]
    harmless = set(range(1, messages + 1)) - arguments["deadly"] - arguments["failing"]
    killers = arguments["deadly"] | (set() if arguments["validate"] else arguments["malformed"])

    # Messages are conserved, and a state never skips: at every frame each is in one place.
    before = run.frames[0]
    for frame in run.frames[1:]:
        assert sorted(frame.states) == list(range(1, messages + 1))
        assert all(frame.counts[m] >= before.counts[m] for m in frame.counts)
        assert len(frame.where("in work")) <= 1
        assert len(frame.where("in work") + frame.where("held")) <= arguments["prefetch"]
        assert frame.at_ms >= before.at_ms
        assert set(frame.where("processed")) >= set(before.where("processed"))
        assert set(frame.where("dead-lettered")) >= set(before.where("dead-lettered"))
        before = frame
    assert run.processed + run.dead_lettered + run.left == messages

    # Every run ends within its bounds.
    assert 1 <= run.starts <= arguments["max_starts"]
    assert run.deaths <= run.starts
    assert run.deliveries <= messages * (threshold + 1) + run.deaths
    assert run.deliveries <= run.handed_out
    if run.ended == "queue empty":
        assert run.left == 0
        assert run.starts == run.deaths + 1
    else:
        assert run.starts == run.deaths == arguments["max_starts"]

    # Who dies of what.
    assert {event.message for event in run.log if event.event == "died"} <= killers
    assert set(run.ids("processed")) <= harmless
    assert not set(run.innocents) & (arguments["deadly"] | arguments["failing"])
    if arguments["count_on"] == "caught error":
        assert run.innocents == ()  # nobody is counted for a neighbour's crime
        assert all(run.counts[m] == 0 for m in killers)
    elif run.ended == "queue empty" and not killers:
        assert run.starts == 1


@given(settings_of_a_run(), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_isolation_is_monotone_and_ends_the_loop(arguments, more):
    arguments |= {"count_on": "delivery", "max_starts": 400, "prefetch": 1}
    run = run_consumer(**arguments)
    assert run.ended == "queue empty"
    later = run_consumer(**(arguments | {"threshold": arguments["threshold"] + more}))
    assert later.deaths >= run.deaths
    assert later.processed >= run.processed
