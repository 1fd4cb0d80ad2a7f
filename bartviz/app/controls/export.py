"""Numbers and figures as files: CSV that no spreadsheet runs, NPZ, and one HTML file that needs no network; and the one
button of a page that offers them all."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import streamlit as st
from numpy.typing import ArrayLike

from bartviz.language import _, current
from bartviz.text.clean import safe_name

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # and their full-width forms
_NUMBERS = "biuf"  # kinds of columns that hold no text
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
_OFFERED = "_offered"


class File(NamedTuple):
    """A file that a visitor may take; it is made when they do. ``reopens``: whether any page opens it again."""

    label: str
    name: str
    mime: str
    make: Callable[[], bytes]
    reopens: bool = False


class Offer(NamedTuple):
    """The files of a part of the page, and a note on what is missing among them."""

    title: str
    files: Sequence[File]
    note: str
    place: int


_Offers: TypeAlias = dict[str, Offer]


def begin() -> None:
    """Forget what another page has offered."""
    st.session_state[_OFFERED] = {}


def offer(name: str, title: str, files: Sequence[File], note: str = "", *, place: int = 1) -> None:
    """Add a part's files to the page's button. ``name`` is the app's own word for the part, which offers once: a part
    that is drawn again replaces its files. Parts of a lower ``place`` come first."""
    offered: _Offers = st.session_state.setdefault(_OFFERED, {})
    offered[name] = Offer(title, tuple(files), note, place)


def draw() -> None:
    """The button at the end of a page; none where nothing was offered."""
    offered: _Offers = st.session_state.get(_OFFERED, {})
    if not offered:
        return
    with st.popover(_("Download"), icon=":material/download:", key="downloads"):
        for name, part in _parts(offered):
            _note(part.title)
            with st.container(horizontal=True, gap="small", key=f"downloads_{name}"):
                for number, file in enumerate(part.files):
                    _button(offered, name, number, key=f"{name}_{file.name.partition('.')[2]}")
            if part.note:
                _note(part.note)


def reopens() -> bool:
    """Whether the page has a file that any page opens again."""
    return bool(_reopened(st.session_state.get(_OFFERED, {})))


def _reopened(offered: _Offers) -> list[tuple[str, int]]:
    return [(name, number) for name, part in _parts(offered) for number, file in enumerate(part.files) if file.reopens]


def draw_reopened(note: str, *, key: str) -> None:
    """Of the page's files those that any page opens again, below a note; nothing where there are none."""
    offered: _Offers = st.session_state.get(_OFFERED, {})
    if found := _reopened(offered):
        _note(note)
    for name, number in found:
        if len(found) > 1:
            _note(offered[name].title)
        _button(offered, name, number, key=f"{key}_{name}_{number}")


def _parts(offered: _Offers) -> list[tuple[str, Offer]]:
    return sorted(offered.items(), key=lambda item: item[1].place)


def _note(text: str) -> None:
    st.html(f"<p class='bv-note'>{html.escape(text)}</p>")


def _button(offered: _Offers, name: str, number: int, *, key: str) -> None:
    file, make = offered[name].files[number], partial(_made, offered, name, number)
    st.download_button(file.label, make, file_name=file.name, mime=file.mime, on_click="ignore", key=key)


def _made(offered: _Offers, name: str, number: int) -> bytes:
    """The file as its part offers it now: a fragment may have drawn the part again."""
    return offered[name].files[number].make()


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
