"""The committed notebooks: they say what their text says, and a fresh run says the same again."""

import json
import os
import re
import subprocess
import sys

import nbformat
import pytest

from tools.notebooks import NOTEBOOKS, STRAY, assemble, differences, text_files

ROOT = NOTEBOOKS.parent
TEXTS = text_files()
FLOOR = 218  # code cells in the course; raise it when a notebook is added


def stored(text):
    return nbformat.read(NOTEBOOKS / f"{text.stem}.ipynb", as_version=4)


def test_every_notebook_has_a_text_and_every_text_a_notebook():
    assert {p.stem for p in NOTEBOOKS.glob("*.ipynb")} == {p.stem for p in TEXTS}


@pytest.mark.parametrize("text", TEXTS, ids=lambda p: p.stem)
def test_text_and_notebook_agree(text):
    found = differences(text)
    assert not found, "\n".join(found) + "\nRun: python3 start.py build"


def test_a_fresh_run_gives_the_stored_outputs():
    clean = {name: value for name, value in os.environ.items() if name not in STRAY}
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval",
        "--nbval-sanitize-with", str(ROOT / "tests" / "nbval.cfg"), str(NOTEBOOKS),
    ]  # fmt: skip
    run = subprocess.run(command, env=clean, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    passed = int(re.search(r"(\d+) passed", run.stdout).group(1))
    cells = sum(c.cell_type == "code" for text in TEXTS for c in assemble(text).cells)
    assert passed == cells, f"{passed} cells were compared, the course has {cells}"
    assert passed >= FLOOR


def quiet(source):
    """Say whether a cell is meant to show nothing: imports, definitions, assignments."""
    last = source.strip().splitlines()[-1]
    return last.startswith((" ", ")", "]", "}", "from ", "import ")) or re.match(
        r"[\w, |.\[\]\"']+ \|?= ", last
    )


@pytest.mark.parametrize("text", TEXTS, ids=lambda p: p.stem)
def test_every_cell_was_run_in_order_and_shows_what_it_should(text):
    code = [c for c in stored(text).cells if c.cell_type == "code"]
    assert [c.execution_count for c in code] == list(range(1, len(code) + 1))
    for cell in code:
        assert all(o.output_type != "error" for o in cell.outputs)
        assert cell.outputs or quiet(cell.source), f"no stored output: {cell.source[:80]!r}"
    content = (NOTEBOOKS / f"{text.stem}.ipynb").read_text("utf-8")
    assert len(content) < 1_000_000
    assert not re.search(r"ipykernel_\d|/home/|/root/|/work/|widget-view", content)


@pytest.mark.parametrize("text", TEXTS, ids=lambda p: p.stem)
def test_every_picture_has_alternative_text_and_words_below_it(text):
    for cell in stored(text).cells:
        outputs = cell.get("outputs", [])
        for number, output in enumerate(outputs):
            if "image/png" not in output.get("data", {}):
                continue
            assert output.metadata["image/png"]["alt"].strip()
            assert output.data["text/plain"].strip()
            assert "text/html" in outputs[number + 1].data


@pytest.mark.parametrize("text", TEXTS, ids=lambda p: p.stem)
def test_a_notebook_keeps_to_the_anatomy(text):
    cells = assemble(text).cells
    code = [c for c in cells if c.cell_type == "code"]
    assert len(code) <= len(cells) - len(code), "more code than prose"
    run = 0
    for cell in cells:
        run = run + 1 if cell.cell_type == "code" else 0
        assert run < 3, f"three code cells in a row: {cell.source[:60]!r}"
        if cell.cell_type == "code":
            lines = [line for line in cell.source.splitlines() if line.strip()]
            assert len(lines) <= 15, f"{len(lines)} lines: {cell.source[:60]!r}"
    assert cells[0].source.startswith("# ")
    assert re.search(r"\d+ minutes", cells[0].source)
    assert "you can" in cells[1].source
    assert cells[1].source.count("- **") == 3
    if text.stem.startswith("00"):
        return
    heads = [h for c in cells for h in re.findall(r"^## (.+)$", c.source, re.MULTILINE)]
    wanted = ["Watch it fail", "Predict", "Build it", "Play", "Compare", "For real", "Break it again",
              "Exercise 1", "In practice", "Recap"]  # fmt: skip
    places = [next((n for n, head in enumerate(heads) if head.startswith(w)), None) for w in wanted]
    missing = [w for w, place in zip(wanted, places, strict=True) if place is None]
    assert not missing
    assert places == sorted(places), heads


def test_building_twice_gives_the_same_bytes(tmp_path, monkeypatch):
    from tools import notebooks as tool

    text = TEXTS[0]
    committed = (NOTEBOOKS / f"{text.stem}.ipynb").read_bytes()
    try:
        tool.build(text)
        again = (NOTEBOOKS / f"{text.stem}.ipynb").read_bytes()
    finally:
        (NOTEBOOKS / f"{text.stem}.ipynb").write_bytes(committed)
    fresh, old = json.loads(again), json.loads(committed)
    assert [c.get("outputs") for c in fresh["cells"]] == [c.get("outputs") for c in old["cells"]]
    assert again == committed


LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def pages():
    return [*TEXTS, ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", pages(), ids=lambda p: p.name)
def test_internal_links_lead_somewhere(page):
    source = (
        "\n".join(c.source for c in assemble(page).cells)
        if page in TEXTS
        else page.read_text("utf-8")
    )
    folder = NOTEBOOKS if page in TEXTS else page.parent
    source = re.sub(r"```.*?```", "", source, flags=re.DOTALL)
    for link in LINK.findall(source):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (folder / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link} leads nowhere"
        if anchor and target.suffix == ".md":
            heads = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            assert anchor in {slug(h) for h in heads}, f"{page.name}: {link}: no such heading"
