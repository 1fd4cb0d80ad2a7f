"""The parts of the heads page: what is chosen, the canvas, and the numbers of what is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import streamlit as st

from bartviz.analysis import heads
from bartviz.analysis.spans import Range
from bartviz.analysis.thumbnails import SIDE
from bartviz.analysis.words import Groups, word_groups
from bartviz.attention import Attention, Tokens
from bartviz.record import Record
from bartviz.ui import canvas, pick, show
from bartviz.ui.canvas import Choice
from bartviz.ui.components.canvas.data import Small, Views, What

if TYPE_CHECKING:
    import pandas as pd

WHAT = {"head": "one head", "layer": "mean of its layer", "all": "mean of all heads"}
SMALL = {"all": "all layers", "layer": "this layer"}
RANGE_NAMES = {"fixed": "0 to 1", "row": "each row's largest", "log": "powers of ten"}
VIEWS = {"map": "map", "lines": "lines", "text": "text"}
NAMED = 3  # rows that a title names


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the page shows. ``layer`` and ``head`` are those of the pickers, also where a mean is shown."""

    attention: Attention
    layer: int
    head: int
    what: What
    row: int
    seen: Views
    rows: Tokens
    words: bool
    hide_sinks: bool
    renormalise: bool
    range: Range
    small: Small

    def view(self) -> heads.View:
        """The weights as they are shown."""
        return heads.view(
            self.attention, None if self.what == "all" else self.layer, self.head if self.what == "head" else None,
            query=self.rows, words=self.words, hide_sinks=self.hide_sinks, renormalise=self.renormalise,
        )  # fmt: skip


def choose(record: Record) -> Chosen:
    """The kind; and folded away all else that the canvas does not ask for itself, or that somebody wants to type."""
    first, second = st.columns([3.4, 1], vertical_alignment="center")
    with first:
        kind = pick.kind(record, default="cross" if "cross" in record.kinds else None)
    attention = record.attention(kind)
    with second, st.popover("How it is shown", width="stretch"):
        layer = pick.layer(record, kind, default=attention.shape[0] // 2)
        head = pick.head(record, kind)
        what = pick.one_of("Weights of", WHAT, key="weights")
        seen = pick.one_of("Seen as", VIEWS, key="view")
        small = pick.one_of("Small maps of", SMALL, key="small")
        span = pick.one_of("Colours from", RANGE_NAMES, key="range")
        words = pick.by_words()
        hide = pick.switch("Hide special tokens and full stops", key="hide", hint="Their share is stated.")
        divide = hide and pick.switch("Divide by what is left", key="divide", hint="Rows sum to 1 again.")
        named = pick.reading() if kind != "encoder" and record.output is not None else "reads"
        rows = record.rows(kind, named)
        groups = word_groups(rows) if words else tuple((row,) for row in range(len(rows)))
        row = pick.index("Row", len(groups), key="row", default=_first_word(rows, groups))
    return Chosen(
        attention, layer, head, cast("What", what), row, cast("Views", seen), rows, words, hide, divide,
        cast("Range", span), cast("Small", small),
    )  # fmt: skip


def large(chosen: Chosen) -> Choice:
    """The canvas; what is chosen in it becomes the page's choice, and the link's."""
    return canvas.show(
        chosen.attention, key="heads_canvas",
        choice=Choice(chosen.layer, chosen.head, chosen.what, chosen.row, chosen.seen),
        query=chosen.rows, words=chosen.words, hide_sinks=chosen.hide_sinks, renormalise=chosen.renormalise,
        span=chosen.range, small=chosen.small, on_change=_take,
    )  # fmt: skip


def _take(choice: Choice) -> None:
    """The pickers say what the canvas says."""
    for key, value in zip(("layer", "head", "weights", "row", "view"), choice.core, strict=True):
        st.session_state[key] = value


def note(chosen: Chosen, shown: heads.View) -> None:
    """What kind of picture this is, and what is hidden in it."""
    parts = [f"{shown.name[:1].upper()}{shown.name[1:]}. A row attends to columns."]
    if max(chosen.attention.shape[2:]) > SIDE:
        parts.append("A small map shows the largest weight of each block of tokens.")
    show.note(" ".join([*parts, heads.hidden_note(shown)]))


def numbers(shown: heads.View, choice: Choice) -> None:
    """The chosen rows and the whole map, as tables; each is made when it is opened."""
    rows = choice.rows or (choice.row,)
    named = ", ".join(show.plain(shown.query_labels[row]) for row in rows[:NAMED])
    more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    _folded(f"The numbers of the {'rows' if len(rows) > 1 else 'row'} {named}{more}", "row", lambda: _rows(shown, rows))
    _folded("The whole map as a table", "map", lambda: heads.table(shown))


def _rows(shown: heads.View, rows: tuple[int, ...]) -> pd.DataFrame:
    """One row's numbers, or of several their mean, their sum and each of them."""
    frame = heads.row_table(shown, rows[0])
    if len(rows) == 1:
        return frame
    weights = shown.weights[list(rows)]  # (rows, K')
    frame = frame.drop(columns=["weight", "masked"]).assign(mean=weights.mean(axis=0), sum=weights.sum(axis=0))
    for row in rows:
        frame[f"{row} {shown.query_labels[row]}"] = shown.weights[row]
    return frame


def _folded(title: str, name: str, make: Callable[[], pd.DataFrame]) -> None:
    with st.expander(title, key=f"heads_{name}_table", on_change="rerun") as folded:
        if folded.open:
            st.dataframe(make(), hide_index=True)


def _first_word(rows: Tokens, groups: Groups) -> int:
    """The first row that is not a special token."""
    return next((place for place, group in enumerate(groups) if not rows.special[group[0]]), 0)
