"""How a page shows things: a sentence, a figure, the text with weights on it, a table, an explanation, downloads.

Tokens and texts of a visitor are escaped here and nowhere reach Markdown.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import streamlit as st
from numpy.typing import ArrayLike

from bartviz.analysis import sentence_words
from bartviz.language import _
from bartviz.record.attention import Kind
from bartviz.serving import torch_import
from bartviz.text.labels import CONTINUES
from bartviz.text.tokens import Tokens
from bartviz.ui.controls import large_type
from bartviz.ui.controls.columns import CELLS, COLUMNS, HEADS
from bartviz.ui.state import once

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from bartviz.record.record import Record

T = TypeVar("T")
Given: TypeAlias = T | Callable[[], T] | None
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")  # every ASCII sign that Markdown could give a meaning
INK_TURNS = 0.55  # above this share of the kind's colour, light letters read better


def plain(text: str) -> str:
    """A text as it stands, for a place that would read it as Markdown (labels, errors)."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def lead(sentence: str) -> None:
    """The one sentence of what to notice in *this* text; taken literally, so that tokens may stand in it."""
    st.html(f"<p class='bv-lead'>{html.escape(sentence)}</p>")


def note(sentence: str) -> None:
    """A small line beside a control or under a picture; taken literally."""
    st.html(f"<p class='bv-note'>{html.escape(sentence)}</p>")


def figure(
    drawn: partial[go.Figure],
    *,
    key: str,
    alt: str,
    on_click: Callable[[], None] | None = None,
    name: str = "",
    most: float = large_type.FACTOR,
) -> None:
    """A plotly figure in its own colours, with an SVG button; ``alt`` says in words what it shows.

    ``drawn`` is the call that makes it: the figure is kept by that. ``on_click`` is called when a point was clicked;
    ``name`` is the stem of the SVG file, where that is not the key. Where a visitor wants large type, letters are
    ``most`` times as large.
    """
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": name or key}}
    made = once.figure(drawn, most if large_type.on() else 1.0)
    if on_click is None:
        st.plotly_chart(made, key=key, theme=None, config=config, alt=alt)
    else:
        st.plotly_chart(made, key=key, theme=None, config=config, alt=alt, selection_mode="points", on_select=on_click)


def running_text(
    tokens: Tokens,
    weights: ArrayLike | None = None,
    *,
    kind: Kind = "encoder",
    chosen: int | None = None,
    label: str = "",
    key: str,
) -> None:
    """The text itself as chips, shaded by weight (n,) in 0..1 with the colour of ``kind``; ``chosen`` is framed.

    Special tokens are small and grey, a word's pieces touch, words stand apart; each chip's hover names its weight.
    ``label`` is a small line above, taken literally. Raises ValueError when there are not as many weights as tokens.
    """
    shading = None if weights is None else np.asarray(weights, dtype=float)
    if shading is not None and shading.shape != (len(tokens),):
        raise ValueError(f"{shading.shape} weights for {len(tokens)} tokens.")
    chips = []
    for index, special in enumerate(tokens.special):
        word = tokens.words[index]
        starts = index == 0 or word is None or tokens.words[index - 1] != word
        names = ["bv-chip", *(["bv-special"] if special else []), *([] if starts else ["bv-joined"])]
        written = tokens.labels[index] if starts else tokens.labels[index].removeprefix(CONTINUES) or CONTINUES
        chips.append(_chip(written, None if shading is None else shading[index], names, index == chosen))
    above = f"<p class='bv-note'>{html.escape(label)}</p>" if label else ""
    with st.container(key=key):
        st.html(f"{above}<p class='bv-text bv-{kind}'>{''.join(chips)}</p>")


def _chip(label: str, weight: float | None, names: list[str], chosen: bool) -> str:
    told, style = "", ""
    if weight is not None:
        share = min(max(weight, 0.0), 1.0)
        told, style = f" title='{weight:.3f}'", f" style='--w:{100 * share:.1f}%'"
        names = [*names, "bv-strong"] if share > INK_TURNS else names
    names = [*names, "bv-chosen"] if chosen else names
    return f"<span class='{' '.join(names)}'{style}{told}>{html.escape(label) or '&nbsp;'}</span>"


def table(frame: pd.DataFrame | partial[pd.DataFrame], *, title: str | None = None) -> None:
    """The figure's numbers, folded away: for a screen reader, and for whoever wants to read them.

    A call that makes them is made once, as that of a figure.
    """
    shown = once.once(partial(_said, frame)) if isinstance(frame, partial) else in_words(frame)
    with st.expander(title or _("The same numbers as a table")):
        st.dataframe(shown, hide_index=True, column_config=headers(shown))


def _said(make: partial[pd.DataFrame]) -> pd.DataFrame:
    return in_words(make())


def headers(names: Iterable[object]) -> dict[str, Any]:
    """What the columns of a table are called on a page, for ``column_config``; a file keeps their English names."""
    return {str(name): _(str(name)) if name in COLUMNS else str(name) for name in names}


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with the cells of those columns translated that hold words of ours alone, such as a kind; and heads."""
    texts = {str(name): cells for name, cells in frame.items() if cells.dtype.kind == "O"}
    spoken = {name: cells for name, cells in texts.items() if (found := set(cells.dropna())) and found <= CELLS}
    said = {name: cells.map(_, na_action="ignore") for name, cells in spoken.items()}
    heads = {
        name: cells.map(sentence_words.heads, na_action="ignore") for name, cells in texts.items() if name in HEADS
    }
    return frame.assign(**said | heads)


def downloads(
    name: str,
    *,
    table: Given[pd.DataFrame] = None,
    arrays: Given[Mapping[str, ArrayLike]] = None,
    figure: Given[go.Figure | str] = None,
    record: Record | None = None,
    of: str = "",
) -> None:
    """Buttons for what was given: CSV (formulas quoted), NPZ, one HTML file of the figure that needs no network, and
    the whole record, which ``bartviz.open`` reads. A figure that is a text is such a file already.

    ``name`` is the file's stem, and ``of`` what it tells of ("cross-L2H5"): words of ours, never a visitor's. Callables
    run only when the button is pressed. The toolbar of a figure, on the page and in its file, saves an SVG.
    """
    from bartviz import export
    from bartviz.record import store

    stem = f"{name}-{of}" if of else name
    files: list[tuple[str, str, str, Callable[[], bytes]]] = []
    if table is not None:
        files.append(("CSV", "csv", "text/csv", lambda: export.csv(_made(table))))
    if arrays is not None:
        files.append(("NPZ", "npz", "application/octet-stream", lambda: export.npz(_made(arrays))))
    if figure is not None:
        files.append(("HTML", "html", "text/html", lambda: _page(_made(figure), f"bartviz-{stem}")))
    if record is not None:
        files.append((_("Record"), "safetensors", "application/octet-stream", lambda: store.encode(record)))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"downloads_{name}"):
        said = _("Download")
        st.html(f"<p class='bv-note'>{html.escape(said)}</p>", width="content")
        for label, ending, mime, make in files:
            st.download_button(
                label, make, file_name=f"bartviz-{stem}.{ending}", mime=mime, on_click="ignore", key=f"{name}_{ending}"
            )


def _page(figure: go.Figure | str, name: str) -> bytes:
    from bartviz import export

    return figure.encode("utf-8", "replace") if isinstance(figure, str) else export.offline_html(figure, name)


def _made(given: T | Callable[[], T]) -> T:
    if not callable(given):
        return given
    torch_import.pages()  # the first page draws without some of what a file is made with
    return given()
