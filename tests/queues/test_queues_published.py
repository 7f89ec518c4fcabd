"""The published figures of experiment P, and what real brokers were measured to do."""

import json
from pathlib import Path

import pytest

from lessons_lib.queues.counters import run_consumer
from lessons_lib.queues.outcome import FIGURES

PUBLISHED = json.loads((Path(__file__).parents[1] / "published.json").read_text("utf-8"))["poison"]


@pytest.mark.parametrize("position", ["caught error", "delivery"])
def test_the_published_table(position):
    setup = PUBLISHED["setup"]
    run = run_consumer(
        messages=setup["messages"],
        deadly=set(setup["deadly"]),
        threshold=setup["threshold"],
        max_starts=setup["max_starts"],
        count_on=position,
    )
    key = {"caught error": "on_caught_error", "delivery": "at_delivery"}[position]
    assert dict(zip(FIGURES, run.figures, strict=True)) == PUBLISHED[key]
    assert run.handed_out == run.deliveries


def test_the_published_table_is_what_you_get_without_arguments():
    assert run_consumer().figures == (3, 7, 2, 4, 1, 0)
    assert run_consumer().ended == "queue empty"
    assert run_consumer(count_on="caught error").ended == "stopped after 12 starts"


@pytest.mark.parametrize("starts", [1, 2, 12, 40])
def test_twelve_is_only_where_the_experiment_was_stopped(starts):
    run = run_consumer(count_on="caught error", max_starts=starts)
    assert run.figures == (starts, starts + 2, starts, 2, 0, 3)


@pytest.mark.parametrize(
    ("count_on", "figures"),
    [("caught error", (1, 8, 0, 4, 1, 0)), ("delivery", (1, 7, 0, 4, 1, 0))],
)
def test_caught_errors_differ_by_one_delivery_only(count_on, figures):
    assert run_consumer(deadly=(), failing={3}, count_on=count_on).figures == figures


@pytest.mark.parametrize(
    ("convention", "limit", "prefetch", "figures", "innocents"),
    [
        # RabbitMQ quorum queue, x-delivery-limit 1 and 2
        ("RabbitMQ", 1, 1, (3, 6, 2, 4, 1, 0), ()),
        ("RabbitMQ", 2, 1, (4, 7, 3, 4, 1, 0), ()),
        ("RabbitMQ", 1, 10, (3, 4, 2, 2, 3, 0), (4, 5)),
        ("RabbitMQ", 2, 10, (4, 5, 3, 2, 3, 0), (4, 5)),
        # Amazon SQS's interface (moto), maxReceiveCount 2 and 3
        ("exceeds", 2, 1, (3, 6, 2, 4, 1, 0), ()),
        ("exceeds", 3, 1, (4, 7, 3, 4, 1, 0), ()),
    ],
)
def test_measured_brokers(convention, limit, prefetch, figures, innocents):
    run = run_consumer(threshold=limit, convention=convention, prefetch=prefetch)
    assert run.figures == figures
    assert run.innocents == innocents


def test_quorum_queue_without_a_limit_is_the_endless_loop():
    # No limit in reach: what the counter says is not compared with anything.
    run = run_consumer(threshold=1000, convention="RabbitMQ")
    assert run.figures == (12, 14, 12, 2, 0, 3)
    assert run.counts == {1: 0, 2: 0, 3: 12, 4: 0, 5: 0}
