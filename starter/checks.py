"""Self check, run inside the environment: one slider, one picture, the lessons' own library.

Ends with 0 and no output, or with 1 and one line that says what is wrong.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["check"]

ROOT = Path(__file__).resolve().parent.parent


def check_library() -> None:
    """Import lessons_lib, from this folder and no other."""
    import lessons_lib

    found = Path(lessons_lib.__file__).resolve().parent
    if found != ROOT / "lessons_lib":
        raise ImportError(f"it was found in {found}")


def check_slider() -> None:
    """Make a slider, and find the parts with which JupyterLab shows it."""
    from ipywidgets import IntSlider

    slider = IntSlider(value=3, max=5)
    slider.value = 4
    if slider.get_state()["value"] != 4:
        raise ValueError("it does not move")
    for name in ("@jupyter-widgets/jupyterlab-manager", "anywidget"):
        part = Path(sys.prefix, "share", "jupyter", "labextensions", name, "package.json")
        if not part.is_file():
            raise FileNotFoundError(f"{name} is not installed")


def check_picture() -> None:
    """Draw a picture without a screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    FigureCanvasAgg(figure)
    figure.subplots().stairs([1, 3, 2])
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    if not picture.getvalue().startswith(b"\x89PNG"):
        raise ValueError("what came out is no picture")


CHECKS: dict[str, Callable[[], None]] = {
    "the lessons' own library cannot be used": check_library,
    "a slider cannot be made": check_slider,
    "a picture cannot be made": check_picture,
}


def check(checks: dict[str, Callable[[], None]]) -> str:
    """Return what is wrong in one line, or nothing."""
    for complaint, attempt in checks.items():
        try:
            attempt()
        except Exception as error:  # whatever it is, the student needs the line
            reason = " ".join(str(error).split())
            return f"{complaint}: {type(error).__name__}: {reason}"
    return ""


if __name__ == "__main__":
    complaint = check(CHECKS)
    if complaint:
        print(complaint)
    sys.exit(bool(complaint))
