"""The lesson's repeatable stream: the same numbers on every machine, and a short cycle."""

from math import prod
from typing import Any

import numpy as np

from lessons_lib.errors import whole_number

__all__ = ["LessonStream", "StreamExhausted", "cycle_of"]

MULTIPLIER = 1103515245.0
INCREMENT = 12345.0
MODULUS = 2147483648  # 2**31


class StreamExhausted(RuntimeError):
    """Raised when the next number would repeat an earlier one."""


def _next_state(state: float) -> float:
    # The product needs up to 61 bits and a double holds 53: the rounding is part of the
    # published definition. The mask is the modulo, on an integer that is already rounded.
    return float(int(state * MULTIPLIER + INCREMENT) & (MODULUS - 1))


class LessonStream:
    """Draw the published sequence x ← (1103515245·x + 12345) mod 2³¹, u = x / 2³¹, in doubles.

    It has the `.random(size)` face of a NumPy `Generator`. It serves the published figures
    only: it runs into a cycle of at most some thousand numbers (see `cycle_of`), and a
    repeating generator re-synchronises the consumers that jitter was to spread. So it
    refuses to be drawn past its first repeat. Fleets and labs use `numpy.random.default_rng`.

    Args:
        seed: the first state, a whole number from 0 to 2³¹ - 1.
        allow_repeats: True lets it run round its cycle, to show what that does.
    """

    def __init__(self, seed: int = 20250720, *, allow_repeats: bool = False) -> None:
        self.seed = whole_number("seed", seed, low=0, high=MODULUS - 1)
        self.allow_repeats = allow_repeats
        self._state = float(self.seed)
        self._seen: dict[float, int] = {}

    def random(self, size: int | tuple[int, ...] | None = None) -> Any:
        """Return the next number in [0, 1), or an array of them filled row by row.

        Args:
            size: None for one float, or the shape of the array.

        Raises:
            StreamExhausted: a number would repeat; nothing is drawn then.
        """
        if size is None:
            return self._draw(1)[0]
        shape = (size,) if np.isscalar(size) else tuple(size)
        shape = tuple(whole_number("size", length, low=0) for length in shape)
        return np.array(self._draw(prod(shape)), dtype=np.float64).reshape(shape)

    def _draw(self, count: int) -> list[float]:
        state, seen, drawn = self._state, self._seen, []
        before = len(seen)
        for _ in range(count):
            state = _next_state(state)
            if not self.allow_repeats:
                if state in seen:
                    first = seen[state]
                    for key in list(seen)[before:]:  # a refused call leaves the stream as it was
                        del seen[key]
                    raise StreamExhausted(
                        f"the stream of seed {self.seed} repeats: draw {before + len(drawn) + 1} "
                        f"would be draw {first} again. {count} more were asked for, "
                        f"{before} had been drawn. For more, use "
                        f"numpy.random.default_rng({self.seed}); to see the repetition, "
                        f"LessonStream({self.seed}, allow_repeats=True)"
                    )
                seen[state] = len(seen) + 1
            drawn.append(state / MODULUS)
        self._state = state
        return drawn


def cycle_of(seed: int) -> tuple[int, int]:
    """Return how long the stream runs before its cycle, and how long the cycle is.

    The states are numbered by draws, the seed being state 0. The state after
    lead_in + period draws is the state after lead_in draws.

    Args:
        seed: the stream's seed, a whole number from 0 to 2³¹ - 1.

    Returns:
        (lead_in, period), both counted in draws.
    """
    state = float(whole_number("seed", seed, low=0, high=MODULUS - 1))
    position = {state: 0}
    while True:
        state = _next_state(state)
        if state in position:
            return position[state], len(position) - position[state]
        position[state] = len(position)
