"""Build the notebooks from their text form: assemble, execute, normalise, write.

    python -m tools.notebooks build [NAME ...]    rebuild all, or those whose name begins so
    python -m tools.notebooks check [NAME ...]    say where text and notebook differ
    python -m tools.notebooks format [NAME ...]   let ruff format the code cells of the text

The text form under notebooks/text is what people edit. Building twice gives the same bytes.
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

__all__ = ["assemble", "build", "differences", "text_files"]

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
TEXT = NOTEBOOKS / "text"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
EMBEDDED = re.compile(r'\A<img src="data:image/png;base64,[^>]*>')
CELL_SECONDS = 300
STRAY = ("MPLBACKEND", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONWARNINGS")


def text_files(names: list[str] | None = None) -> list[Path]:
    """Return the text forms in reading order, or those whose name begins with one of `names`."""
    files = sorted(TEXT.glob("[0-9][0-9]-*.md"))
    if not names:
        return files
    stems = [Path(name).stem for name in names]
    chosen = [path for path in files if path.stem.startswith(tuple(stems))]
    for stem in stems:
        if not any(path.stem.startswith(stem) for path in chosen):
            known = ", ".join(path.stem for path in files)
            raise SystemExit(f"no notebook begins with {stem!r}; there are {known}")
    return chosen


def title_of(text: Path) -> str:
    """Return the first heading of a text form."""
    found = re.search(r"^# (.+)$", text.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{text.name} has no title: its first heading must be '# Title'")
    return found.group(1)


def _navigation(text: Path) -> str:
    files = text_files()
    place = files.index(text)
    links = []
    if place > 0:
        before = files[place - 1]
        links.append(f"[← {title_of(before)}]({before.stem}.ipynb)")
    if place != 0:
        links.append(f"[Contents]({files[0].stem}.ipynb)")
    if place + 1 < len(files):
        after = files[place + 1]
        links.append(f"[{title_of(after)} →]({after.stem}.ipynb)")
    return "---\n\n" + " · ".join(links)


def assemble(text: Path) -> NotebookNode:
    """Return the notebook of a text form, not executed, with navigation and stable cell ids."""
    read = jupytext.reads(text.read_text("utf-8"), fmt="md:myst")
    cells = [*read.cells, nbformat.v4.new_markdown_cell(_navigation(text))]
    seen: dict[str, int] = {}
    for cell in cells:
        # An id made from the content stays the same when cells are added above.
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    notebook.nbformat_minor = 5
    return notebook


def _split_picture(output: NotebookNode) -> list[NotebookNode]:
    """Store a picture and the words below it one after the other.

    While a kernel runs, one output carries both. Without one, a page shows a single form of
    each output: so the picture is stored as such, and its words as a second output.
    """
    data = output.data
    html = data.get("text/html", "")
    if "image/png" not in data or not EMBEDDED.match(html):
        return [output]
    words = nbformat.v4.new_output("display_data", {"text/html": EMBEDDED.sub("", html)})
    del data["text/html"]
    return [output, words]


def _normalise(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.metadata.pop("execution", None)
        outputs = []
        for output in cell.outputs:
            if output.output_type not in ("display_data", "execute_result"):
                outputs.append(output)
                continue
            output.data.pop(WIDGET_VIEW, None)
            output.metadata.pop(WIDGET_VIEW, None)
            outputs.extend(_split_picture(output))
        cell.outputs = outputs


def build(text: Path) -> Path:
    """Assemble, execute and write one notebook; return its path.

    Raises:
        CellExecutionError: a cell raised; nothing is written then.
    """
    notebook = assemble(text)
    clean = {name: value for name, value in os.environ.items() if name not in STRAY}
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )
    client.execute(env=clean | {"PYTHONNOUSERSITE": "1"})
    _normalise(notebook)
    target = NOTEBOOKS / f"{text.stem}.ipynb"
    content = nbformat.writes(notebook, version=4)
    partial = target.with_suffix(".ipynb.tmp")
    partial.write_text(content.rstrip("\n") + "\n", "utf-8", newline="\n")
    partial.replace(target)
    return target


def format_text(text: Path) -> bool:
    """Let ruff format the code cells of a text form; return True if anything changed."""
    before = text.read_text("utf-8")
    notebook = assemble(text)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{text.stem}.ipynb"
        nbformat.write(notebook, copy)
        ruff = [
            sys.executable,
            "-m",
            "ruff",
            "format",
            "-q",
            "--config",
            str(ROOT / "pyproject.toml"),
        ]
        subprocess.run([*ruff, str(copy)], check=True)
        formatted = nbformat.read(copy, as_version=4)
    after = before
    for old, new in zip(notebook.cells, formatted.cells, strict=True):
        if old.cell_type == "code" and old.source != new.source:
            after = after.replace(f"\n{old.source}\n```", f"\n{new.source}\n```")
    text.write_text(after, "utf-8", newline="\n")
    return after != before


def differences(text: Path) -> list[str]:
    """Return, in words, where the committed notebook is not what its text form says."""
    target = NOTEBOOKS / f"{text.stem}.ipynb"
    if not target.exists():
        return [f"{target.name} is missing: build it"]
    stored, wanted = nbformat.read(target, as_version=4), assemble(text)
    found = []
    if len(stored.cells) != len(wanted.cells):
        found.append(f"{target.name} has {len(stored.cells)} cells, its text {len(wanted.cells)}")
    for number, (have, want) in enumerate(zip(stored.cells, wanted.cells, strict=False)):
        for key in ("cell_type", "source", "id", "metadata"):
            if have.get(key) != want.get(key):
                found.append(
                    f"{target.name} cell {number}: {key} is {have.get(key)!r}, "
                    f"but {text.name} says {want.get(key)!r}"
                )
                break
        if len(found) > 3:
            break
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.notebooks", description=__doc__)
    parser.add_argument("command", choices=["build", "check", "format"])
    parser.add_argument("names", nargs="*", help="beginnings of names, such as 02")
    chosen = parser.parse_args(arguments)
    found = []
    for text in text_files(chosen.names):
        if chosen.command == "check":
            found += differences(text)
            continue
        if chosen.command == "format":
            print(f"{text.name}: {'formatted' if format_text(text) else 'unchanged'}")
            continue
        began = time.monotonic()
        print(f"{text.stem} …", end=" ", flush=True)
        try:
            target = build(text)
        except CellExecutionError as error:
            cell = str(error).split("------------------\n")[1]  # the traceback follows it
            print(f"failed in the cell\n\n{cell}\n{error.ename}: {error.evalue}")
            return 1
        print(f"{target.stat().st_size // 1024} KiB, {time.monotonic() - began:.1f} s")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
