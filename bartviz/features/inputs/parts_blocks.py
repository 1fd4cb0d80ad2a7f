"""The block diagram of the record's model: each box is a link to the page that shows what happens in it."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app.controls import pick, show
from bartviz.app.frame import page, page_list
from bartviz.features.inputs import numbers as analysis
from bartviz.features.inputs.numbers import Box, Column
from bartviz.language import _

if TYPE_CHECKING:
    from bartviz.record.record import Record

_STYLE = Path(__file__).with_name("style_blocks.css")


def blocks(record: Record) -> None:
    """The folded section (URL ``blocks``). Side by side, and below each other on a phone."""
    label = _("The whole model as blocks")
    with st.expander(label, key="blocks", on_change="rerun", bind="query-params") as expander:
        if not expander.open:
            return
        st.html(_STYLE)
        show.note(analysis.sentence(record.model))
        columns = analysis.columns(record.model, steps=bool(record.steps))
        for column, place in zip(columns, st.columns(2, gap="large"), strict=False):
            with place:
                _column(column)
        show.note(analysis.order(record.model))
        show.note(
            _(
                "Read from top to bottom. A bracket at the side is a residual connection: the vector "
                "bypasses the part, and the part's output is added to it. Each underlined box links to its "
                "page."
            )
        )


def _column(column: Column) -> None:
    st.markdown(f"**{pick.kind_name(column.stack)}**")
    with st.container(key=f"blocks_{column.stack}", gap="xsmall"):
        _boxes(column.before, f"{column.stack}_before")
        with st.container(key=f"blocks_layer_{column.stack}", border=True, gap="xsmall"):
            show.note(_("One of {layers} layers", layers=column.layers))
            for number, boxes in enumerate(column.layer):
                with st.container(key=f"blocks_sum_{column.stack}_{number}", gap="xsmall"):
                    _boxes(boxes, f"{column.stack}_{number}")
        _boxes(column.after, f"{column.stack}_after")


def _boxes(boxes: tuple[Box, ...], name: str) -> None:
    for number, box in enumerate(boxes):
        with st.container(key=f"blocks_box_{box.kind or 'plain'}_{name}_{number}"):
            if page_list.has(box.page):
                page.link(box.page, box.text, box.query, width="stretch")
            else:
                st.html(f"<p>{html.escape(box.text)}</p>")
