"""The block diagram on the inputs page: drawn when it is opened, for the model of the record; its boxes are links."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from bartviz.families.family import ModelKind
from bartviz.features.inputs import numbers as blocks
from bartviz.record.record import Record
from tests.support import stand_in, visits
from tests.support.pages import App

Link = tuple[str, str, dict[str, list[str]]]  # text, page, choices there


def of(kind: ModelKind, family: str) -> Record:
    record = stand_in.record(kind=kind)
    return replace(record, model=replace(record.model, family=family))


def expected(record: Record) -> list[Link]:
    """The links of the model's boxes from top to bottom, the encoder's first."""
    columns = blocks.columns(record.model, steps=bool(record.steps))
    boxes = [
        box
        for column in columns
        for box in (*column.before, *(box for group in column.layer for box in group), *column.after)
    ]
    return [(box.text, box.page, {name: [word] for name, word in box.query.items()}) for box in boxes if box.page]


@pytest.mark.parametrize("kind", ["encoder-decoder", "encoder", "decoder"])
def test_a_closed_section_draws_no_boxes(app: App, kind: ModelKind) -> None:
    page = app("inputs", record=stand_in.record(kind=kind))
    assert not page.exception
    assert "One of 3 layers" not in visits.words(page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "family"),
    [("encoder-decoder", "bart"), ("encoder-decoder", "t5"), ("encoder", "bert"), ("decoder", "gpt2")],
)
def test_every_box_is_a_link_to_its_page(app: App, kind: ModelKind, family: str) -> None:
    record = of(kind, family)
    page = app("inputs", record=record, blocks="true")
    assert not page.exception
    drawn = [(link.proto.label, link.proto.page, parse_qs(link.proto.query_string)) for link in page.get("page_link")]
    links = expected(record)
    start = next(i for i, link in enumerate(drawn) if link[0] == links[0][0])
    assert drawn[start : start + len(links)] == links
    said = visits.words(page)
    assert blocks.sentence(record.model) in said
    assert said.count("One of 3 layers") == (2 if kind == "encoder-decoder" else 1)


@pytest.mark.slow
def test_every_link_opens_its_page(app: App) -> None:
    record = of("encoder-decoder", "bart")
    for _, word, query in expected(record):
        if query.get("around") != ["residual"] and query.get("look") != ["sum"] and "output_layer" not in query:
            page = app(word, record=record, **{name: value for name, (value,) in query.items()})
            assert not page.exception
            assert not page.error
