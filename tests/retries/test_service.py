"""The limited service: equal to a request-by-request reference, and its lessons hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons_lib.retries.arrivals import ClosedArrivals, OpenArrivals
from lessons_lib.retries.breaker import Breaker
from lessons_lib.retries.budgets import ASK_AFTER, Budget
from lessons_lib.retries.jitter import FullJitter, NoJitter
from lessons_lib.retries.policy import Policy
from lessons_lib.retries.schedules import Exponential, Fixed, Immediate
from lessons_lib.retries.service import Service, run_service
from lessons_lib.retries.tokens import TokenBucket
from lessons_lib.retries.trip import FailureShare, InARow

STORM = Policy(Exponential(500, 2, 30_000), FullJitter(), Budget(attempts=4))


def reference(service, new_per_bucket, policy, think_ms, *, timeout_ms):
    """Return rows of (sent, succeeded, wasted, gave up, queue) with one dict per request."""
    step = service.bucket_ms
    patience = timeout_ms // step
    tokens = policy.tokens.fresh() if policy.tokens else None
    new_per_bucket = list(new_per_bucket)
    backing_off, queue, rows = [], [], []
    credit, down_until = 0.0, 0
    for bucket in range(len(new_per_bucket)):
        now, end = bucket * step, (bucket + 1) * step
        down = now < down_until or service.outage_ms[0] <= now < service.outage_ms[1]
        failed, ended = [], 0
        for request in queue:
            if request["awaited"] and bucket - request["sent"] >= patience:
                request["awaited"] = False
                failed.append(request["call"])
        due = [call for call in backing_off if call["due"] < end]
        backing_off = [call for call in backing_off if call["due"] >= end]
        fresh = [{"begin": now, "attempt": 0} for _ in range(new_per_bucket[bucket])]
        if tokens and fresh:
            tokens.started(now, len(fresh))
        sending = due + fresh
        for call in sending:
            call["attempt"] += 1
        if down:
            failed += [request["call"] for request in queue if request["awaited"]]
            queue = []
            failed += sending
        else:
            for call in sending:
                if service.queue_limit is not None and len(queue) >= service.queue_limit:
                    failed.append(call)
                else:
                    queue.append({"call": call, "sent": bucket, "awaited": True})
        succeeded = wasted = 0
        if not down:
            slower = 1 + service.slowdown * len(queue) / service.capacity
            credit = credit % 1 + service.capacity / slower
            for _ in range(min(int(credit), len(queue))):
                request = queue.pop(0)
                if request["awaited"]:
                    succeeded += 1
                    ended += 1
                    if tokens:
                        tokens.succeeded(end, request["call"]["attempt"])
                else:
                    wasted += 1
            if service.collapse_at is not None and len(queue) > service.collapse_at:
                failed += [request["call"] for request in queue if request["awaited"]]
                queue = []
                down_until = end + service.restart_ms
        gave_up = 0
        for call in failed:
            wait = policy.schedule.wait(call["attempt"])
            latest = policy.budget.latest_start(call["begin"], timeout_ms)
            again = call["attempt"] < policy.budget.attempts
            again = again and (latest is None or end + wait <= latest)
            if again and (tokens is None or tokens.may_retry(end)):
                call["due"] = end + wait
                backing_off.append(call)
            else:
                gave_up += 1
        ended += gave_up
        if think_ms is not None and (end + think_ms) // step < len(new_per_bucket):
            new_per_bucket[(end + think_ms) // step] += ended
        rows.append((len(sending), succeeded, wasted, gave_up, len(queue)))
    return rows


@settings(max_examples=80, deadline=None)
@given(
    capacity=st.integers(1, 6),
    queue_limit=st.sampled_from([None, 3, 20]),
    slowdown=st.sampled_from([0, 0.3]),
    collapse_at=st.sampled_from([None, 8]),
    outage=st.sampled_from([(0, 0), (500, 1500)]),
    per_second=st.sampled_from([8, 25, 60]),
    closed=st.booleans(),
    schedule=st.sampled_from([Immediate(), Fixed(150), Exponential(100, 2, 900)]),
    budget=st.sampled_from([Budget(1), Budget(3), Budget(6, 1200), Budget(6, 1200, "finish by")]),
    tokens=st.sampled_from(
        [None, TokenBucket(ratio=0.2, cap=3), TokenBucket(deposit="on success")]
    ),
    timeout_ms=st.sampled_from([100, 300, 1000]),
)
def test_law_the_run_is_the_reference(
    capacity, queue_limit, slowdown, collapse_at, outage, per_second, closed, schedule, budget,
    tokens, timeout_ms,
):  # fmt: skip
    service = Service(
        capacity, queue_limit=queue_limit, slowdown=slowdown, collapse_at=collapse_at,
        restart_ms=400, outage_ms=outage,
    )  # fmt: skip
    arrivals = ClosedArrivals(per_second, 700) if closed else OpenArrivals(per_second)
    policy = Policy(schedule, NoJitter(), budget, tokens)
    rng = np.random.default_rng(1)
    run = run_service(service, arrivals, policy, rng, timeout_ms=timeout_ms, until_ms=4000)
    expected = reference(
        service,
        arrivals.counts(40, 100, rng).tolist(),
        policy,
        700 if closed else None,
        timeout_ms=timeout_ms,
    )
    names = ("sent", "succeeded", "wasted", "gave_up", "queue")
    assert np.column_stack([run.column(name) for name in names]).tolist() == [
        list(row) for row in expected
    ]


POLICIES = st.builds(
    Policy,
    schedule=st.sampled_from([Immediate(), Fixed(150), Exponential(100, 2, 900)]),
    jitter=st.sampled_from([NoJitter(), FullJitter()]),
    budget=st.sampled_from([Budget(1), Budget(4), Budget(9, 2000)]),
    tokens=st.sampled_from([None, TokenBucket(ratio=0.2, cap=3)]),
    breaker=st.sampled_from(
        [None, Breaker(InARow(3), pause_ms=300), Breaker(FailureShare(0.5, 500, 5), permits=2)]
    ),
)


@settings(max_examples=80, deadline=None)
@given(
    policy=POLICIES,
    seed=st.integers(0, 99),
    closed=st.booleans(),
    collapse_at=st.sampled_from([None, 10]),
)
def test_law_conservation(policy, seed, closed, collapse_at):
    service = Service(3, collapse_at=collapse_at, outage_ms=(1000, 2000), restart_ms=300)
    arrivals = ClosedArrivals(30, 500) if closed else OpenArrivals(25, "poisson")
    run = run_service(service, arrivals, policy, np.random.default_rng(seed), until_ms=6000)
    ended = np.cumsum(run.column("succeeded") + run.column("gave_up"))
    # In every bucket: calls begun = succeeded + given up + in progress.
    assert (np.cumsum(run.column("new")) == ended + run.column("in_progress")).all()
    # …and of requests: sent = turned away + given up on + answered + still in the queue.
    over = np.cumsum(run.column("rejected") + run.column("timed_out") + run.column("succeeded"))
    queued = run.column("in_progress") - run.column("backing_off")
    assert (np.cumsum(run.column("sent")) == over + queued).all()
    assert (queued >= 0).all()
    assert (queued <= run.column("queue")).all()
    assert run.total("served") == run.total("succeeded") + run.total("wasted")
    assert (run.column("served") <= 3).all()
    assert len(run.latency_ms) == run.total("succeeded")
    assert (run.latency_ms >= 100).all()
    budget_ms = policy.budget.time_ms
    if budget_ms is not None:  # started within the budget, answered within the timeout
        assert (run.latency_ms <= budget_ms + 1000 + 100).all()
    assert run.to_frame()["sent"].sum() == run.total("sent")
    if closed:
        assert (run.column("in_progress") <= 30).all()


# ---- the lessons ------------------------------------------------------------------------------


def outage_run(policy, arrivals=OpenArrivals(280)):  # noqa: B008
    service = Service(30, outage_ms=(10_000, 20_000))
    return run_service(service, arrivals, policy, np.random.default_rng(3), until_ms=120_000)


def test_metastable_the_trigger_is_gone_and_the_service_stays_down():
    run = outage_run(STORM)
    assert run.recovered_ms(20_000) is None
    frame = run.to_frame()
    last = frame[frame["from_ms"] >= 110_000]
    assert last["succeeded"].sum() == 0
    assert last["wasted"].sum() == last["served"].sum() > 0  # busy all the time, for nobody
    assert run.load > 3.5


def test_one_retry_doubles_280_a_second_to_560_and_300_are_too_few():
    # The example of "Metastable Failures in Distributed Systems" (HotOS 2021).
    once = Policy(Fixed(1000), NoJitter(), Budget.of_retries(1))
    run = outage_run(once)
    late = run.to_frame().query("from_ms >= 60_000")
    seconds = 60
    assert late["new"].sum() / seconds == pytest.approx(280, abs=1)
    assert late["sent"].sum() / seconds == pytest.approx(560, abs=1)
    assert late["succeeded"].sum() == 0


def test_without_retries_or_with_a_retry_budget_it_recovers():
    for policy in (
        Policy(budget=Budget(1)),
        Policy(STORM.schedule, STORM.jitter, STORM.budget, tokens=TokenBucket(ratio=0.1, cap=100)),
    ):
        run = outage_run(policy)
        assert run.recovered_ms(20_000) == 0
        assert run.load < 1.1


def test_a_closed_population_slows_down_by_itself():
    closed = outage_run(STORM, ClosedArrivals(280, 900))
    assert closed.recovered_ms(20_000) == 0
    assert closed.load < 1.2


def test_a_collapse_needs_its_trigger_only_once():
    service = Service(30, collapse_at=300)
    spike = OpenArrivals(200, "poisson", (10_000, 15_000), 3)

    def run(policy):
        return run_service(service, spike, policy, np.random.default_rng(3), until_ms=120_000)

    assert run(Policy(budget=Budget(1))).recovered_ms(15_000) < 5000
    stubborn = run(Policy(STORM.schedule, STORM.jitter, Budget(8)))
    assert stubborn.recovered_ms(15_000) is None


def test_slowdown_lowers_what_a_long_queue_gets_done():
    def run(slowdown):
        service = Service(10, slowdown=slowdown)
        policy = Policy(budget=Budget(1))
        return run_service(
            service, OpenArrivals(200), policy, np.random.default_rng(1), until_ms=10_000
        )

    assert run(0).total("served") == 1000
    assert run(0.1).total("served") < 600


def test_a_policy_can_be_run_twice_with_the_same_result():
    policy = Policy(
        Fixed(100), FullJitter(), Budget(5), TokenBucket(), Breaker(InARow(5), pause_ms=500)
    )
    first, second = (outage_run(policy, OpenArrivals(100, "poisson")) for _ in range(2))
    assert (first.counts == second.counts).all()
    assert first.total("refused") > 0


def test_regular_arrivals_lose_none():
    counts = OpenArrivals(7).counts(1000, 100, None)
    assert counts.sum() == 700
    assert set(np.unique(counts)) == {0, 1}
    spike = OpenArrivals(10, spike_ms=(1000, 2000), spike_factor=5).counts(30, 100, None)
    assert (spike[:10].sum(), spike[10:20].sum(), spike[20:].sum()) == (10, 50, 10)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Service(0), "capacity must be at least 1, got 0"),
        (lambda: Service(queue_limit=0), "queue_limit must be at least 1, got 0"),
        (lambda: OpenArrivals(pattern="odd"), "got 'odd'"),
        (lambda: ClosedArrivals(0), "clients must be at least 1, got 0"),
        (lambda: Policy(budget=Budget(time_ms=5)), "must name attempts"),
        (lambda: Policy(budget=Budget(3, 5, ASK_AFTER)), "asks before it waits"),
        (
            lambda: run_service(Service(), OpenArrivals(), STORM, None, timeout_ms=10),
            "timeout_ms must be at least 100, got 10",
        ),
    ],
)
def test_bad_settings_are_refused_in_words(make, words):
    with pytest.raises(ValueError, match=words):
        make()
