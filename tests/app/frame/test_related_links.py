"""Links between the pages: each opens the same head, row and step, and none a page that cannot answer."""

from __future__ import annotations

import re

import pytest

from bartviz.app.frame import levels, page_list, related_links
from bartviz.families.family import ModelKind
from bartviz.record.attention import Head
from tests.support import stand_in
from tests.support.pages import App

HEADS = [Head(kind, 2, 3) for kind in ("encoder", "decoder", "cross")]
ROW = 4


@pytest.fixture(autouse=True)
def expert(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is in the menu."""
    monkeypatch.setattr(levels, "current", lambda: "expert")


@pytest.mark.parametrize("head", HEADS, ids=str)
def test_every_link_opens_the_same_head_and_row(app: App, head: Head) -> None:
    record = stand_in.record()
    found = related_links.for_head(record, head, ROW)
    wanted = {"heads", "inside", "experiments", "compare"}
    wanted |= {"alignment", "decoding"} if head.kind == "cross" else {"decoding"} if head.kind == "decoder" else set()
    assert {link.to for link in found} == {word for word in wanted if page_list.has(word)}
    for link in found:
        page = app(link.to, **link.query)
        assert not page.exception, link
        chosen = page.session_state
        if link.to == "experiments":
            assert chosen["silenced"] == [str(head)]
        elif link.to == "compare":
            assert chosen["a"] == str(head)
        elif link.to != "decoding" or head.kind == "cross":
            assert (chosen["layer"], chosen["head"]) == (head.layer, head.head), link
        if link.to in ("heads", "inside"):
            assert (chosen["kind"], chosen["row"]) == (head.kind, ROW), link
        if link.to == "decoding":
            assert record.steps[int(page.query_params["step"][0]) - 1].row == ROW


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_no_link_opens_a_page_without_an_answer(app: App, kind: ModelKind) -> None:
    record = stand_in.record(kind=kind)
    found = related_links.for_head(record, Head(record.kinds[0], 1, 1), 1)
    assert "alignment" not in {link.to for link in found}
    assert ("decoding" in {link.to for link in found}) == (bool(record.steps) and page_list.has("decoding"))
    for link in found:
        assert not app(link.to, record=record, **link.query).exception


def test_the_way_from_text_to_word_follows_the_model() -> None:
    ends = ("output", "word")
    assert related_links.stages(stand_in.record())[3:] == ("encoder", "decoder", "cross", *ends)
    assert related_links.stages(stand_in.record(kind="encoder"))[3:] == ("encoder",)
    decoder = stand_in.record(kind="decoder")
    assert related_links.stages(decoder)[3:] == ("decoder", *(ends if decoder.steps else ()))


@pytest.mark.parametrize(("word", "stage"), [("inputs", "pieces"), ("heads", "cross"), ("alignment", "cross")])
def test_the_strip_says_where_a_page_is_and_leads_to_the_map(app: App, word: str, stage: str) -> None:
    if not page_list.has(word):
        pytest.skip(f"there is no page {word}")
    page = app(word, **({"kind": "cross"} if word == "heads" else {}))
    (strip,) = [html.proto.body for html in page.get("html") if "bv-way" in html.proto.body]
    assert re.findall("data-stage='(.*?)'", strip) == [stage]
    assert ("Map" in [link.proto.label for link in page.get("page_link")]) == page_list.has("map")


def test_a_page_has_no_link_to_itself(app: App) -> None:
    page = app("inside", kind="cross", layer="2", head="3", row="4")
    labels = [link.proto.label for link in page.get("page_link")]
    assert ("See its map" in labels) == page_list.has("heads")
    assert "Look inside it" not in labels
