"""From a key press on a slider to the changed picture: the lab beside `interact`, in Chromium.

    python -m benchmarks slider_latency

Both sides draw the same result, a burst of some 300 bars, in one JupyterLab and one browser,
turn by turn. `interact` is the usual way: a function that draws with pyplot, shown inline.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

SETUP = "from lessons_lib.classroom import labs"
INTERACT = """\
import matplotlib.pyplot as plt, numpy as np
from ipywidgets import interact, IntSlider
from lessons_lib.retries.bursts import retry_burst
from lessons_lib.retries.jitter import FullJitter
from lessons_lib.retries.schedules import Exponential
%matplotlib inline
def draw(seed=0):
    burst = retry_burst(Exponential(2000, 2, 30000), FullJitter(), 1000, 4, np.random.default_rng(seed))
    fig, ax = plt.subplots(figsize=(7.6, 3.4))
    ax.bar(np.arange(len(burst.counts)), burst.counts, width=1)
    plt.show()
interact(draw, seed=IntSlider(min=0, max=20))"""
LAB = """\
lab = labs.jitter_lab()
lab.set(consumers=1000, base_ms=2000, seed=0)
lab"""
PRESSES = 20

WATCH = """(place) => {
  const area = document.querySelector(place);
  window.changed = new Promise((resolve) => {
    const before = (area.querySelector('img') || {}).src;
    const look = new MutationObserver(() => {
      const img = area.querySelector('img');
      if (!img || img.src === before) return;
      look.disconnect();
      img.decode().catch(() => {}).then(() => requestAnimationFrame(() => resolve(performance.now())));
    });
    look.observe(area, { subtree: true, childList: true, attributes: true });
    document.addEventListener('keydown', () => (window.pressed = performance.now()), { capture: true, once: true });
  });
}"""


def _press(page, handle, area: str) -> float:
    handle.focus()
    page.evaluate(WATCH, area)
    page.keyboard.press("ArrowRight")
    return page.evaluate("window.changed.then((at) => at - window.pressed)")


def main() -> None:
    """Measure both sides in turn and print one row a way."""
    from browser.conftest import chromium
    from browser.labpage import PANEL, QUIET, LabPage
    from browser.labserver import LabServer
    from playwright.sync_api import sync_playwright

    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, LAB, INTERACT)]
    times: dict[str, list[float]] = {"lab": [], "interact": []}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = LabServer(Path(folder))
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
        nbformat.write(notebook, server.course / "notebooks" / "latency.ipynb")
        with server:
            browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
            page = browser.new_page(viewport={"width": 1200, "height": 1800})
            notebook = LabPage(page, server, "latency.ipynb").open()
            notebook.run_all()
            areas = page.locator(f"{PANEL} .jp-CodeCell").evaluate_all(
                "(cells) => cells.map((cell, i) => (cell.id = `cell-${i}`))"
            )
            sides = {"lab": f"#{areas[1]}", "interact": f"#{areas[2]}"}
            handles = {
                "lab": page.get_by_role("slider", name="Seed"),
                "interact": page.locator(f"{sides['interact']} .noUi-handle"),
            }
            page.locator(f"{sides['interact']} img").wait_for()
            for number in range(PRESSES):
                for side, place in sides.items():
                    taken = _press(page, handles[side], place)
                    if number >= 2:  # the first presses warm up
                        times[side].append(taken)
                    time.sleep(0.05)
            browser.close()
    usual = statistics.median(times["interact"])
    print(f"{'way':<10} {'median':>8} {'95th percentile':>16}   as a share of interact's median")
    for side, taken in times.items():
        late = sorted(taken)[int(0.95 * (len(taken) - 1))]
        print(f"{side:<10} {statistics.median(taken) / usual:>8.2f} {late / usual:>16.2f}")


if __name__ == "__main__":
    main()
