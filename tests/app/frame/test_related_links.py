"""The roads between the pages: each leads to the same head, row and step, and none to a page that cannot answer."""

from __future__ import annotations

import pytest

from bartviz.app.frame import levels, roads
from bartviz.families.family import ModelKind
from bartviz.record.attention import Head
from tests.support import stand_in
from tests.support.pages import App

HEADS = [Head(kind, 2, 3) for kind in ("encoder", "decoder", "cross")]
ROW = 4


@pytest.fixture(autouse=True)
def expert(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every door is open."""
    monkeypatch.setattr(levels, "current", lambda: "expert")


@pytest.mark.parametrize("head", HEADS, ids=str)
def test_every_road_leads_to_the_same_head_and_row(app: App, head: Head) -> None:
    record = stand_in.record()
    found = roads.of_head(record, head, ROW)
    wanted = {"heads", "inside", "experiments", "compare"}
    assert {road.to for road in found} == wanted | (
        {"alignment", "decoding"} if head.kind == "cross" else {"decoding"} if head.kind == "decoder" else set()
    )
    for road in found:
        page = app(road.to, **road.query)
        assert not page.exception, road
        chosen = page.session_state
        if road.to == "experiments":
            assert chosen["silenced"] == [str(head)]
        elif road.to == "compare":
            assert chosen["a"] == str(head)
        elif road.to != "decoding" or head.kind == "cross":
            assert (chosen["layer"], chosen["head"]) == (head.layer, head.head), road
        if road.to in ("heads", "inside"):
            assert (chosen["kind"], chosen["row"]) == (head.kind, ROW), road
        if road.to == "decoding":
            assert record.steps[int(page.query_params["step"][0]) - 1].row == ROW


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_no_road_leads_where_the_record_has_no_answer(app: App, kind: ModelKind) -> None:
    record = stand_in.record(kind=kind)
    found = roads.of_head(record, Head(record.kinds[0], 1, 1), 1)
    assert "alignment" not in {road.to for road in found}
    assert ("decoding" in {road.to for road in found}) == bool(record.steps)
    for road in found:
        assert not app(road.to, record=record, **road.query).exception


@pytest.mark.parametrize("kind", [None, "encoder", "decoder"])
def test_the_way_from_text_to_word_names_pages_that_open(app: App, kind: ModelKind | None) -> None:
    record = stand_in.record() if kind is None else stand_in.record(kind=kind)
    stations = roads.stations(record)
    assert [road.to for road, _kind in stations][-1] == ("decoding" if record.steps else "inside")
    for road, _kind in stations:
        assert not app(road.to, record=record, **road.query).exception


def test_a_page_offers_no_road_to_itself(app: App) -> None:
    page = app("inside", kind="cross", layer="2", head="3", row="4")
    labels = [link.proto.label for link in page.get("page_link")]
    assert "See its map" in labels
    assert "Look inside it" not in labels
