"""The parts of the heads page: what is chosen, all heads small, one of them large, and the text under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from bartviz.analysis import heads
from bartviz.analysis.masks import quote
from bartviz.analysis.thumbnails import Small, thumbnails
from bartviz.attention import Attention, Tokens
from bartviz.figures.heads import one, overview
from bartviz.figures.maps import Range
from bartviz.record import Record
from bartviz.ui import page, pick, session, show

if TYPE_CHECKING:
    import plotly.graph_objects as go

WHAT = {"head": "one head", "layer": "mean of its layer", "all": "mean of all heads"}
SMALL = {"all": "all layers", "layer": "this layer"}
RANGE_NAMES = {"fixed": "0 to 1", "row": "each row's largest", "log": "powers of ten"}
HEIGHT = 470  # pixels of the large map
_OVERVIEW, _LARGE = "heads_overview", "heads_large"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the page shows. ``layer`` and ``head`` are those of the pickers, also where a mean is shown."""

    attention: Attention
    layer: int
    head: int
    what: str
    rows: Tokens
    words: bool
    hide_sinks: bool
    renormalise: bool
    range: Range
    one_layer: bool

    def view(self) -> heads.View:
        """The weights as they are shown."""
        return heads.view(
            self.attention, None if self.what == "all" else self.layer, self.head if self.what == "head" else None,
            query=self.rows, words=self.words, hide_sinks=self.hide_sinks, renormalise=self.renormalise,
        )  # fmt: skip


def choose(record: Record) -> Chosen:
    """The pickers: kind, layer, head; and folded away how the map is shown."""
    first, second, third, fourth = st.columns([1.7, 1.3, 1.3, 0.9], vertical_alignment="center")
    with first:
        kind = pick.kind(record, default="cross" if "cross" in record.kinds else None)
    attention = record.attention(kind)
    with second:
        layer = pick.layer(record, kind, default=attention.shape[0] // 2)
    with third:
        head = pick.head(record, kind)
    with fourth, st.popover("How it is shown", width="stretch"):
        what = pick.one_of("Weights of", WHAT, key="weights")
        small = pick.one_of("Small maps of", SMALL, key="small")
        span = pick.one_of("Colours from", RANGE_NAMES, key="range")
        words = pick.by_words()
        hide = pick.switch("Hide special tokens and full stops", key="hide", hint="Their share is stated.")
        divide = hide and pick.switch("Divide by what is left", key="divide", hint="Rows sum to 1 again.")
        named = pick.reading() if kind != "encoder" and record.output is not None else "reads"
    rows = record.rows(kind, named)
    return Chosen(
        attention, layer, head, what, rows, words, hide, divide, cast("Range", span), small == "layer"
    )  # fmt: skip


def all_heads(record: Record, chosen: Chosen) -> None:
    """Every head of every layer, small; a click on one makes it the large one."""
    kind, attention = chosen.attention.kind, chosen.attention
    keys = ~heads.sinks(attention) if chosen.hide_sinks else None
    layers = [chosen.layer] if chosen.one_layer else None
    small: Small = session.derived(
        f"small_{kind}_{chosen.hide_sinks}_{chosen.range}_{layers}", record,
        lambda: thumbnails(attention, layers, keys=keys, span=chosen.range),
    )  # fmt: skip
    figure = overview(small, kind=kind, chosen=(chosen.layer, chosen.head), dark=page.dark())
    depth, count = attention.shape[:2]
    which = f"The {count} {kind} heads of layer {chosen.layer}" if layers else f"All {depth} x {count} {kind} heads"
    said = f"{which}, small; the framed one is L{chosen.layer}H{chosen.head}."
    _clickable(figure, key=_OVERVIEW, alt=said, then=lambda point: _take_head(point, count))
    show.note(f"{said} Each shows the largest weight of each block of tokens. Click one.")


def large(chosen: Chosen, shown: heads.View, row: int) -> None:
    """The chosen weights, exact, as one map; a click on a cell chooses its row."""
    figure = one(shown, range=chosen.range, row=row, selectable=True, height=HEIGHT, dark=page.dark())
    _clickable(figure, key=_LARGE, alt=heads.notice(shown), then=_take_row)
    show.note(f"{shown.name[:1].upper()}{shown.name[1:]}. A row attends to columns. {heads.hidden_note(shown)}")


def text(record: Record, chosen: Chosen, shown: heads.View) -> int:
    """The row picker, and the text that is looked at, shaded by that row; gives the row."""
    row = pick.index("Row", len(shown.query_labels), key="row", default=_first_word(shown))
    attention, group = chosen.attention, shown.query_groups[row]
    layer = None if chosen.what == "all" else chosen.layer
    weights = heads.mean(attention, layer, chosen.head if chosen.what == "head" else None)  # (Q, K)
    named = "predicts" if chosen.rows is record.output else "reads"
    who = f"the row that {named} " if attention.kind != "encoder" else ""
    show.running_text(
        attention.key, weights[list(group)].mean(axis=0), kind=attention.kind,
        chosen=group[0] if attention.kind != "cross" and named == "reads" else None,
        label=f"The text, shaded by where {who}{quote(shown.query_labels[row])} looks; all columns shown",
        key="heads_text",
    )  # fmt: skip
    return row


def numbers(shown: heads.View, row: int) -> None:
    """The chosen row and the whole map, as tables."""
    show.table(heads.row_table(shown, row), title=f"The numbers of the row {show.plain(shown.query_labels[row])}")
    show.table(heads.table(shown), title="The whole map as a table")


def _first_word(shown: heads.View) -> int:
    """The first row that is not a special token."""
    return next((i for i, special in enumerate(shown.query_special) if not special), 0)


def _clickable(figure: go.Figure, *, key: str, alt: str, then: Callable[[dict[str, Any] | None], None]) -> None:
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": key}}
    st.plotly_chart(
        figure,
        key=key,
        theme=None,
        config=config,
        alt=alt,
        selection_mode="points",
        on_select=lambda: then(_clicked(key)),
    )


def _clicked(key: str) -> dict[str, Any] | None:
    """The point of a plotly chart that was clicked last, None where the click took a selection away."""
    points = st.session_state[key].selection.points
    return dict(points[0]) if points else None


def _take_head(point: dict[str, Any] | None, heads: int) -> None:
    """The small maps are points, counted layer by layer; the pickers keep what comes from the browser in bounds."""
    if point is not None and isinstance(point.get("point_index"), int):
        st.session_state["layer"], st.session_state["head"] = divmod(point["point_index"], heads)
        st.session_state["weights"] = "head"


def _take_row(point: dict[str, Any] | None) -> None:
    if point is not None and isinstance(point.get("y"), int | float):
        st.session_state["row"] = int(point["y"])
