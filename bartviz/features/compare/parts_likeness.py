"""All heads of a kind, arranged by similarity, and the most similar pairs."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.app.controls import show
from bartviz.app.frame import page
from bartviz.app.state.result_cache import cached
from bartviz.features.compare import numbers_similar as similar
from bartviz.features.compare import parts
from bartviz.features.compare.figure import alike
from bartviz.features.compare.parts import Chosen
from bartviz.language import _
from bartviz.record.attention import Head
from bartviz.record.record import Record

HEIGHT = 460  # pixels of the plane


def heads(chosen: Chosen) -> None:
    """The plane, where a click pins a head, next to the pairs."""
    likeness = of_record(chosen.record, chosen)
    if likeness is None:
        show.note(_("There is nothing to lay out: a single head, or no row with a choice of keys."))
        return
    left, right = st.columns([1.7, 1], gap="medium")
    with left:
        drawn = partial(
            alike,
            chosen.measured,
            likeness,
            pins=chosen.places,
            threshold=chosen.threshold,
            dark=page.dark(),
            height=HEIGHT,
        )
        caption = _("Every {kind} head; similar heads are close together", kind=sentence_words.before_noun(chosen.kind))
        parts.clickable(drawn, key="compare_likeness", alt=caption)
        show.note(
            _(
                "{said}. Distances: mean Jensen-Shannon distance over {rows} rows (after Clark et al. 2019, "
                "6), laid out by classical scaling; the plane keeps {kept:.0%} of their spread. The axes "
                "have no other meaning.",
                said=caption,
                rows=likeness.rows,
                kept=likeness.kept,
            )
        )
    with right:
        show.note(_("The most similar pairs:"))
        table = pairs(chosen, likeness)
        names = show.headers(table)
        config = names | {"distance": st.column_config.NumberColumn(names["distance"], format="%.3f")}
        st.dataframe(show.in_words(table), hide_index=True, height=HEIGHT - 60, column_config=config, key="pairs")
    show.downloads(
        "likeness",
        title=_("Similarity"),
        of=chosen.kind,
        table=table,
        arrays=lambda: {"distances": likeness.distances, "places": likeness.places, "heads": every_head(chosen)},
        figure=drawn,
    )


def of_record(record: Record, chosen: Chosen) -> similar.Likeness | None:
    """The distances between all heads, computed once for each kind of the record."""
    rows = record.rows(chosen.kind)
    return cached(partial(similar.likeness, chosen.attention, query=rows), _("Comparing all pairs of heads"))


def every_head(chosen: Chosen) -> tuple[str, ...]:
    """The names of all heads, in the order of the distances' rows and columns."""
    layers, heads = chosen.measured.shape
    return tuple(str(Head(chosen.kind, layer, head)) for layer in range(layers) for head in range(heads))


def pairs(chosen: Chosen, likeness: similar.Likeness) -> pd.DataFrame:
    """The most similar pairs of heads, nearest first."""
    lines = [(str(Head(chosen.kind, *a)), str(Head(chosen.kind, *b)), distance) for a, b, distance in likeness.pairs()]
    return pd.DataFrame(lines, columns=["head", "and", "distance"])
