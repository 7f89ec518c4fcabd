"""Does this installation work? One picture, one control, said in one line each."""

from io import BytesIO

from IPython.display import Markdown

__all__ = ["report"]


def _picture() -> str:
    from lessons_lib.classroom.canvas import new_figure

    figure = new_figure(200, 100)
    figure.subplots().plot([0, 1], [0, 1])
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    return "" if buffer.getvalue().startswith(b"\x89PNG") else "no PNG was made"


def _control() -> str:
    from lessons_lib.classroom.labs.first import first_lab

    lab = first_lab()
    before = lab.picture
    lab.set(fixed_ms=lab.controls[0].stops[-1])
    return "" if lab.picture != before else "the picture did not follow the control"


def report() -> Markdown:
    """Return one line for the picture and one for the control: works, or what is wrong."""
    lines = []
    for name, check in (("A picture", _picture), ("A control", _control)):
        try:
            wrong = check()
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        lines.append(f"- {name}: **works**." if not wrong else f"- {name}: does not work: {wrong}")
    return Markdown("\n".join(lines))
