"""Links between the pages: the position of a page on the way from text to word, and other views of a head.

A link carries the selection: the words of its address choose the same head, row or step there.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.app.frame import levels, page_list, way_back
from bartviz.language import _, mark
from bartviz.record.attention import Head

if TYPE_CHECKING:
    from bartviz.record.record import Record

Query = Mapping[str, str]
Stage = Literal["text", "pieces", "embeddings", "encoder", "cross", "decoder", "output", "word"]

STAGES: dict[Stage, str] = {
    "text": mark("text"),
    "pieces": mark("pieces"),
    "embeddings": mark("embeddings"),
    "encoder": mark("encoder"),
    "cross": mark("cross-attention"),
    "decoder": mark("decoder"),
    "output": mark("output layer"),
    "word": mark("word"),
}


@dataclass(frozen=True, slots=True)
class Link:
    """A link to the page ``to`` that shows the selection there; ``label`` is a message."""

    to: str
    label: str
    query: Query


def for_head(record: Record, head: Head, row: int | None = None) -> list[Link]:
    """Everything that can be asked of one head, and of one of its rows if given.

    Omits links that the record cannot answer.
    """
    chosen = {"kind": head.kind, "layer": str(head.layer), "head": str(head.head)}
    at = chosen if row is None else {**chosen, "row": str(row)}
    steps = [] if row is None or head.kind == "encoder" else [i for i, s in enumerate(record.steps) if s.row == row]
    seen = bool(record.steps) and head.kind == ("cross" if record.cross is not None else "decoder")
    links = [
        Link("heads", mark("See its map"), {**at, "weights": "head", "view": "map"}),
        Link("inside", mark("Look inside it"), at),
        Link("experiments", mark("Silence it"), {"experiment": "ablation", "silenced": str(head)}),
    ]
    if head.kind == "cross":
        links.append(Link("alignment", mark("See its alignment"), {"align": "head", **chosen}))
    if steps or seen:
        step = {"step": str(steps[0] + 1)} if steps else {}
        links.append(
            Link("decoding", mark("Decode with it"), {**step, "step_weights": "head", **chosen} if seen else step)
        )
    links.append(Link("compare", mark("Compare it"), {"kind": head.kind, "a": str(head)}))
    return [link for link in links if _answers(record, link)]


def to_other_views(record: Record, here: str, head: Head, row: int | None = None) -> None:
    """One line of links from a head on the page ``here`` to the other pages; beginners open it by a button."""
    name = sentence_words.head(head.kind, head.layer, head.head)
    links = [link for link in for_head(record, head, row) if link.to != here]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="related_links"):
        if not levels.at_least("intermediate"):
            with st.popover(_("More on this head")):
                _list(links)
        else:
            _begins(_("More on {head}:", head=name))
            _list(links)


def _list(links: Sequence[Link]) -> None:
    for link in links:
        query = way_back.from_here(link.to, link.query)
        st.page_link(page_list.page(link.to).file, label=_(link.label), query_params=query)


def _begins(text: str) -> None:
    st.html(f"<p class='bv-note'>{html.escape(text)}</p>", width="content")


def stages(record: Record) -> tuple[Stage, ...]:
    """The way from text to word in the record's model."""
    between = tuple(kind for kind in ("encoder", "decoder", "cross") if kind in record.kinds)  # as a layer computes
    return ("text", "pieces", "embeddings", *between, *(("output", "word") if record.steps else ()))


def _answers(record: Record, link: Link) -> bool:
    """Whether the app has the page of a link, and this record is enough for it."""
    return page_list.has(link.to) and (not record.from_weights or page_list.page(link.to).weights)


def text_to_word(record: Record, *here: Stage) -> None:
    """The strip "text › pieces › ... › word", which marks where on the way this page is, and a link to the map."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="text_to_word"):
        if page_list.has("map"):
            st.page_link(page_list.page("map").file, label=_("Map"))
        names = []
        for stage in stages(record):
            name = html.escape(_(STAGES[stage]))
            names.append(f"<b aria-current='step' data-stage='{stage}'>{name}</b>" if stage in here else name)
        st.html(f"<p class='bv-way'>{' › '.join(names)}</p>", width="content")
