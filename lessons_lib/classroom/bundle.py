"""What a picture or a lab hands to a notebook: the same content for eyes, ears and paper."""

import base64
from html import escape
from typing import Any

import pandas as pd

__all__ = ["bundle", "table_html"]


def table_html(table: pd.DataFrame | None) -> str:
    """Return a small table as plain HTML, with row and column headers marked as such."""
    if table is None:
        return ""
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in table.columns)
    corner = escape(str(table.index.name or ""))
    rows = "".join(
        f'<tr><th scope="row">{escape(str(label))}</th>'
        + "".join(f"<td>{escape(str(value))}</td>" for value in values)
        + "</tr>"
        for label, values in zip(table.index, table.to_numpy(dtype=object), strict=True)
    )
    return (
        f'<table><thead><tr><th scope="col">{corner}</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def bundle(
    png: bytes, *, alt: str, html: str, text: str, width_px: int, height_px: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the mime bundle of a picture with its words, and the bundle's metadata.

    The HTML begins with the picture itself, so that a page that shows HTML only has both.

    Args:
        png: the picture.
        alt: the alternative text, one sentence from the data.
        html: what follows the picture.
        text: everything in plain text, for a terminal or a comparison.
        width_px: width on the page.
        height_px: height on the page.
    """
    data = base64.b64encode(png).decode("ascii")
    image = (
        f'<img src="data:image/png;base64,{data}" alt="{escape(alt)}" '
        f'width="{width_px}" height="{height_px}">'
    )
    content = {"image/png": data, "text/html": image + html, "text/plain": text}
    metadata = {"image/png": {"alt": alt, "width": width_px, "height": height_px}}
    return content, metadata
