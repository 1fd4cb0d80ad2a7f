"""Every picture for paper: valid SVG that needs no other file, the same bytes twice, text as text, a whole caption."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from bartviz import paper
from bartviz.drawing.paper.sheet import fitted, measure, wrapped
from bartviz.errors import BudgetError, SettingError
from bartviz.language import speaking
from bartviz.record.record import Record
from bartviz.version import __version__
from tests.drawing.paper.reading import SVG, texts
from tests.support import stand_in

PICTURES: dict[str, Callable[..., paper.Picture]] = {
    "map": lambda record, **more: paper.map(record, "cross", 2, 1, **more),
    "lines": lambda record, **more: paper.lines(record, "cross", 2, 1, **more),
    "text": lambda record, **more: paper.text(record, "cross", 2, 1, 3, **more),
    "ribbons": lambda record, **more: paper.ribbons(record, "cross L2H1", **more),
    "alignment": lambda record, **more: paper.alignment(record, ["cross L2H1"], **more),
    "overview": lambda record, **more: paper.overview(record, "cross", **more),
}
HOSTILE = (
    "<s>",
    " x</text><script>alert(1)</script>",
    " ]]>",
    " &amp;",
    " \"'",
    " \x00\x07",
    " \ufffe",
    " 한국어",
    "</s>",
)
each = pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)


@each
def test_the_file_is_valid_and_asks_for_nothing_else(draw: Callable[..., paper.Picture], record: Record) -> None:
    root = ET.fromstring(draw(record).svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "desc", "title", "g", "rect", "path", "circle", "text"
    }  # fmt: skip
    for element in root.iter():
        for name, value in element.attrib.items():
            assert "href" not in name
            assert not name.startswith("on")
            assert "url(" not in value
            assert ":" not in value


@each
def test_the_same_record_gives_the_same_bytes_and_another_one_others(draw: Callable[..., paper.Picture]) -> None:
    first = draw(stand_in.record())
    assert draw(stand_in.record()).svg == first.svg
    other = replace(stand_in.record().attention("cross"), q=stand_in.record().attention("cross").queries[::-1])
    assert draw(replace(stand_in.record(), cross=other)).svg != first.svg


@each
def test_the_size_is_in_points_and_nothing_is_outside(draw: Callable[..., paper.Picture], record: Record) -> None:
    for width in (160, 240, 480):
        picture = draw(record, width=width)
        root = ET.fromstring(picture.svg)
        assert (root.get("width"), root.get("height")) == (f"{width}pt", f"{picture.height:g}pt")
        assert root.get("viewBox") == f"0 0 {width} {picture.height:g}"
        for rect in root.iter(f"{SVG}rect"):
            if rect.get("width") != "100%":
                x, y, wide, high = (float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
                assert x >= 0 <= y
                assert x + wide <= width * 24 + 0.1  # cells of small maps are scaled
                assert y + high <= picture.height
        for line in root.iter(f"{SVG}text"):
            assert 0 <= float(line.get("x", "")) <= width
            assert 0 <= float(line.get("y", "")) <= picture.height


@each
def test_the_caption_is_text_and_names_everything(draw: Callable[..., paper.Picture], record: Record) -> None:
    picture = draw(record)
    said = [
        "stand-in",
        record.source_text.strip(),
        (record.target_text or "").strip(),
        __version__,
        "predicts",
        "numbered from 0",
    ]
    root = ET.fromstring(picture.svg)
    drawn = " ".join(texts(root))
    for words in said:
        assert words in picture.caption
        assert words in drawn
    assert root.findtext(f"{SVG}desc") == picture.caption
    alone = draw(record, captioned=False)
    assert alone.caption == picture.caption
    assert alone.height < picture.height
    assert __version__ not in " ".join(texts(ET.fromstring(alone.svg)))


@pytest.mark.parametrize("name", ["map", "lines", "text", "ribbons", "alignment"])
def test_the_caption_names_layer_and_head(name: str, record: Record) -> None:
    assert "L2H1" in PICTURES[name](record).caption


@each
def test_the_caption_speaks_korean(draw: Callable[..., paper.Picture], record: Record) -> None:
    with speaking("ko"):
        picture = draw(record)
    assert "행이 열을 보며" in picture.caption
    assert 'lang="ko"' in picture.svg


@pytest.mark.parametrize("name", ["map", "lines", "text", "ribbons", "alignment"])
def test_hostile_tokens_stay_text(name: str) -> None:
    root = ET.fromstring(PICTURES[name](stand_in.record(HOSTILE), width=480).svg)
    read = " ".join([*texts(root), *(title.text or "" for title in root.iter(f"{SVG}title"))])
    assert "</text><script>alert(1)</script>" in read
    assert "]]>" in read
    assert "&amp;" in read
    assert "한국어" in read
    assert "\x00" not in read


def test_a_label_that_is_cut_has_an_ellipsis_and_is_whole_in_its_title() -> None:
    word = "Donaudampfschifffahrtsgesellschaftskapitän"
    root = ET.fromstring(paper.map(stand_in.record(("<s>", word, "</s>")), "encoder", 0, 0).svg)
    cut = [group for group in root.iter(f"{SVG}g") if group.findtext(f"{SVG}title") == word]
    assert len(cut) == 2  # a row and a column
    for group in cut:
        shown = group.findtext(f"{SVG}text") or ""
        assert shown.endswith("…")
        assert word.startswith(shown[:-1])
        assert len(shown) > 5


def test_texts_are_cut_and_broken_between_characters_as_readers_see_them() -> None:
    family = "👩\u200d👩\u200d👧"
    assert fitted(family * 3, 10, 75) == f"{family}{family}…"
    assert fitted("short", 10, 100) == "short"
    lines = list(wrapped("one two 아주아주아주아주아주아주 three", 10, 40))
    assert "".join(lines).replace(" ", "") == "onetwo아주아주아주아주아주아주three"
    assert all(measure(line, 10) <= 40 for line in lines)


@pytest.mark.parametrize("width", [0, 119, 1201, float("nan"), float("inf")])
@each
def test_a_width_that_no_page_has_is_refused(draw: Callable[..., paper.Picture], width: float, record: Record) -> None:
    with pytest.raises(SettingError, match="120 to 1200"):
        draw(record, width=width)


def test_a_text_that_is_too_long_is_refused_with_the_limit() -> None:
    record = stand_in.record(tuple(f" t{number}" for number in range(130)))
    for draw in (paper.map, paper.lines):
        with pytest.raises(BudgetError, match="128"):
            draw(record, "encoder", 0, 0)
    with pytest.raises(BudgetError, match="1040 points"):
        paper.ribbons(record, "cross L0H0")
    assert paper.overview(record, "encoder").height > 0


def test_a_long_text_is_cut_in_the_caption_with_its_length() -> None:
    record = replace(stand_in.record(), source_text="word " * 100)
    assert "(500 characters)" in paper.map(record, "cross", 0, 0).caption


def test_twenty_tokens_are_a_small_file() -> None:
    record = stand_in.record(tuple(f" token{number}" for number in range(20)))
    picture = paper.map(record, "encoder", 0, 0)
    assert len(picture.svg) < 100_000
    assert not re.search("<image|<script|<style", picture.svg)
