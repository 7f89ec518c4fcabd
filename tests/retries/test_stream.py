import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.retries.stream import LessonStream, StreamExhausted, cycle_of


def rounded(x):
    """One step, with the rounding to 53 bits spelled out in whole numbers."""
    product = x * 1103515245 + 0
    for addend in (0, 12345):  # the product is rounded, then the sum
        product += addend
        excess = max(0, product.bit_length() - 53)
        half, unit = 1 << (excess - 1) if excess else 0, 1 << excess
        low = product & (unit - 1)
        product -= low
        if excess and (low > half or (low == half and product & unit)):
            product += unit
    return product % 2**31


@given(st.integers(0, 2**31 - 1))
def test_the_stream_is_the_formula_in_double_precision(seed):
    x, draws = seed, []
    for _ in range(20):
        x = rounded(x)
        draws.append(x / 2**31)
    assert LessonStream(seed, allow_repeats=True).random(20).tolist() == draws


def test_the_shape_is_filled_row_by_row_and_a_scalar_is_a_float():
    one, other = LessonStream(), LessonStream()
    assert np.array_equal(one.random((3, 4)), other.random(12).reshape(3, 4))
    assert isinstance(one.random(), float)
    assert one.random(()).shape == ()


def test_cycles_are_as_published():
    assert cycle_of(20250720) == (7153, 10466)
    assert cycle_of(9)[1] == 220


def test_the_stream_stops_before_it_repeats_and_a_refused_call_draws_nothing():
    stream = LessonStream()
    stream.random(17_000)
    with pytest.raises(StreamExhausted, match="draw 17619 would be draw 7153 again"):
        stream.random(1000)
    rest = stream.random(618)
    assert len(rest) == 618
    with pytest.raises(StreamExhausted):
        stream.random()


def test_some_seeds_cannot_serve_one_experiment():
    with pytest.raises(StreamExhausted, match="seed 9 repeats"):
        LessonStream(9).random((200, 4))
    assert LessonStream(9, allow_repeats=True).random((200, 4)).shape == (200, 4)


def test_a_seed_inside_its_own_cycle_gives_every_number_once():
    lead_in, period = cycle_of(9)
    stream = LessonStream(9, allow_repeats=True)
    inside = int(stream.random(lead_in)[-1] * 2**31)
    assert cycle_of(inside) == (0, period)
    assert len(set(LessonStream(inside).random(period))) == period
    with pytest.raises(StreamExhausted):
        LessonStream(inside).random(period + 1)


@pytest.mark.parametrize("seed", [-1, 2**31, 1.5, "9", None, float("nan")])
def test_a_bad_seed_is_named(seed):
    with pytest.raises((TypeError, ValueError), match="seed must be"):
        LessonStream(seed)
