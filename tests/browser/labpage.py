"""One notebook in JupyterLab, as a person sees it: open, run all, find a lab, press keys."""

import hashlib
import time
from pathlib import Path

from browser.labserver import TOKEN, LabServer
from playwright.sync_api import Locator, Page

PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


def wait_for(condition, seconds: float, what: str):
    """Poll until `condition()` is true and return its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


class LabPage:
    """A notebook open in a page."""

    def __init__(self, page: Page, server: LabServer, name: str) -> None:
        self.page, self.server, self.name = page, server, name

    def open(self) -> "LabPage":
        """Open the notebook and wait until its kernel is idle."""
        self.page.goto(f"{self.server.url}lab/tree/notebooks/{self.name}?token={TOKEN}&reset")
        self.page.locator(f"{PANEL} .jp-Cell").first.wait_for(timeout=60_000)

        def session_idle():
            sessions = self.server.get("api/sessions")
            mine = [s for s in sessions if s["path"].endswith(self.name)]
            return mine and mine[0]["kernel"]["execution_state"] == "idle"

        # The page says "idle" before the session exists; a "run all" is lost then.
        wait_for(session_idle, 60, "a kernel for the notebook")
        self._idle(60)
        return self

    def _idle(self, seconds: float) -> None:
        mark = self.page.locator(f"{PANEL} .jp-Notebook-ExecutionIndicator")
        wait_for(lambda: mark.get_attribute("data-status") == "idle", seconds, "an idle kernel")

    def run_all(self, seconds: float = 180) -> None:
        """Run all cells from the menu and wait until the last has run."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

        def done():
            kernels = self.server.get("api/sessions")
            mine = [s for s in kernels if s["path"].endswith(self.name)]
            return mine[0]["kernel"]["execution_state"] == "idle" and self.ran()

        wait_for(done, seconds, f"all cells of {self.name} have run")
        self._idle(30)

    def ran(self) -> bool:
        """Say whether the kernel has finished what was asked of it."""
        waiting = self.page.locator(f"{PANEL} .jp-CodeCell .jp-InputPrompt", has_text="[*]")
        return waiting.count() == 0 and self.page.locator(f"{PANEL} .lab").count() > 0

    def errors(self) -> list[str]:
        """Return the text of all error outputs."""
        found = self.page.locator('[data-mime-type="application/vnd.jupyter.error"]')
        return found.all_inner_texts()

    def labs(self) -> Locator:
        """Return the labs on the page."""
        return self.page.locator(f"{PANEL} section.lab")


def shown(lab: Locator) -> tuple[str, str, str]:
    """Return what a lab shows: frame number, sentence, digest of the picture."""
    picture = lab.locator("img.lab-picture").evaluate(
        """async (img) => { await img.decode().catch(() => {});
             const c = document.createElement('canvas'); c.width = img.naturalWidth; c.height = img.naturalHeight;
             c.getContext('2d').drawImage(img, 0, 0); return c.toDataURL(); }"""
    )
    digest = hashlib.sha256(picture.encode()).hexdigest()
    return lab.get_attribute("data-frame"), lab.locator(".lab-says").inner_text(), digest


def screenshot(page: Page, path: Path) -> None:
    """Keep a picture of the page outside the repository."""
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(path))
