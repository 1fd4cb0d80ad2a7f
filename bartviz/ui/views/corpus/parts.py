"""The parts of the corpus page: the pickers, every head by one measure, and what is known of the chosen head."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import corpus as analysis
from bartviz.analysis import sentence_words
from bartviz.analysis.corpus_definitions import ALL
from bartviz.analysis.corpus_roles import roles
from bartviz.corpus import shipped
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.partial import bin_width
from bartviz.figures.atlas import atlas as drawing
from bartviz.figures.distribution import distribution
from bartviz.language import _, mark
from bartviz.record.attention import KINDS, Head
from bartviz.ui.controls import pick, show
from bartviz.ui.frame import page, sidebar, sitemap
from bartviz.ui.state.once import once

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SOURCE = mark(
    "Contains sentences from Tatoeba (tatoeba.org) via manythings.org/anki, CC BY 2.0 FR, cleaned and filtered."
)
_STYLE = Path(__file__).with_name("corpus.css")
_EXAMPLES = {"highest": mark("Where it does most of it"), "lowest": mark("Where it does least of it")}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The model of the atlas, the measure, and the head."""

    model: str
    measure: str
    head: Head

    @property
    def name(self) -> str:
        return sentence_words.head(self.head.kind, self.head.layer, self.head.head)


def choose() -> Chosen:
    """The pickers of the atlas, the kind, the measure and the head (URL ``atlas``, ``kind``, ``by``, ``layer``,
    ``head``)."""
    first, second, third = st.columns([1.2, 1.3, 1.2], vertical_alignment="bottom")
    with first:
        model = pick.select(_("Atlas"), shipped.NAMES, key="atlas")
    heads = shipped.atlas(model).heads.dropna(subset=["mean"])
    there = [kind for kind in KINDS if (heads["kind"] == kind).any()]
    with second:
        word = pick.one_of(
            _("Attention"),
            {kind: pick.kind_name(kind) for kind in there},
            key="kind",
            default="cross" if "cross" in there else None,
        )
    kind = next(kind for kind in there if kind == word)
    rows = heads[heads["kind"] == kind]
    names = {name: measure.title for name, measure in ALL.items() if (rows["measure"] == name).any()}
    with third:
        measure = pick.select(_("Measure"), names, key="by", default="alignment" if kind == "cross" else "previous")
    best = rows[rows["measure"] == measure].sort_values("mean", ascending=False).iloc[0]
    left, right = st.columns(2)
    with left:
        layer = pick.index(_("Layer"), int(rows["layer"].max()) + 1, key="layer", default=int(best["layer"]))
    with right:
        number = pick.index(_("Head"), int(rows["head"].max()) + 1, key="head", default=int(best["head"]))
    return Chosen(model, measure, Head(kind, layer, number))


def notice(chosen: Chosen) -> str:
    """The role of the chosen head, with what speaks for and against it."""
    return once(partial(_notice, chosen))


def _notice(chosen: Chosen) -> str:
    of = shipped.atlas(chosen.model)
    return analysis.notice(analysis.evidence(of.heads, of.histograms, chosen.head), chosen.head)


def all_heads(chosen: Chosen, *, dark: bool) -> go.Figure:
    """Every head of the kind by the measure."""
    return drawing(shipped.atlas(chosen.model).heads, measure=chosen.measure, kind=chosen.head.kind, dark=dark)


def _values(chosen: Chosen, *, dark: bool) -> go.Figure:
    histograms = shipped.atlas(chosen.model).histograms
    width = bin_width(chosen.measure)
    return distribution(histograms, measure=chosen.measure, head=chosen.head, width=width, dark=dark)


def picture(chosen: Chosen) -> None:
    """The mosaic and the intervals of every head."""
    alt = _("Each head by its mean over the corpus: left as layers and heads, right as points with 95% intervals")
    st.html(_STYLE)
    with st.container(key="corpus_wide"):
        show.figure(partial(all_heads, chosen, dark=page.dark()), key="corpus_heads", alt=alt)
    of = shipped.atlas(chosen.model).description
    counted = _("{texts:,} texts; a dotted line is even attention, where it is defined.", texts=of["texts"])
    show.note(f"{counted} {ALL[chosen.measure].says} {_(SOURCE)}")


def values(chosen: Chosen) -> None:
    """How the values of the chosen head are distributed over the texts."""
    title = _("How {head} differs from text to text", head=chosen.name)
    st.subheader(show.plain(title), anchor=False)
    show.figure(partial(_values, chosen, dark=page.dark()), key="corpus_values", alt=title)


def examples(chosen: Chosen) -> None:
    """The texts where the head does most and least; each opens as a record on the page of heads."""
    rows = analysis.of_head(shipped.atlas(chosen.model).examples, chosen.head)
    rows = rows[rows["measure"] == chosen.measure].sort_values("rank")
    for column, (which, title) in zip(st.columns(2), _EXAMPLES.items(), strict=True):
        with column:
            st.subheader(_(title), anchor=False)
            for row in rows[rows["which"] == which].to_dict("records"):
                _example(chosen, f"corpus_{which}_{row['rank']}", row)


def _example(chosen: Chosen, key: str, row: Mapping[Any, Any]) -> None:
    text, target = str(row["text"]), row["target"] if isinstance(row["target"], str) else ""
    said = html.escape(text) + (f"<br>{html.escape(target)}" if target else "")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        st.html(f"<p><b>{row['value']:.2f}</b> · {said}</p>")
        opened = st.button(
            _("See its map"), key=f"{key}_open", on_click=sidebar.run_text, args=(chosen.model, text, target)
        )
    if opened:  # layer and head are carried over from this page
        query = {"kind": chosen.head.kind, "weights": "head", "view": "map"}
        st.switch_page(sitemap.page("heads").file, query_params=query)


def passport(chosen: Chosen) -> pd.DataFrame:
    """Every measure of the chosen head, with its rank among its kind."""
    return analysis.passport(shipped.atlas(chosen.model).heads, chosen.head)


def known(chosen: Chosen) -> None:
    """The passport of the chosen head, its neighbours, and the heads that have a role."""
    of = shipped.atlas(chosen.model)
    table = show.in_words(passport(chosen))
    st.subheader(show.plain(_("All that is known of {head}", head=chosen.name)), anchor=False)
    st.dataframe(table, hide_index=True, column_config=show.headers(table))
    left, right = st.columns([1, 2])
    with left:
        st.subheader(_("Most similar heads"), anchor=False)
        near = show.in_words(analysis.neighbours(of.heads, chosen.head))
        st.dataframe(near, hide_index=True, column_config=show.headers(near))
    with right:
        st.subheader(_("Heads with a role"), anchor=False)
        named = show.in_words(_roles(of))
        st.dataframe(named, hide_index=True, column_config=show.headers(named))


def _roles(of: Atlas) -> pd.DataFrame:
    found = roles(of.heads)
    names = [f"{row.kind} L{row.layer}H{row.head}" for row in found.itertuples()]
    return found.assign(head=names)[["head", "role", "mean", "low", "high", "even", "n"]]
