"""Show an error on purpose, and fail if it does not come."""

from collections.abc import Callable
from typing import Any

__all__ = ["expect_error"]


def expect_error(action: Callable[[], Any], *parts: str) -> str:
    """Run `action`, show the error it must raise, and fail if it raises none.

    Args:
        action: a function without arguments.
        parts: words the message must contain.

    Returns:
        The error's kind and message, one line.

    Raises:
        AssertionError: nothing was raised, or the message lacks one of the parts.
    """
    try:
        value = action()
    except Exception as error:
        line = f"{type(error).__name__}: {error}"
        missing = [part for part in parts if part not in line]
        if missing:
            raise AssertionError(f"the error lacks {missing}: {line}") from error
        return line
    raise AssertionError(f"an error was expected here, but the call returned {value!r}")
