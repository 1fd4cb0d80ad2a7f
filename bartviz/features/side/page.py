"""BERT and BART side by side: the same text in an encoder, and in an encoder with a decoder."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import head_names, matching_heads, plain_words
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

SIDES = ("left", "right")  # BERT, BART


def alike(
    own: Record | None, other: Record | None, match: matching_heads.Match | None, looked_at: Head | None = None
) -> str:
    """The two heads that are shown, and how they look at the text; empty until both runs are there. ``looked_at``: the
    visitor has chosen the first of them on another page."""
    if own is None or other is None:
        return ""
    if match is None:
        return " ".join(
            [
                _("They do not read the same words here, so no heads are compared."),
                _("Of each model the head is shown that every page shows first."),
            ]
        )
    measured = [cached(partial(of_record, run, "encoder")) for run in (own, other)]
    names = [
        found
        for measures, head in zip(measured, (match.first, match.second), strict=True)
        if (found := head_names.name(measures, head.layer, head.head)) is not None
    ]
    values = {"one": _head(own, match.first), "other": _head(other, match.second), "correlation": match.correlation}
    left, right = (values["one"], values["other"])[:: 1 if own.model.kind == "encoder" else -1]  # as they are drawn
    named = levels.at_least("intermediate")  # a beginner finds their names in the lists
    said = [
        _("Of all their heads, these two look at the text most alike: {one} and {other}.", one=left, other=right)
        if looked_at is None and named
        else _("Of all their heads, these two are most alike.")
        if looked_at is None
        else _("You have looked at {one}; the head most like it is {other}.", **values)
    ]
    if len(names) == 2 and names[0].title == names[1].title:
        said.append(_("Each {does}, though it could look anywhere.", does=names[0].alone))
    said.append(_("Touch a row."))
    if not named:
        said.insert(0, plain_words.head())
    else:
        said.append(_("The correlation is {correlation:.2f}.", **values))
    return " ".join(said)


def _head(record: Record, head: Head) -> str:
    return _("{head} of {model}", head=levels.head_within(head), model=record.model.name)


def _places(name: str) -> list[DeltaGenerator]:
    """A place on either side, for its squares (``side``) or its map."""
    found = []
    for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
        with column:
            found.append(show.place(f"side_{name}_{side}"))
    return found


def main() -> None:
    record = page.begin("side")
    with show.place("side_lead"):
        show.lead(
            _(
                "Both have an encoder, which reads both ways. {model} also has a decoder, which writes.",
                model=parts.writer(record),
            )
        )
        parts.to_read()
    with st.container(key="side_both" if levels.at_least("intermediate") else "side_both_simple"):
        masks, said, maps = (show.place(f"side_{name}") for name in ("masks", "said", "maps"))
    with masks:
        above = _places("side")
    with maps:
        with st.container(key="side_short" if parts.is_short(record) else "side_long"):
            below = _places("map")
        marks = show.place("side_marks")
    with below[0]:  # what a map waits for is said in its place
        left = parts.side(record, "encoder")
    with below[1]:
        right = parts.side(record, "encoder-decoder")
    own, other = (right, left) if record is right else (left, right)
    match, looked_at = None, None
    if own is not None and other is not None:
        looked_at = parts.looked_at(own)
        match = cached(partial(matching_heads.match, own, other, looked_at))
    with said:
        show.what_to_do(alike(own, other, match, looked_at))
    first = [None, None] if match is None else [match.first, match.second]
    first = first if own is left else first[::-1]
    word = 0 if own is None else parts.framed_word(own)
    for number, (run, side, head) in enumerate(zip((left, right), SIDES, first, strict=True)):
        with above[number]:
            if run is not None:
                parts.squares(run)
        with below[number]:
            if run is None:
                parts.place_of_picker(side)
            else:
                chosen = parts.head_of(run, side, head or pick.first_head(run, "encoder"))
                parts.map_of(run, side, chosen, word, right if run is left else left)
    with marks:
        show.note(" ".join(parts.marks([run for run in (left, right) if run is not None])))
    levels.explain("side")
