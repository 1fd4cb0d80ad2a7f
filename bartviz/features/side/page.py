"""BERT and BART side by side: the same text in an encoder, and in an encoder with a decoder."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import head_names, matching_heads, sentence_words
from bartviz.analysis.measures import of_record
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page
from bartviz.app.state.result_cache import cached
from bartviz.features.side import parts
from bartviz.language import _
from bartviz.record.attention import Head
from bartviz.record.record import Record

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator
    from bartviz.families.family import ModelKind


def lead(left: Record | None, right: Record | None, match: matching_heads.Match | None) -> str:
    """What both models do alike and what only one does, and the two heads that are shown."""
    said = _("Both read the whole text in both directions. Only one of them also writes, from left to right.")
    if left is None or right is None:
        return said
    if match is None:
        return f"{said} {_('They do not read the same words here, so no heads are compared.')}"
    measured = [cached(partial(of_record, run, "encoder")) for run in (left, right)]
    titles = [
        found.title
        for measures, head in zip(measured, (match.first, match.second), strict=True)
        if (found := head_names.name(measures, head.layer, head.head)) is not None
    ]
    values = {
        "one": _head(left, match.first),
        "other": _head(right, match.second),
        "name": titles[0] if titles else "",
        "correlation": match.correlation,
    }
    alike = _("Two of their heads look at it in much the same way: {one} and {other}.", **values)
    if len(titles) == 2 and titles[0] == titles[1]:
        alike = _("Two of their heads look at it in much the same way, “{name}”: {one} and {other}.", **values)
    if levels.at_least("intermediate"):
        alike = f"{alike} {_('The correlation is {correlation:.2f}.', **values)}"
    return f"{said} {alike}"


def _head(record: Record, head: Head) -> str:
    name = sentence_words.head(head.kind, head.layer, head.head)
    return _("{head} of {model}", head=name, model=record.model.name)


def _side(place: DeltaGenerator, record: Record, kind: ModelKind) -> Record | None:
    """The run of one side, with its name and its masks; None until it is there."""
    with place, st.container(key=f"side_side_{kind}"):
        run = parts.side(record, kind)
        if run is not None:
            st.subheader(run.model.name, anchor=False)
            parts.squares(run)
    return run


def main() -> None:
    record = page.begin("side")
    st.html(parts.STYLE)
    with show.place("lead"):
        said = st.empty()
    above, below = st.columns(2, gap="large"), st.columns(2, gap="large")
    left, right = _side(above[0], record, "encoder"), _side(above[1], record, "encoder-decoder")
    match = cached(partial(matching_heads.match, left, right)) if left is not None and right is not None else None
    with said:
        show.lead(lead(left, right, match))
    first = [match.first, match.second] if match is not None else [None, None]
    for place, run, side, head in zip(below, (left, right), ("left", "right"), first, strict=True):
        with place, st.container(key=f"side_map_{side}"):
            if run is not None:
                parts.map_of(run, side, head or pick.first_head(run, "encoder"))
    levels.explain("side")
