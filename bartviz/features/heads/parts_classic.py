"""The fourth view of the page Heads: the head view and the model view of bertviz, in a frame, without the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from bartviz.app.components import served
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page, row_names
from bartviz.errors import BartvizError
from bartviz.features.heads.figure_classic import captions, offline
from bartviz.features.heads.figure_classic import classic as figure
from bartviz.features.heads.figure_classic.offline import View, Window
from bartviz.language import _, mark, named
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Reading, Record
from bartviz.text.tokens import Tokens

VIEWS = {"head": mark("head view"), "model": mark("model view")}
_MADE = "_classic"


@dataclass(frozen=True, eq=False)
class Chosen:
    """The page's choice: one kind of attention, the names of its rows, and the tokens that fit."""

    view: View
    attention: Attention
    rows: Tokens
    layer: int
    window: Window
    most: int

    @property
    def reading(self) -> Reading:
        """How the rows are named."""
        return "reads" if self.rows is self.attention.query else "predicts"


def choose(record: Record, kind: Kind) -> Chosen:
    """The pickers: head or model view, layer, names of the decoder's rows; and for a long text the tokens shown."""
    view = cast("View", pick.one_of(_("View"), named(VIEWS), key="classic"))
    attention = record.attention(kind)
    layer = pick.layer(record, kind) if view == "head" else 0
    rows = attention.query
    if kind != "encoder" and record.output is not None:
        rows = record.rows(kind, row_names.choose())
    most = offline.most_tokens(attention, view)
    return Chosen(view, attention, rows, layer, _window(kind, len(rows), len(attention.key), most), most)


def _window(kind: Kind, rows: int, columns: int, most: int) -> Window:
    """The tokens shown: all, or as many as fit from a position that the reader chooses."""
    names = (_("From row"), _("From column")) if kind == "cross" else (_("From token"), "")
    first = _from(names[0], rows, most, "from_row")
    second = _from(names[1], columns, most, "from_column") if names[1] else first
    return Window(slice(first, min(first + most, rows)), slice(second, min(second + most, columns)))


def _from(label: str, tokens: int, most: int, key: str) -> int:
    return pick.index(label, tokens - most + 1, key=key) if tokens > most else 0


def draw(record: Record, chosen: Chosen) -> None:
    """The whole page below the pickers."""
    show.lead(notice(chosen))
    show.note(cap(chosen))
    drawn = picture(chosen)
    levels.explain("classic")
    figure = (lambda: file(chosen)) if drawn else None
    show.downloads("classic", arrays=lambda: arrays(chosen), figure=figure, record=record)


def notice(chosen: Chosen) -> str:
    """One sentence on how to use this view."""
    return captions.title(chosen.view, chosen.attention, chosen.layer)


def cap(chosen: Chosen) -> str:
    """A note on what is left out, why, and where to find it; empty if everything is shown."""
    message = captions.cap(chosen.attention, chosen.window, chosen.most)
    return f"{message} {_('The other views show the whole text.')}" if message else ""


def picture(chosen: Chosen) -> bool:
    """The view in a frame of the height it needs, and its size. Returns whether it could be drawn."""
    try:
        with st.spinner(_("Drawing the classic view")):
            html = _html(chosen)
    except BartvizError as error:
        st.error(show.plain(str(error)))
        return False
    st.iframe(html, height=offline.height(chosen.view, chosen.attention, chosen.window), alt=notice(chosen))
    layers, heads = chosen.attention.shape[:2]
    rows, columns = chosen.window.shape
    size = _(
        "{count:,} weights, {size:.2f} MB, rounded to three decimals. Drawn by bertviz 1.4.1 (Vig 2019).",
        count=(1 if chosen.view == "head" else layers) * heads * rows * columns,
        size=len(html) / 1e6,
    )
    show.note(f"{captions.sides(chosen.attention, chosen.reading)} {size}")
    return True


def file(chosen: Chosen) -> str:
    """The same view as a page of its own, with a title."""
    return figure(
        chosen.attention,
        view=chosen.view,
        layer=chosen.layer,
        rows=chosen.rows,
        first=(chosen.window.rows.start, chosen.window.columns.start),
        dark=page.dark(),
    ).html


def arrays(chosen: Chosen) -> dict[str, Any]:
    """For NPZ: the weights that are drawn, (H, rows, columns) of the layer or (L, H, rows, columns), and the tokens."""
    import numpy as np

    attention, window = chosen.attention, chosen.window
    layers = [chosen.layer] if chosen.view == "head" else range(attention.shape[0])
    weights = np.stack([attention.layer(layer)[:, window.rows, window.columns] for layer in layers])
    return {
        "weights": weights[0] if chosen.view == "head" else weights,
        "rows": np.array(chosen.rows.labels[window.rows]),
        "columns": np.array(attention.key.labels[window.columns]),
    }


def _html(chosen: Chosen) -> str:
    """The HTML of the frame; the last one is kept, and sent again only when it changes."""
    dark = page.dark()
    window = chosen.window
    key = (
        chosen.view,
        chosen.layer,
        window.rows.start,
        window.columns.start,
        dark,
        chosen.rows is chosen.attention.query,
    )
    kept = st.session_state.get(_MADE)
    if kept is None or kept[0] is not chosen.attention or kept[1] != key:
        html = offline.page(
            chosen.view,
            chosen.attention,
            chosen.rows.labels,
            window=window,
            layer=chosen.layer,
            dark=dark,
            libraries=served.address("classic", offline.VENDOR),
        )
        kept = (chosen.attention, key, html)
        st.session_state[_MADE] = kept
    return str(kept[2])
