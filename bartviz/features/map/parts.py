"""The map: every part of the model as a box, with what leaves it for the text at hand; a box opens its page."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.app import streamlit_internals
from bartviz.app.frame import page_list
from bartviz.browser.scripts import bundle
from bartviz.features.map import numbers
from bartviz.features.map.numbers import Box, Column
from bartviz.features.map.numbers_tensors import WORDS, Tensor, first_word, tensor
from bartviz.language import _
from bartviz.language.percentages import tenths
from bartviz.record.steps import told_apart

if TYPE_CHECKING:
    from bartviz.record.record import Record

_FILES = Path(__file__).parent
_NAMED = 6  # layers whose small pictures have room for "layer" and the number
_MOUNT = st.components.v2.component(
    "bartviz.map",
    html=(_FILES / "map.html").read_text("utf-8"),
    css=(_FILES / "map.css").read_text("utf-8"),
    js=bundle(_FILES / "map.js"),
)


def show(record: Record, *, small: bool) -> None:
    """Draw the map. ``small``: also dropout, and every shape. A box that is pressed opens its page."""
    columns = drawn(record, small=small)
    data = json.dumps(payload(record, columns, plain=not small)).encode()  # bytes: anything else would import pandas
    opened = _MOUNT(data=data, key="map", on_open_change=lambda: None).open
    boxes = [box for column in columns for box in every(column)]
    if isinstance(opened, int) and 0 <= opened < len(boxes) and page_list.has(boxes[opened].page):
        box = boxes[opened]
        streamlit_internals.switch_page(page_list.page(box.page).file, dict(box.query))


def drawn(record: Record, *, small: bool) -> tuple[Column, ...]:
    """The model's columns; without ``small``, only what a newcomer needs."""
    return tuple(
        column if small else column.of_parts() for column in numbers.columns(record.model, steps=bool(record.steps))
    )


def every(column: Column) -> tuple[Box, ...]:
    """The boxes of a column from top to bottom."""
    return (*column.before, *(box for group in column.layer for box in group), *column.after)


def payload(record: Record, columns: tuple[Column, ...], *, plain: bool = False) -> dict[str, Any]:
    """The component's data: plain JSON, whose texts the component escapes. Boxes are numbered through all columns.
    ``plain``: as in ``tensor``."""
    drawn = partial(_box, record, plain=plain)
    boxes = iter(range(sum(len(every(column)) for column in columns)))
    return {
        "columns": [
            {
                "stack": column.stack,
                "title": sentence_words.kind_alone(column.stack),
                "layers": column.layers,
                "repeated": _("{layers} layers, each with these parts", layers=column.layers),
                "before": [drawn(column, box, next(boxes)) for box in column.before],
                "layer": [[drawn(column, box, next(boxes)) for box in group] for group in column.layer],
                "after": [drawn(column, box, next(boxes)) for box in column.after],
            }
            for column in columns
        ],
        "bridge": _("The hidden states of the source text go to the cross-attention of every decoder layer.")
        if len(columns) > 1
        else "",
        "out": _("Output"),
        "label": _("Map of the model"),
    }


def said_of_twins(record: Record) -> list[str]:
    """A sentence for each candidate shown that is written as a likelier one is."""
    from bartviz.browser.player.messages import another  # imports pandas, which the map does without

    step = first_word(record)
    best = () if step is None else step.candidates[:5]
    return [another(label) for label, one in zip(told_apart(best), best, strict=True) if label != one.label]


def _box(record: Record, column: Column, box: Box, number: int, *, plain: bool) -> dict[str, Any]:
    found = tensor(record, column, box, plain=plain)
    return {
        "number": number,
        "text": box.text,
        "kind": box.kind or "",
        "gives": box.gives,
        "opens": page_list.has(box.page),
        "shape": found.shape,
        "tokens": list(found.tokens[:WORDS]) + (["…"] if len(found.tokens) > WORDS else []),
        "written": found.written,
        "maps": _maps(found),
        "bars": [[label, probability, tenths(probability)] for label, probability in found.bars],
    }


def _maps(found: Tensor) -> dict[str, Any] | None:
    if found.maps is None:
        return None
    layers = range(len(found.maps))
    names = [_("layer {layer}", layer=layer) if len(layers) <= _NAMED else str(layer) for layer in layers]
    return {"shape": list(found.maps.shape), "cells": found.maps.ravel().tolist(), "names": names}
