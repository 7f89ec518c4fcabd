"""Numbers in a lab's sentences and tables, with their unit."""

__all__ = ["count", "seconds"]


def seconds(ms: float) -> str:
    """Return milliseconds written in seconds: "0.5 s"."""
    return f"{ms / 1000:,.10g} s".replace(",", "\u2009") if ms < 1e12 else f"{ms / 1000:.3g} s"


def count(attempts: int | None) -> str:
    """Return a count, or "no end" for None."""
    return "no end" if attempts is None else str(attempts)
