"""Take the picture of a lab for README: JupyterLab in Chromium, all cells run.

python -m tools.readme_picture
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))


def main() -> None:
    """Open the jitter notebook, run it, and keep a picture of its lab in docs/lab.png."""
    from browser.conftest import chromium
    from browser.labpage import QUIET, LabPage
    from browser.labserver import LabServer
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as folder,
        LabServer(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
        page = browser.new_page(viewport={"width": 1280, "height": 1300})
        notebook = LabPage(page, server, "03-jitter.ipynb").open()
        notebook.run_all()
        lab = notebook.labs().first
        lab.scroll_into_view_if_needed()
        page.wait_for_timeout(1000)
        lab.screenshot(path=str(ROOT / "docs" / "lab.png"))
        browser.close()


if __name__ == "__main__":
    main()
