"""The whole model as a map: where each part is, and what leaves it for the text at hand."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.map import numbers, parts, parts_output
from bartviz.features.map import numbers_tensors as tensors
from bartviz.features.map.numbers_shapes import shapes
from bartviz.language import _


def main() -> None:
    record = page.begin("map")
    plain = not levels.at_least("intermediate")
    with show.place("map_lead" if plain else "lead"):
        say = numbers.plainly if plain else numbers.sentence
        show.lead(f"{say(record.model)} {_('Press a box to open its page.')}")
        if plain:
            show.what_to_do(tensors.reading_maps())
    with st.container(key="map_drawn"):
        parts.show(record, small=not plain)
    others = tensors.of_others(record, plain=plain)
    if not plain:
        show.note(" ".join(filter(None, [numbers.order(record.model), *parts.said_of_twins(record), others])))
    else:
        show.note(f"{tensors.of_maps(record)} {others}".strip())
    if not record.from_weights:
        parts_output.section(record)
    if not record.from_weights:
        show.table(partial(shapes, record), title=_("The shapes of all states for this text"))
    levels.explain("map")
