"""Links between the pages: the position of a page on the way from text to word, and other views of a head.

A road carries the selection: it is a link with the words of the address that choose the same head, row or step there.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.app.frame import sitemap
from bartviz.language import _, mark
from bartviz.record.attention import Head

if TYPE_CHECKING:
    from bartviz.record.record import Record

Query = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Road:
    """A link to the page ``to`` that shows the selection there; ``label`` is a message."""

    to: str
    label: str
    query: Query


def of_head(record: Record, head: Head, row: int | None = None) -> list[Road]:
    """Everything that can be asked of one head, and of one of its rows if given.

    Omits links that the record cannot answer.
    """
    chosen = {"kind": head.kind, "layer": str(head.layer), "head": str(head.head)}
    at = chosen if row is None else {**chosen, "row": str(row)}
    steps = [] if row is None or head.kind == "encoder" else [i for i, s in enumerate(record.steps) if s.row == row]
    seen = bool(record.steps) and head.kind == ("cross" if record.cross is not None else "decoder")
    roads = [
        Road("heads", mark("See its map"), {**at, "weights": "head", "view": "map"}),
        Road("inside", mark("Look inside it"), at),
        Road("experiments", mark("Silence it"), {"experiment": "ablation", "silenced": str(head)}),
    ]
    if head.kind == "cross":
        roads.append(Road("alignment", mark("See its alignment"), {"align": "head", **chosen}))
    if steps or seen:
        step = {"step": str(steps[0] + 1)} if steps else {}
        roads.append(
            Road("decoding", mark("Decode with it"), {**step, "step_weights": "head", **chosen} if seen else step)
        )
    roads.append(Road("compare", mark("Compare it"), {"kind": head.kind, "a": str(head)}))
    return [road for road in roads if not record.from_weights or sitemap.page(road.to).weights]


def carry_on(record: Record, here: str, head: Head, row: int | None = None) -> None:
    """One line of links from a head on the page ``here`` to the other pages."""
    name = sentence_words.head(head.kind, head.layer, head.head)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="carry_on"):
        _begins(_("More on {head}:", head=name))
        for road in of_head(record, head, row):
            if road.to != here:
                st.page_link(sitemap.page(road.to).file, label=_(road.label), query_params=dict(road.query))


def _begins(text: str) -> None:
    st.html(f"<p class='bv-note'>{html.escape(text)}</p>", width="content")


def stations(record: Record) -> list[tuple[Road, str]]:
    """The way from text to word: a link for each page, with its kind of attention ("" where there is none)."""
    made = [
        (Road("inputs", mark("pieces"), {"look": "pieces"}), ""),
        (Road("masks", mark("masks"), {"view": "pattern"}), ""),
    ]
    names = {"encoder": mark("encoder"), "decoder": mark("decoder"), "cross": mark("cross-attention")}
    made += [(Road("inside", names[kind], {"kind": kind}), kind) for kind in record.kinds]
    if record.steps:
        made.append((Road("decoding", mark("word"), {}), ""))
    return [one for one in made if not record.from_weights or sitemap.page(one[0].to).weights]


def walk(record: Record, here: str, kind: str = "") -> None:
    """The strip "text > pieces > ... > word" above the pages of the walk; the station of this page is marked."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="walk"):
        _begins(_("From the text to a word:"))
        for road, of in stations(record):
            if road.to == here and of in ("", kind):
                st.markdown(f"**{_(road.label)}**", width="content")
            else:
                st.page_link(sitemap.page(road.to).file, label=_(road.label), query_params=dict(road.query))
