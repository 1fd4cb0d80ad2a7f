"""The masks as squares in the browser: pointing at a row or painting a cell causes no traffic until it is chosen."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from bartviz.analysis import mask_value, masks, sentence_words
from bartviz.analysis.word_colors import Numbers
from bartviz.app.frame import levels
from bartviz.app.state import url_state
from bartviz.app.state.url_state import Words
from bartviz.arrays import Bools, Floats
from bartviz.browser.scripts import bundle
from bartviz.drawing import theme
from bartviz.drawing.colors import word_palette, word_places
from bartviz.features.masks.figure import SHORT, SIDE, View
from bartviz.language import _, mark
from bartviz.record.attention import Attention, Kind
from bartviz.text.tokens import Tokens

_FILES = Path(__file__).parent
_MOUNT = st.components.v2.component(
    "bartviz.squares",
    html=(_FILES / "squares.html").read_text("utf-8"),
    css=(_FILES / "squares.css").read_text("utf-8"),
    js=bundle(_FILES / "squares.js"),
)
WORDS: Mapping[str, str] = {
    "open": mark("{row} may look at {column}."),
    "closed": mark("{row} may not look at {column}."),
    "weight": mark("{row} looks at {column}: {weight}."),
    "open_added": mark("{row} to {column}: {sign} is added."),
    "closed_added": mark("{row} to {column}: {sign} is added, and no weight is left."),
    "last": mark("This is the last open cell of the row {row}, and stays open: a row has to look somewhere."),
    "paint": mark(
        "Touch a cell to open or close it, or drag over several. A dot marks what differs from the model's own mask."
    ),
    "paint_touch": mark(
        "Tap a cell to open or close it. To paint several, drag along a row, or press for a moment and drag. "
        "A dot marks what differs from the model's own mask."
    ),
    "undo": mark("Undo"),
    "undo_title": mark("Undo the last stroke (Ctrl+Z)"),
}


def row(rows: int, first: int) -> int:
    """The row that is framed in all squares (URL ``row``), at first the one of every page."""
    held, default = st.session_state.get("row"), (str(first),)

    def parse(words: Words) -> Words | None:
        try:
            return (str(min(max(int(float(words[-1][:9])), 0), rows - 1)),)
        except (ValueError, OverflowError, IndexError):
            return None

    found = url_state.resolve("row", None if held is None else (str(held),), parse, default)
    chosen = int(found[0])
    asked = st.query_params.get("row", "") if url_state.opened("row") else ""
    if asked and asked not in map(str, range(rows)):
        url_state.invalid_choice("row", asked, found[0])
    if found == default:
        st.session_state.pop("row", None)  # a page on which another row is the first keeps its own
    else:
        st.session_state["row"] = chosen
    url_state.publish("row", found, default)
    return chosen


def show(squares: Sequence[Mapping[str, Any]], *, row: int, key: str, paint: bool = False) -> str | None:
    """Draw the squares; a row that is clicked becomes the choice of the page. Returns the painted cells, if any were,
    as a text of 0 and 1."""
    words = {name: _(text) for name, text in WORDS.items()}
    plain = not levels.at_least("intermediate")
    sent = {"words": words, "paint": paint, "plain": plain, "row": row, "squares": list(squares)}
    data = json.dumps(sent).encode()
    found = _MOUNT(data=data, key=key, on_row_change=lambda: _follow(key), on_cells_change=lambda: None)
    cells = found.get("cells")
    return cells if isinstance(cells, str) else None


def _follow(key: str) -> None:
    """The row that was clicked: a callback."""
    state: Any = st.session_state.get(key)
    chosen = state.get("row") if isinstance(state, Mapping) else None
    if isinstance(chosen, int) and 0 <= chosen < 1_000_000:
        st.session_state["row"] = chosen


def square(
    attention: Attention,
    title: str,
    *,
    view: View = "pattern",
    number: str = "lowest",
    layer: int = 0,
    head: int = 0,
    query: Tokens | None = None,
    own: Bools | None = None,
    colors: tuple[Numbers, Numbers] | None = None,
    partners: Sequence[int] = (),
    plain: bool = False,
) -> dict[str, Any]:
    """One square: plain JSON, whose texts the component escapes. Above ``SIDE`` cells a side, a cell is a block, and
    open where any of it is; its weight is the largest in it.

    ``own``: the model's own mask, where the attention's is one that is painted. ``colors``: those of the words of rows
    and columns, as of ``pick.colors_of_words``; blocks of cells have none. ``partners``: of the encoder's
    square, its row for each row of the decoder, -1 for none. ``plain``: its sentences are those for a beginner.
    """
    rows = query or attention.query
    step = math.ceil(max(attention.mask.shape) / SIDE)
    layers, heads = attention.shape[:2]
    at = min(layer, layers - 1), min(head, heads - 1)
    cells, written, values = attention.mask, None, None
    if view == "weights":
        values = np.rint(1000 * _largest(attention.head(*at), step)).astype(int).ravel().tolist()
        title = f"{title}, {sentence_words.head_in_words(*at) if plain else f'L{at[0]}H{at[1]}'}"
    row_colors, column_colors = colors if colors is not None and step == 1 else ((), ())
    shared = attention.bias_of(0)
    if view == "additive" and shared is not None and step == 1:
        written = [f"{value:.1f}" for value in np.where(attention.mask, shared[at[1]], 0).ravel()]
    return {
        "kind": attention.kind,
        "title": title,
        "rows": list(rows.labels[::step]),
        "columns": list(attention.key.labels[::step]),
        "axes": [_(text) for text in _axes(attention.kind, predicts=rows is not attention.query)],
        "row_special": np.flatnonzero(rows.special[::step]).tolist(),
        "column_special": np.flatnonzero(attention.key.special[::step]).tolist(),
        "row_colors": word_places(row_colors),
        "column_colors": word_places(column_colors),
        "palette": word_palette(),
        "cells": _text(_largest(cells, step)),
        "own": None if own is None else _text(own),
        "values": values,
        "sign": SHORT[number] if view == "additive" else "",
        "exact": f"{mask_value.number_of(number):.3g}".replace("-", "−").replace("inf", "∞"),
        "written": written,
        "stops": [list(theme.stops(attention.kind)), list(theme.stops(attention.kind, dark=True))],
        "partners": list(partners) if step == 1 else [],
        "say": [
            masks.weights_sentence(attention, *at, each, query, plain=plain)
            if view == "weights"
            else masks.row_sentence(attention, each, query, plain=plain)
            for each in range(0, len(rows.labels), step)
        ],
    }


def _axes(kind: Kind, *, predicts: bool) -> tuple[str, str]:
    """What the rows and the columns of a square are; ``predicts``: rows are named by what the decoder writes next, so
    that they begin later than its columns."""
    if kind == "encoder" or not predicts:
        return mark("word ↓"), mark("looks at →")
    return mark("to write ↓"), mark("so far →") if kind == "decoder" else mark("looks at →")


def _text(cells: Bools) -> str:
    return "".join("1" if cell else "0" for cell in cells.ravel())


def _largest(values: Bools | Floats, step: int) -> Any:
    """The largest of each block (step, step)."""
    if step == 1:
        return values
    rows, columns = (np.arange(0, size, step) for size in values.shape)
    return np.maximum.reduceat(np.maximum.reduceat(values, rows, axis=0), columns, axis=1)
