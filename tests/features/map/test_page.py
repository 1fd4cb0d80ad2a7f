"""The map on its page: for the model of the record; every page that a box opens is there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import page_list
from bartviz.families.family import ModelKind
from bartviz.features.map import numbers, parts
from bartviz.record.prediction import FOLLOWS, Prediction
from bartviz.record.record import Record
from bartviz.serving import saved_records
from tests.support import node, stand_in, visits
from tests.support.pages import App

MODELS: list[tuple[ModelKind, str]] = [
    ("encoder-decoder", "bart"),
    ("encoder-decoder", "t5"),
    ("encoder", "bert"),
    ("decoder", "gpt2"),
]


def of(kind: ModelKind, family: str) -> Record:
    record = stand_in.record(kind=kind)
    return replace(record, model=replace(record.model, family=family))


def sent(page: AppTest) -> dict[str, Any]:
    """What the map was given."""
    assert not page.exception
    (part,) = [part for part in page.get("bidi_component") if part.proto.component_name == "bartviz.map"]
    return json.loads(part.proto.bytes)  # type: ignore[no-any-return]


def boxes_of(column: dict[str, Any]) -> list[dict[str, Any]]:
    return [*column["before"], *(box for group in column["layer"] for box in group), *column["after"]]


def test_the_arithmetic_of_the_browser() -> None:
    node.run_tests(Path(__file__).with_name("map.test.mjs"))


@pytest.mark.slow
def test_a_bert_ends_with_its_judgement_on_two_texts(app: App) -> None:
    record = saved_records.read("mask")
    said = Prediction("text", FOLLOWS, np.array([[2.0, -1.0]], np.float32))
    page = app("map", record=replace(record, prediction=said))
    (column,) = sent(page)["columns"]
    assert [box["gives"] for box in column["after"]] == ["states", "gaps", "pair"]
    follows = 1 / (1 + np.exp(-3.0))
    assert [bar[1] for bar in column["after"][-1]["bars"]] == pytest.approx([follows, 1 - follows], abs=1e-6)
    assert "The model says that the second text follows the first with 95.3%." in visits.words(page)
    assert "not whether the second is true" in visits.words(page)
    without = app("map", record=record)
    assert "was not saved with this run: press Run." in visits.words(without)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "family"), MODELS)
@pytest.mark.parametrize("level", ["beginner", "expert"])
def test_every_box_is_drawn_in_its_order(app: App, kind: ModelKind, family: str, level: str) -> None:
    record = of(kind, family)
    page = app("map", record=record, level=level)
    given = sent(page)
    columns = parts.drawn(record, small=level == "expert")
    for drawn, column in zip(given["columns"], columns, strict=True):
        boxes = boxes_of(drawn)
        assert [box["text"] for box in boxes] == [box.text for box in parts.every(column)]
        assert [box["opens"] for box in boxes] == [page_list.has(box.page) for box in parts.every(column)]
        assert drawn["layers"] == column.layers
    assert bool(given["bridge"]) == (kind == "encoder-decoder")
    say = numbers.plainly if level == "beginner" else numbers.sentence
    assert say(record.model) in visits.words(page)


def test_boxes_are_numbered_through_all_columns(record: Record) -> None:
    columns = parts.drawn(record, small=True)
    given = parts.payload(record, columns)
    numbered = [box["number"] for column in given["columns"] for box in boxes_of(column)]
    assert numbered == list(range(sum(len(parts.every(column)) for column in columns)))


@pytest.mark.parametrize(("layers", "names"), [(3, ["layer 0", "layer 1", "layer 2"]), (7, list("0123456"))])
def test_each_small_picture_has_the_name_of_its_layer(layers: int, names: list[str]) -> None:
    record = stand_in.record(layers=layers)
    given = parts.payload(record, parts.drawn(record, small=False))
    for column in given["columns"]:
        for box in boxes_of(column):
            assert box["maps"] is None or box["maps"]["names"] == names


def test_odd_tokens_are_sent_as_they_are() -> None:
    odd = ("<s>", "</script><script>alert(1)</script>", " a", "</s>")
    record = stand_in.record(source=odd)
    given = parts.payload(record, parts.drawn(record, small=False))
    assert given["columns"][0]["before"][0]["tokens"][1] == "</script><script>alert(1)</script>"


@pytest.mark.slow
def test_every_page_that_a_box_opens_is_there(app: App) -> None:
    record = of("encoder-decoder", "bart")
    for box in (box for column in parts.drawn(record, small=True) for box in parts.every(column)):
        query = dict(box.query)
        needs_model = query.get("around") == "residual" or query.get("look") == "sum" or "output_layer" in query
        if page_list.has(box.page) and not needs_model:
            page = app(box.page, record=record, **query)
            assert not page.exception
            assert not page.error
