"""Checks of arguments that name the offending value and say what would be right."""

import math
from typing import Any

__all__ = ["one_of", "real_number", "whole_number"]


def _check_range(name: str, value: Any, low: float | None, high: float | None) -> None:
    if low is not None and value < low:
        raise ValueError(f"{name} must be at least {low}, got {value!r}")
    if high is not None and value > high:
        raise ValueError(f"{name} must be at most {high}, got {value!r}")


def real_number(
    name: str, value: Any, *, low: float | None = None, high: float | None = None
) -> float:
    """Return `value` as a float, or say in words why it cannot be one.

    Args:
        name: what the value is called in the caller's own signature, with its unit.
        value: anything; booleans, text, NaN and infinities are refused.
        low: smallest allowed value, or None.
        high: largest allowed value, or None.

    Raises:
        TypeError: the value is not a number.
        ValueError: the value is NaN, infinite or out of range.
    """
    if isinstance(value, bool) or not hasattr(value, "__float__") or isinstance(value, str):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a number in double precision") from None
    except TypeError:
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    _check_range(name, number, low, high)
    return number


def whole_number(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an int, or say in words why it cannot be one.

    A float that is whole (2000.0) is accepted; 2000.5 is not.

    Args:
        name: what the value is called in the caller's own signature, with its unit.
        value: anything.
        low: smallest allowed value, or None.
        high: largest allowed value, or None.

    Raises:
        TypeError: the value is not a number.
        ValueError: the value is not whole, or out of range.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    else:
        real = real_number(name, value)
        if not real.is_integer():
            raise ValueError(f"{name} must be a whole number, got {value!r}")
        number = int(real)
    _check_range(name, number, low, high)
    return number


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the allowed words, or list them.

    Raises:
        ValueError: the value is not in `allowed`.
    """
    if value not in allowed:
        choices = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    return value
