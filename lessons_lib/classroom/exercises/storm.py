"""Exercises of notebook 06, retry storms."""

from collections.abc import Sequence

from lessons_lib.classroom.exercises.exercise import Exercise, Mistake

__all__ = ["calls_at_bottom", "largest_budget", "retries_allowed"]

calls_at_bottom = Exercise(
    name="calls at the bottom",
    right=lambda layers, retries: (retries + 1) ** layers,
    cases=[(3, 3), (5, 2), (1, 4), (4, 0), (2, 5)],
    mistakes=[
        Mistake(
            lambda layers, retries: retries**layers,
            "you count retries only. How many attempts does a layer with no retries make?",
        ),
        Mistake(
            lambda layers, retries: (retries + 1) * layers,
            "you add the layers up. Each attempt of the upper layer starts the lower one anew.",
        ),
        Mistake(
            lambda layers, retries: layers ** (retries + 1),
            "base and exponent have changed places. What happens if there is only one layer?",
        ),
        Mistake(
            lambda layers, retries: (retries + 1) ** (layers - 1),
            "one layer is missing: with a single layer there are retries too.",
        ),
        Mistake(
            lambda layers, retries: (retries + 1) ** (layers + 1),
            "one layer too many: the service at the bottom does not retry.",
        ),
        Mistake(
            lambda layers, retries: sum((retries + 1) ** n for n in range(1, layers + 1)),
            "you count the calls between all layers together. Only the last level is asked for.",
        ),
    ],
    praise="Attempts multiply from layer to layer; that is why only one layer should retry.",
)


def _pot(events: Sequence[str], price: int, cap: int, *, begin: int | None = None) -> int:
    coins, allowed = cap if begin is None else begin, 0
    for event in events:
        if event == "call":
            coins = min(cap, coins + 1)
        elif coins >= price:
            coins -= price
            allowed += 1
    return allowed


def _no_cap(events: Sequence[str], price: int, cap: int) -> int:
    coins, allowed = cap, 0
    for event in events:
        coins += event == "call"
        if event == "failure" and coins >= price:
            coins, allowed = coins - price, allowed + 1
    return allowed


def _more_than(events: Sequence[str], price: int, cap: int) -> int:
    coins, allowed = cap, 0
    for event in events:
        if event == "call":
            coins = min(cap, coins + 1)
        elif coins > price:
            coins, allowed = coins - price, allowed + 1
    return allowed


def _refused_pay_too(events: Sequence[str], price: int, cap: int) -> int:
    coins, allowed = cap, 0
    for event in events:
        if event == "call":
            coins = min(cap, coins + 1)
        else:
            allowed += coins >= price
            coins = max(0, coins - price)
    return allowed


def _into_debt(events: Sequence[str], price: int, cap: int) -> int:
    coins, allowed = cap, 0
    for event in events:
        if event == "call":
            coins = min(cap, coins + 1)
        elif coins > 0:
            coins, allowed = coins - price, allowed + 1
    return allowed


def _nothing_spent(events: Sequence[str], price: int, cap: int) -> int:
    coins, allowed = cap, 0
    for event in events:
        if event == "call":
            coins = min(cap, coins + 1)
        else:
            allowed += coins >= price
    return allowed


_CALLS, _FAILURES = ["call"], ["failure"]

retries_allowed = Exercise(
    name="retry budget",
    right=_pot,
    cases=[
        (_FAILURES * 5, 10, 30),
        (_CALLS * 100 + _FAILURES * 20, 10, 30),
        ((_CALLS + _FAILURES) * 100, 10, 50),
        (_FAILURES * 2 + _CALLS * 4 + _FAILURES + _CALLS * 6 + _FAILURES, 10, 10),
        (_FAILURES * 4, 10, 25),
        (_FAILURES * 3 + _CALLS * 9, 10, 5),
        ([], 10, 10),
    ],
    mistakes=[
        Mistake(
            lambda events, price, cap: _pot(events, price, cap, begin=0),
            "your pot starts empty, so the very first failure is never retried. It starts full.",
        ),
        Mistake(
            _no_cap,
            "your pot has no lid: after a quiet day it would pay for a storm. Where is `cap`?",
        ),
        Mistake(
            _more_than,
            "with exactly the price in the pot you refuse. Is that what the text says?",
        ),
        Mistake(
            _refused_pay_too,
            "a retry that is refused costs nothing. Yours empties the pot all the same.",
        ),
        Mistake(
            _into_debt,
            "your pot goes below zero: it pays as long as there is anything in it.",
        ),
        Mistake(
            _nothing_spent,
            "nothing is ever taken out, so a full pot pays for any number of retries.",
        ),
        Mistake(
            lambda events, price, cap: sum(event == "failure" for event in events),
            "every failure gets its retry. That is the storm.",
        ),
        Mistake(
            lambda events, price, cap: sum(event == "call" for event in events) // price,
            "that is the long-term share. The pot also holds coins at the start, and has a lid.",
        ),
    ],
    praise="A pot, a price and a lid: that is the whole token bucket.",
)


def _percent(capacity: int, new_calls: int, layers: int) -> float:
    return 100 * ((capacity / new_calls) ** (1 / layers) - 1)


largest_budget = Exercise(
    name="largest budget",
    right=lambda capacity, new_calls, layers: int(_percent(capacity, new_calls, layers)),
    cases=[(300, 280, 1), (300, 240, 3), (1000, 600, 2), (500, 90, 1), (300, 150, 5), (310, 299, 2), (300, 299, 2)],
    mistakes=[
        Mistake(
            lambda capacity, new_calls, layers: int(_percent(capacity, new_calls, 1)),
            "right for one layer. What do three layers of 10 % come to at the bottom?",
        ),
        Mistake(
            lambda capacity, new_calls, layers: int(_percent(capacity, new_calls, 1) / layers),
            "you share the room out by dividing. But layers multiply, they do not add.",
        ),
        Mistake(
            lambda capacity, new_calls, layers: int(_percent(capacity, new_calls, layers)) + 1,
            "rounded up, the load passes the capacity by a little, and a little is enough.",
        ),
        Mistake(
            lambda capacity, new_calls, layers: int(
                100 * (1 - (new_calls / capacity) ** (1 / layers))
            ),
            "you took the free share of the capacity. The budget is a share of the new calls.",
        ),
        Mistake(
            lambda capacity, new_calls, layers: int(_percent(capacity, new_calls, layers)) + 100,
            "that is the whole load in per cent. The budget is what the retries add to it.",
        ),
        Mistake(
            lambda capacity, new_calls, layers: _percent(capacity, new_calls, layers) / 100,
            "that is a fraction; the question asks for whole per cent.",
        ),
        Mistake(
            _percent,
            "the size is right. Make whole per cent of it, on the safe side.",
        ),
    ],
    praise="With this budget a storm cannot live: even if everything fails, the load stays "
    "within the capacity.",
)  # fmt: skip
