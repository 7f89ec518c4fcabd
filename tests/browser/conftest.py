import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def chromium() -> str | None:
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if found := shutil.which(name):
            return found
    return None


@pytest.fixture(scope="module")  # gone before other tests look for processes left behind
def server(tmp_path_factory):
    from browser.labserver import LabServer

    with LabServer(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="module")  # gone before other tests look for processes left behind
def browser():
    from browser.labpage import QUIET
    from playwright.sync_api import sync_playwright

    path = chromium()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is missing; .ci/run installs it")
        pytest.skip("Chromium is not installed: the pages were not opened in a browser")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield running
        running.close()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    yield page
    context.close()
