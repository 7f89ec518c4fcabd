"""The policy game: the incident over time on the left, the bills on the right."""

from typing import Any

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from lessons_lib.classroom.charts.storm import StormPanel
from lessons_lib.classroom.style import INK, steady, tidy

__all__ = ["GameChart"]

PARTS = {
    "recovery_s": {"facecolor": "#f0e442", "hatch": "", "label": "time to recover"},
    "wasted": {"facecolor": "#e69f00", "hatch": "////", "label": "wasted requests"},
    "lost": {"facecolor": "#1a1a1a", "hatch": "", "label": "lost messages"},
    "late": {"facecolor": "#56b4e9", "hatch": "....", "label": "late messages"},
}
ROWS = ("yours", "best known", "no retries")
LIMITS = [first * 10**power for power in range(1, 7) for first in (1, 3)]


def _limit(value: float) -> float:
    """Return 10, 30, 100 …: few limits, so that most steps redraw the moving artists only."""
    return next((limit for limit in LIMITS if limit >= 1.04 * value), 1.1 * value)


class GameChart:
    """Draw a `GameView`: load, successes and queue on the left, three bills on the right."""

    def __init__(self, figure: Figure) -> None:
        grid = figure.subplot_mosaic(
            [["load", "bills"], ["queue", "bills"]], width_ratios=[3, 2], height_ratios=[2, 1]
        )
        load, queue, self.bills = grid["load"], grid["queue"], grid["bills"]
        self.panel = StormPanel(load, queue)
        steady(load)
        steady(queue)
        load.tick_params(labelbottom=False)
        queue.set_xlabel("seconds", fontsize=9.5)
        load.legend(
            fontsize=8, frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0)
        )
        tidy(self.bills, xlabel="cost", grid="x")
        self.bills.set_yticks(range(3), ROWS, fontsize=9.5)
        self.bills.set_ylim(2.6, -0.6)
        self.boxes = {
            part: self.bills.add_collection(PolyCollection([], edgecolor="white", lw=0.5, **look))
            for part, look in PARTS.items()
        }
        self.totals = [
            self.bills.text(0, row - 0.36, "", fontsize=8.5, color=INK, va="bottom")
            for row in range(3)
        ]
        self.bills.legend(
            fontsize=8, frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0)
        )
        self.moving: list[Any] = [*self.panel.moving, *self.boxes.values(), *self.totals]

    def update(self, result: Any) -> tuple[float, ...]:
        """Show a `GameView`; return its limits."""
        seconds, load, queue = self.panel.show(result)
        outcomes = (result.outcome, result.best, result.without)
        boxes: dict[str, list] = {part: [] for part in PARTS}
        for row, outcome in enumerate(outcomes):
            begin = 0.0
            for part in PARTS:
                end = begin + outcome.bill[part]
                boxes[part].append(
                    [(begin, row - 0.3), (end, row - 0.3), (end, row + 0.3), (begin, row + 0.3)]
                )
                begin = end
            self.totals[row].set_text(f"{outcome.cost:.0f}")
        for part, collection in self.boxes.items():
            collection.set_verts(boxes[part])
        highest = _limit(max(outcome.cost for outcome in outcomes))
        limits = (10 * -(-seconds // 10), _limit(load), _limit(max(queue, 25)), highest)
        self.panel.scale(*limits[:3])
        self.bills.set_xlim(0, highest)
        return limits
