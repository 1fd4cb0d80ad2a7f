"""The classic view: which view, kind and tokens, and the frame that it is drawn in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from bartviz.analysis import terms
from bartviz.attention import Attention, Kind, Tokens
from bartviz.errors import BartvizError
from bartviz.language import _, mark, named
from bartviz.record import Record
from bartviz.ui import page, pick, show
from bartviz.ui.classic import offline
from bartviz.ui.classic.offline import View, Window

VIEWS = {"head": mark("head view"), "model": mark("model view")}
_MADE = "_classic"


@dataclass(frozen=True, eq=False)
class Chosen:
    """What the page shows: one kind of attention, the names of its rows, and the tokens that fit."""

    view: View
    attention: Attention
    rows: Tokens
    layer: int
    window: Window
    most: int

    @property
    def whole(self) -> bool:
        """Whether all tokens are shown."""
        return max(len(self.rows), len(self.attention.key)) <= self.most


def choose(record: Record) -> Chosen:
    """The pickers: view, kind, names of the decoder's rows; and for a long text which tokens are shown."""
    first, second, third, fourth = st.columns([1.5, 1.6, 1.3, 2], vertical_alignment="bottom")
    with first:
        view = cast("View", pick.one_of(_("View"), named(VIEWS), key="classic"))
    with second:
        kind = pick.kind(record, default="cross" if "cross" in record.kinds else None)
    attention = record.attention(kind)
    layer = 0
    if view == "head":
        with third:
            layer = pick.layer(record, kind, default=attention.shape[0] // 2)
    rows = attention.query
    if kind != "encoder" and record.output is not None:
        with fourth:
            rows = record.rows(kind, pick.reading())
    most = offline.most_tokens(attention, view)
    return Chosen(view, attention, rows, layer, _window(kind, len(rows), len(attention.key), most), most)


def _window(kind: Kind, rows: int, columns: int, most: int) -> Window:
    """Which tokens: all, or the first so many from a place of the reader's choice."""
    names = (_("From row"), _("From column")) if kind == "cross" else (_("From token"), "")
    left, right = st.columns(2) if max(rows, columns) > most else (st.container(), st.container())
    with left:
        first = _from(names[0], rows, most, "from_row")
    with right:
        second = _from(names[1], columns, most, "from_column") if names[1] else first
    return Window(slice(first, min(first + most, rows)), slice(second, min(second + most, columns)))


def _from(label: str, tokens: int, most: int, key: str) -> int:
    return pick.index(label, tokens - most + 1, key=key) if tokens > most else 0


def notice(chosen: Chosen) -> str:
    """One sentence of what to do with this view."""
    layers, heads = chosen.attention.shape[:2]
    if chosen.view == "head":
        return _(
            "{heads} heads of {kind} layer {layer}, a colour each: point at a token to see where it looks; click a "
            "square to switch a head off.",
            heads=heads, kind=terms.kind(chosen.attention.kind), layer=chosen.layer,
        )  # fmt: skip
    return _(
        "All {layers} x {heads} {kind} heads as thumbnails: click one to see it large.",
        layers=layers, heads=heads, kind=terms.kind(chosen.attention.kind),
    )  # fmt: skip


def cap(chosen: Chosen) -> str:
    """What is not shown, and why; nothing where all is."""
    if chosen.whole:
        return ""
    rows, columns = chosen.window.rows, chosen.window.columns
    return _(
        "Rows {first_row} to {last_row} of {all_rows:,} and columns {first_column} to {last_column} of "
        "{all_columns:,} are shown: this view draws a line for every weight, and takes at most {most} tokens a side of "
        "this model ({weights:,} weights, 1 MB). What lies outside is left out, so the lines of a token need not sum "
        "to 1. The Heads page shows the whole text.",
        first_row=rows.start, last_row=rows.stop - 1, all_rows=len(chosen.rows), first_column=columns.start,
        last_column=columns.stop - 1, all_columns=len(chosen.attention.key), most=chosen.most, weights=offline.CELLS,
    )  # fmt: skip


def picture(chosen: Chosen) -> str | None:
    """The view in its frame, as high as it needs; and its size. Gives the page that is framed, None where it failed."""
    try:
        with st.spinner(_("Drawing the classic view")):
            html = _html(chosen)
    except BartvizError as error:
        st.error(show.plain(str(error)))
        return None
    st.iframe(html, height=offline.height(chosen.view, chosen.attention, chosen.window), alt=notice(chosen))
    layers, heads = chosen.attention.shape[:2]
    drawn = (
        (1 if chosen.view == "head" else layers) * heads * _length(chosen.window.rows) * _length(chosen.window.columns)
    )
    show.note(
        _(
            "{count:,} weights, {size:.2f} MB with its scripts, rounded to three decimals. Left the token that looks "
            "(a row), right the token that is looked at (a column). Drawn by bertviz 1.4.1 (Vig 2019).",
            count=drawn,
            size=len(html) / 1e6,
        )
    )
    return html


def arrays(chosen: Chosen) -> dict[str, Any]:
    """For NPZ: the weights that are drawn, (H, rows, columns) of the layer or (L, H, rows, columns), and the tokens."""
    import numpy as np

    attention, window = chosen.attention, chosen.window
    layers = [chosen.layer] if chosen.view == "head" else range(attention.shape[0])
    weights = np.stack([attention.layer(layer)[:, window.rows, window.columns] for layer in layers])
    return {
        "weights": weights[0] if chosen.view == "head" else weights,
        "rows": np.array(chosen.rows.labels[window.rows]), "columns": np.array(attention.key.labels[window.columns]),
    }  # fmt: skip


def _length(part: slice) -> int:
    return int(part.stop - part.start)


def _html(chosen: Chosen) -> str:
    """The page of the frame; the last one is kept, and sent again only when it has changed."""
    dark = page.dark()
    window = chosen.window
    key = (
        chosen.view, chosen.layer, window.rows.start, window.columns.start, dark, chosen.rows is chosen.attention.query
    )  # fmt: skip
    kept = st.session_state.get(_MADE)
    if kept is None or kept[0] is not chosen.attention or kept[1] != key:
        html = offline.page(
            chosen.view, chosen.attention, chosen.rows.labels, window=window, layer=chosen.layer, dark=dark
        )
        kept = (chosen.attention, key, html)
        st.session_state[_MADE] = kept
    return str(kept[2])
