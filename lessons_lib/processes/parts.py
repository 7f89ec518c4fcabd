"""What a graceful shutdown is made of, by name: any of it can be left out, to see what is lost."""

from collections.abc import Collection

from lessons_lib.errors import one_of

__all__ = ["PARTS", "checked_parts"]

PARTS = {
    "handler": "a handler for SIGTERM and SIGINT; without it the signal ends the process at once",
    "drain": "phase 1: not ready, but everything is still served while the load balancer notices",
    "announcement": "phase 1: answers say `Connection: close`, so clients stop using the connection",
    "idle closing": "phase 2: keep-alive connections that carry no request are closed",
    "waiting": "phase 3: running requests are finished",
    "limit": "phase 4: what has not let go after the limit is cut",
    "daemon timer": "phase 4: the limit's timer does not keep the process alive",
}


def checked_parts(without: Collection[str]) -> frozenset[str]:
    """Return the parts to leave out as a set.

    Args:
        without: names from `PARTS`; one name alone may be given as text.

    Raises:
        ValueError: there is no such part.
    """
    names = [without] if isinstance(without, str) else without
    return frozenset(one_of("without", name, tuple(PARTS)) for name in names)
