"""Numbers and figures as files: CSV that no spreadsheet runs, NPZ, and one HTML file that needs no network."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bartviz.language import current
from bartviz.text.clean import safe_name

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # and their full-width forms
_NUMBERS = "biuf"  # kinds of columns that hold no text
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)


def csv(table: pd.DataFrame) -> bytes:
    """The table as UTF-8 CSV, with the byte order mark that spreadsheets look for.

    A text that a spreadsheet would take for a formula gets an apostrophe in front (OWASP, CSV injection).
    """
    safe = table.rename(columns=_quoted).apply(_quoted_cells)
    data: str = safe.to_csv(index=False, lineterminator="\r\n")
    return data.encode("utf-8-sig")


def _quoted_cells(cells: pd.Series[Any]) -> pd.Series[Any]:
    return cells if cells.dtype.kind in _NUMBERS else cells.map(_quoted)


def _quoted(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def npz(arrays: Mapping[str, ArrayLike]) -> bytes:
    """The arrays as one NPZ file that ``numpy.load(..., allow_pickle=False)`` reads. Raises ValueError for objects."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **{name: np.asarray(array) for name, array in arrays.items()})
    return buffer.getvalue()


def offline_html(figure: go.Figure, title: str) -> bytes:
    """The figure, still to be hovered and zoomed, in one page that asks the network for nothing (4.7 MB of script).

    Its toolbar saves an SVG called ``title``, without what no file can be called: plotly writes it into its script as
    it is.
    """
    image = {"format": "svg", "filename": safe_name(title)}
    config = {"displaylogo": False, "responsive": True, "toImageButtonOptions": image}
    drawing = figure.to_html(full_html=False, include_plotlyjs=True, config=config)
    page = (
        f'<!doctype html><html lang="{html.escape(current())}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" '
        f'content="{_POLICY}"><title>{html.escape(title)}</title></head><body>{drawing}</body></html>'
    )
    return page.encode("utf-8", "replace")
