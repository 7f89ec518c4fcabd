"""JupyterLab in Chromium: open each notebook, run all, move a lab with the keyboard."""

import time

import pytest
from browser.labpage import PANEL, LabPage, screenshot, shown, wait_for

from tools.notebooks import text_files

NAMES = [f"{text.stem}.ipynb" for text in text_files()]
pytestmark = pytest.mark.browser


@pytest.fixture
def notebook(request, page, server):
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on(
        "requestfailed", lambda r: page.problems.append(r.url) if "blob:" not in r.url else None
    )
    return LabPage(page, server, request.param).open()


@pytest.mark.parametrize("notebook", NAMES, indirect=True)
def test_run_all_and_move_every_lab_by_keyboard(notebook, tmp_path_factory):
    page = notebook.page
    notebook.run_all()
    assert notebook.errors() == []
    labs = notebook.labs()
    assert labs.count() >= 1
    pictures = tmp_path_factory.getbasetemp() / "pictures"
    for number in range(labs.count()):
        lab = labs.nth(number)
        lab.scroll_into_view_if_needed()
        for group in lab.get_by_role("radiogroup").all():
            assert group.locator("input:checked").count() == 1, "labs must not share buttons"
        slider = lab.get_by_role("slider").first
        slider.focus()
        frame, sentence, picture = shown(lab)
        place, cells = lab.bounding_box(), page.locator(f"{PANEL} .jp-Cell").count()
        page.keyboard.press("ArrowRight")
        wait_for(lambda: lab.get_attribute("data-frame") != frame, 10, "a new frame")  # noqa: B023
        after = shown(lab)
        assert after[2] != picture, "the picture did not follow the slider"
        sentences = {sentence, after[1]}
        for key in ("Home", "End"):  # one step may be too small for the words
            frame = lab.get_attribute("data-frame")
            page.keyboard.press(key)
            wait_for(lambda: lab.get_attribute("data-frame") != frame, 10, "a new frame")  # noqa: B023
            sentences.add(shown(lab)[1])
            alternative = lab.locator("img.lab-picture").get_attribute("alt")
            assert alternative == lab.locator(".lab-says").inner_text()
        assert len(sentences) > 1, "the sentence did not follow the slider"
        assert lab.bounding_box() == place, "the page jumped"
        page.keyboard.type("dd")
        page.keyboard.press("ArrowUp")
        assert page.locator(f"{PANEL} .jp-Cell").count() == cells, "a key reached JupyterLab"
        assert slider.evaluate("(node) => node === document.activeElement")
        screenshot(page, pictures / f"{notebook.name}-{number}.png")
    assert page.problems == []


@pytest.mark.parametrize("notebook", ["03-jitter.ipynb"], indirect=True)
def test_every_control_has_a_name_and_keys_held_down_end_at_the_newest_value(notebook):
    notebook.run_all()
    lab = notebook.labs().first
    lab.scroll_into_view_if_needed()
    names = ["Consumers", "Retries each", "Base", "Cap", "Bucket", "Capacity", "Seed"]
    for name in names:
        assert lab.get_by_role("slider", name=name, exact=True).count() == 1
    for name in ("none", "full", "equal", "decorrelated"):
        assert lab.get_by_role("radio", name=name, exact=True).count() == 1
    slider = lab.get_by_role("slider", name="Retries each", exact=True)
    slider.focus()
    box = lab.bounding_box()
    for key in ["ArrowRight"] * 12 + ["Home"] + ["ArrowRight"] * 8 + ["ArrowLeft"] * 3:
        notebook.page.keyboard.press(key)
    at_six = "Full jitter: 1200 retries"
    wait_for(lambda: lab.locator(".lab-says").inner_text().startswith(at_six), 15, at_six)
    time.sleep(0.5)
    assert lab.locator(".lab-says").inner_text().startswith(at_six), "an older frame came later"
    assert slider.get_attribute("aria-valuetext") == "6"
    assert lab.bounding_box() == box
    lab.get_by_role("radio", name="none", exact=True).check()
    wait_for(lambda: lab.locator(".lab-says").inner_text().startswith("No jitter"), 10, "none")
    lab.get_by_role("button", name="Low cap", exact=True).click()
    wait_for(lambda: "70000 retries" in lab.locator(".lab-says").inner_text(), 10, "the try button")
    assert "waves return" in lab.locator(".lab-look").inner_text()
    assert slider.get_attribute("aria-valuetext") == "14"


def test_before_a_run_the_stored_picture_and_words_are_there(page, server):
    notebook = LabPage(page, server, "03-jitter.ipynb").open()
    cell = page.locator(f"{PANEL} .jp-CodeCell", has_text="labs.jitter_lab()")
    cell.scroll_into_view_if_needed()
    picture = cell.locator(".jp-OutputArea img").first
    assert picture.evaluate("(img) => img.naturalWidth") > 700
    assert "Full jitter: 800 retries" in cell.inner_text()
    assert notebook.labs().count() == 0
