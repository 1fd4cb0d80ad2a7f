"""All heads as a table to filter and sort, the heads nearest to A, and the meaning of each measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from bartviz.analysis import compare as analysis
from bartviz.analysis import distance, head_names, sentence_words
from bartviz.analysis.corpus_measures import measure_of
from bartviz.analysis.head_measures import definitions_of
from bartviz.analysis.measures import Measured
from bartviz.app.controls import pick, show
from bartviz.arrays import Bools
from bartviz.features.compare import parts_pins as pins
from bartviz.features.compare.parts import Chosen
from bartviz.language import _, mark, named
from bartviz.record.attention import Head

if TYPE_CHECKING:
    import pandas as pd

WHICH = {"all": mark("all heads"), "named": mark("with a name"), "unnamed": mark("unclassified")}
HEIGHT = 330  # pixels of the tables
_TABLE, _LINES = "compare_table", "_compare_lines"


def _distance() -> Any:
    help_text = _("Jensen-Shannon, mean over rows")
    return st.column_config.NumberColumn(_("distance from A"), format="%.3f", help=help_text)


def table(chosen: Chosen) -> pd.DataFrame:
    """All heads of the kind with their measures, names and scores, and their distance from A."""
    return analysis.table(chosen.measured, threshold=chosen.threshold, to_a=chosen.to_a)


def all_heads(chosen: Chosen) -> None:
    """The table with its filters, next to the heads nearest to A; selecting a line pins its head."""
    left, right = st.columns([2.1, 1], gap="medium")
    with left:
        filtered = _filtered(table(chosen), chosen)
        st.session_state[_LINES] = filtered["head"].tolist()
        shown = filtered.drop(columns=["layer", "number"]).dropna(axis="columns", how="all")
        order = sorted((str(column) for column in shown.columns), key=_order)
        st.dataframe(
            show.in_words(shown),
            hide_index=True,
            height=HEIGHT,
            key=_TABLE,
            column_order=order,
            column_config=show.headers(shown) | _columns(chosen.measured),
            on_select=_pin_selected,
            selection_mode="single-row",
            placeholder="–",
        )
        count = chosen.measured.shape[0] * chosen.measured.shape[1]
        show.note(
            _(
                "{found} of {count} heads. Choose a title to sort; select a row to pin its head.",
                found=len(filtered),
                count=count,
            )
        )
    with right:
        _nearest(chosen)


def _filtered(whole: pd.DataFrame, chosen: Chosen) -> pd.DataFrame:
    """The lines that pass the filters (URL ``show`` and ``least``)."""
    first, second = st.columns([1.3, 1])
    with first:
        pick.one_of(_("Show"), named(WHICH), key="show")
    with second:
        pick.index(_("Least {measure}, in % of the largest", measure=chosen.y.title), 101, key="least")
    return whole[kept(chosen).ravel()]


def kept(chosen: Chosen) -> Bools:
    """(L, H) the heads that pass the filters; all of them if the table is not open."""
    which, share = st.session_state.get("show", "all"), st.session_state.get("least", 0)
    passing = np.ones(chosen.measured.shape, np.bool_)
    if which in ("named", "unnamed"):
        passing[:] = which == "unnamed"
        for index in head_names.names(chosen.measured, threshold=chosen.threshold):
            passing[index] = which == "named"
    if share:
        passing &= chosen.y.within(chosen.y.bounds[1] * share / 100, float("inf"))
    return passing


def _order(column: str) -> bool:
    """Whether a column comes after the head, its name and its distance from A."""
    return column not in ("head", "name", "score", analysis.TO_A)


def _columns(measured: Measured) -> dict[str, Any]:
    number = st.column_config.NumberColumn
    known = {name: measure_of(name) for name in measured.values}
    named = {name: number(one.title, format="%.3f", help=one.says) for name, one in known.items()}
    score = number(_("score"), format="%.2f", help=_("The score that gave the name"))
    return named | {"score": score, analysis.TO_A: _distance()}


def _pin_selected() -> None:
    """Pin the head of the selected line: a callback."""
    lines, names = st.session_state[_TABLE].selection.rows, st.session_state.get(_LINES, [])
    if lines and lines[0] < len(names):
        pins.put(Head.parse(names[lines[0]]))


def _nearest(chosen: Chosen) -> None:
    """The heads of A's kind and run that are most similar to A."""
    import pandas as pd

    a = chosen.a
    near = distance.nearest(pins.to_a(a), *a.place)
    show.note(_("The heads most like A, {head}, by Jensen-Shannon distance:", head=a.label()))
    lines = [(str(Head(a.head.kind, layer, head)), far) for layer, head, far in near]
    frame = pd.DataFrame(lines, columns=["head", analysis.TO_A])
    config = show.headers(frame) | {analysis.TO_A: _distance()}
    st.dataframe(show.in_words(frame), hide_index=True, height=HEIGHT, column_config=config, key="nearest")
    if near and not a.other:
        best = Head(a.head.kind, *near[0][:2])
        st.button(
            _("Pin {head} as B", head=sentence_words.heads(str(best))),
            on_click=pins.put,
            args=(best, "B"),
            key="pin_nearest",
            width="stretch",
        )


def meanings(chosen: Chosen) -> None:
    """Every measure of the kind with its formula, unit, range, rows, source, and its number of rows here."""
    known = definitions_of(measure_of(name) for name in chosen.measured.values)
    rows = chosen.measured.rows.values()
    known["rows"] = [
        _("{count:,} here: {which}", count=count, which=which) for count, which in zip(rows, known["rows"], strict=True)
    ]
    even = chosen.measured.even.values()
    known.insert(4, _("even attention"), ["–" if np.isnan(value) else f"{value:.3f}" for value in even])
    names = {
        "measure": _("measure"),
        "says": _("says"),
        "unit": _("unit"),
        "rows": _("rows"),
        "source": _("paper"),
        "formula, mean over rows i": _("formula, mean over rows i"),
    }
    st.table(known.rename(columns=names).map(show.plain), hide_index=True)
    show.note(
        _(
            "Each number is the mean of the formula over rows i; a(i, j) is the weight of key j in row i. A "
            "row counts if it is neither padding nor a special token and may see at least two keys: with a "
            "single key the weight is always 1. Rows of cross-attention are the tokens that they predict."
        )
    )
    show.note(
        _(
            "A head gets a name if its pattern has at least {threshold:g} of the weight (spreads evenly: "
            "{evenly:g} of the possible entropy) and {factor:g} times what even attention would give. Names "
            "hold for this text only; other heads stay unclassified.",
            threshold=chosen.threshold,
            evenly=head_names.EVENLY,
            factor=head_names.MARGIN,
        )
    )
