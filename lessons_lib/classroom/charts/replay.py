"""One frame of a replay: where each message is, what its counter says, whether a process lives."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from lessons_lib.classroom.style import BAD, INK, PALE

__all__ = ["ReplayChart"]

PLACES = {
    "waiting": "queue",
    "held": "consumer",
    "in work": "consumer",
    "processed": "processed",
    "dead-lettered": "dead-letter queue",
}
COLUMNS = ["queue", "consumer", "processed", "dead-letter queue"]
LOOKS = {
    "waiting": ("white", INK),
    "held": ("#f0d9a8", INK),
    "in work": ("#e69f00", INK),
    "processed": ("#0072b2", "white"),
    "dead-lettered": ("#1a1a1a", "white"),
}


class ReplayChart:
    """Draw a `ReplayView`: four boxes, the messages in them, and the story so far.

    A message shows its number and, below, how often it has been counted. The consumer's box
    is crossed out while no process is alive.

    Args:
        figure: the figure to draw in.
        messages: the most messages there will be.
    """

    def __init__(self, figure: Figure, messages: int = 5) -> None:
        self.axes = axes = figure.subplots()
        axes.set_xlim(0, 4)
        axes.set_ylim(0, 1)
        axes.axis("off")
        for column, name in enumerate(COLUMNS):
            axes.add_patch(_frame(column, dashed=name == "consumer"))
            axes.text(column + 0.5, 0.95, name, ha="center", fontsize=10.5, fontweight="bold")
        self.tokens, self.labels = {}, {}
        for message in range(1, messages + 1):
            (self.tokens[message],) = axes.plot([0], [0], "s", markersize=33, markeredgecolor=INK)
            self.labels[message] = axes.text(0, 0, "", ha="center", va="center", fontsize=9)
        (self.dead,) = axes.plot(
            [], [], "X", color=BAD, markersize=44, markeredgecolor=INK, alpha=0.85
        )
        self.state = axes.text(1.5, 0.06, "", ha="center", fontsize=9)
        self.tally = axes.text(0.02, -0.06, "", fontsize=9.5, va="top")
        axes.set_ylim(-0.16, 1.02)
        self.moving: list[Any] = [
            *self.tokens.values(),
            *self.labels.values(),
            self.dead,
            self.state,
            self.tally,
        ]

    def update(self, result: Any) -> str:
        """Show a `ReplayView`."""
        frame = result.frame
        for column, name in enumerate(COLUMNS):
            here = [m for m, state in frame.states.items() if PLACES[state] == name]
            for place, message in enumerate(here):
                x, y = column + 0.22 + 0.28 * (place % 3), 0.72 - 0.32 * (place // 3)
                fill, ink = LOOKS[frame.states[message]]
                self.tokens[message].set_data([x], [y])
                self.tokens[message].set_markerfacecolor(fill)
                self.labels[message].set_position((x, y))
                self.labels[message].set_color(ink)
                self.labels[message].set_text(f"{message}\n{frame.counts[message]}×")
        dead = not frame.alive and frame.deaths == frame.starts > 0
        self.dead.set_data([1.5] if dead else [], [0.45] if dead else [])
        ended = f"process {frame.starts} died" if dead else "ended in peace"
        alive = f"process {frame.starts} runs" if frame.alive else ended
        self.state.set_text(alive if frame.starts else "not started")
        self.tally.set_text(
            f"starts {frame.starts}   deliveries {frame.deliveries}   deaths {frame.deaths}   "
            f"processed {len(frame.where('processed'))}   "
            f"dead-lettered {len(frame.where('dead-lettered'))}"
        )
        return "still"


def _frame(column: int, dashed: bool) -> Any:
    return FancyBboxPatch(
        (column + 0.06, 0.02), 0.88, 0.88, boxstyle="round,pad=0,rounding_size=0.03",
        facecolor="#fafafa", edgecolor=INK if dashed else PALE, linestyle="--" if dashed else "-",
    )  # fmt: skip
