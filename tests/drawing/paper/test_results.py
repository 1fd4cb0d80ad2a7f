"""Pictures of results for paper: what is drawn is what was measured, marks are what the tests say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bartviz
from bartviz import paper
from bartviz.corpus import shipped
from bartviz.corpus.atlas import Atlas
from bartviz.drawing.paper.plot import Axis
from bartviz.errors import SettingError
from bartviz.language import speaking
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record
from tests.drawing.paper.reading import SVG, cells, texts
from tests.support import loaded, stand_in

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return shipped.atlas("bart-tiny-en-de")


@pytest.fixture(scope="module")
def other() -> Atlas:
    return shipped.atlas("bart-tiny-denoise")


@pytest.fixture(scope="module")
def record() -> Record:
    return bartviz.capture(loaded.model("bart"), TEXT, max_new_tokens=4, values=True)


@dataclass(frozen=True)
class Large:
    """An atlas of as many heads as BART-large has in its decoder, some of them undefined."""

    layers: int = 12
    heads_of_layer: int = 16

    @property
    def description(self) -> dict[str, Any]:
        name = "a model with a name that is much too long for one line of a column, and <b>markup</b>"
        made = {"bartviz": "0.1.0", "torch": "2.9.0", "commit": "0123456789abcdef"}
        return {"model": {"name": name}, "corpus": {"name": "텍스트.tsv"}, "texts": 9, "versions": made}

    @property
    def heads(self) -> pd.DataFrame:
        random = np.random.default_rng(1)
        count = self.layers * self.heads_of_layer
        mean = random.random(count)
        mean[3:4] = np.nan
        layer, head = (index.ravel() for index in np.indices((self.layers, self.heads_of_layer)))
        both = [
            {"kind": "decoder", "layer": layer, "head": head, "measure": name, "n": 9, "mean": mean * size, "sd": 0.1,
             "low": mean * size - 0.1, "high": mean * size + 0.1, "even": even}
            for name, size, even in (("previous", 1.0, 0.2), ("entropy", 5.0, 3.0), ("a measure of mine", 1.0, np.nan))
        ]  # fmt: skip
        return pd.concat(map(pd.DataFrame, both), ignore_index=True)


def of(picture: paper.Picture, name: str) -> dict[tuple[int, int], str]:
    """(layer, head) -> what an attribute of its element says."""
    found = {}
    for element in ET.fromstring(picture.svg).iter():
        if f"data-{name}" in element.attrib:
            layer, head, *said = element.attrib[f"data-{name}"].split()
            found[int(layer), int(head)] = " ".join(said) or element.attrib.get("data-value", "")
    return found


def rows(table: pd.DataFrame, measure: str, kind: str) -> dict[tuple[int, int], Any]:
    lines: Any = table[(table["kind"] == kind) & (table["measure"] == measure)].itertuples()
    return {(row.layer, row.head): row for row in lines}


def test_the_mosaic_of_an_atlas_has_its_means_intervals_and_marks(atlas: Atlas) -> None:
    picture = paper.atlas(atlas, "previous", "encoder")
    known = rows(atlas.heads, "previous", "encoder")
    values, bounds, marks = (of(picture, name) for name in ("head", "interval", "mark"))
    assert values.keys() == bounds.keys() == known.keys()
    for place, row in known.items():
        assert float(values[place]) == pytest.approx(row.mean, rel=1e-3)
        assert [*map(float, bounds[place].split())] == pytest.approx([row.low, row.high], rel=1e-3)
        expected = "1" if row.low > row.even else "-1" if row.high < row.even else None
        assert marks.get(place) == expected
    assert {*marks.values()} == {"1", "-1"}
    for said in ("32 heads of encoder attention of bart-tiny-en-de", "1,962 texts of tatoeba-valid.tsv", "0.101"):
        assert said in picture.caption
    assert not of(paper.atlas(atlas, "alignment", "cross"), "mark")  # even attention is not defined there


def test_two_atlases_are_drawn_as_their_difference_with_the_test(atlas: Atlas, other: Atlas) -> None:
    picture = paper.atlas_pair(atlas, other, "entropy", "encoder")
    table = rows(atlas.against(other), "entropy", "encoder")
    values, marks = of(picture, "head"), of(picture, "mark")
    for place, row in table.items():
        assert float(values[place]) == pytest.approx(row.difference, rel=1e-3, abs=1e-4)
        assert (place in marks) == (row.p_bh <= 0.05)
    assert f"{len(marks)} of {len(table)} heads" in picture.caption
    assert "Welch" in picture.caption
    assert "1,570 texts of tatoeba-valid.tsv" in picture.caption
    same = paper.atlas_pair(atlas, atlas, "entropy", "encoder")
    assert not of(same, "mark")
    with pytest.raises(SettingError, match="cannot be compared text by text"):
        paper.atlas_pair(atlas, other, "entropy", "encoder", paired=True)


def test_atlases_with_values_are_compared_text_by_text() -> None:
    model = loaded.model("bart")
    texts = ["the cat sat on the mat", "a dog ran", "the cat ran to the dog", "a cat sat"]
    one = bartviz.corpus(texts, model, values=True)
    two = bartviz.corpus(texts, model, values=True)
    picture = paper.atlas_pair(one, two, "entropy", "encoder")
    assert "paired t-test" in picture.caption
    assert {*map(float, of(picture, "head").values())} == {0.0}
    assert "Computed with bartviz" in picture.caption
    alone = paper.atlas_pair(one, two, "entropy", "encoder", paired=False)
    assert "Welch" in alone.caption


def test_a_scatter_has_a_point_for_each_head_where_its_means_are(atlas: Atlas) -> None:
    picture = paper.scatter(atlas, "entropy", "previous", "encoder")
    points = of(picture, "head")
    across, upwards = (rows(atlas.heads, name, "encoder") for name in ("entropy", "previous"))
    places = {}
    for element in ET.fromstring(picture.svg).iter(f"{SVG}circle"):
        layer, head = map(int, element.attrib["data-head"].split())
        places[layer, head] = float(element.attrib["cx"]), float(element.attrib["cy"])
    assert points.keys() == across.keys() == places.keys()
    for place, said in points.items():
        assert [*map(float, said.split())] == pytest.approx([across[place].mean, upwards[place].mean], rel=1e-3)
    order = sorted(places, key=lambda place: across[place].mean)
    assert [places[place][0] for place in order] == sorted(x for x, _y in places.values())
    order = sorted(places, key=lambda place: upwards[place].mean)
    assert [places[place][1] for place in order] == sorted((y for _x, y in places.values()), reverse=True)
    assert "L2H4" in texts(ET.fromstring(picture.svg))  # far from all others
    assert len(of(picture, "bars")) == len(points)


def test_a_sweep_is_drawn_head_by_head_and_belongs_to_its_record(record: Record) -> None:
    swept = bartviz.ablate_sweep(loaded.model("bart"), record)
    picture = paper.sweep(swept, record)
    drawn = [element for element in ET.fromstring(picture.svg).iter() if "data-value" in element.attrib]
    expected = [value for kind in swept.kinds for value in swept.map(kind).ravel()]
    assert [float(element.attrib["data-value"]) for element in drawn] == pytest.approx(expected, rel=1e-3, abs=1e-9)
    assert "no interval" in picture.caption
    assert TEXT in picture.caption
    assert paper.sweep(swept, record, "divergence").svg != picture.svg
    with pytest.raises(SettingError, match="is measured by"):
        paper.sweep(swept, record, "weather")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="no decoder attention"):
        paper.sweep(swept, bartviz.capture(loaded.model("bert"), TEXT))
    far = replace(swept, heads=(*swept.heads[:-1], Head("cross", 9, 9)))
    with pytest.raises(SettingError, match="another record"):
        paper.sweep(far, record)


def test_rollout_and_contributions_are_what_the_library_computes(record: Record) -> None:
    kinds: tuple[Kind, ...] = ("encoder", "decoder")
    for kind in kinds:
        rolled = bartviz.rollout(record, kind, layer=1)
        found = cells(ET.fromstring(paper.rollout(record, kind, 1).svg))
        seen = {place: cell.attrib["data-weight"] for place, cell in found.items() if "data-weight" in cell.attrib}
        assert len(seen) == int(record.attention(kind).mask.sum())
        for place, weight in seen.items():
            assert float(weight) == pytest.approx(float(rolled[place]), abs=6e-4)
    lengths = bartviz.contributions(record, "cross")[1, 0]
    forms: tuple[dict[str, Any], ...] = ({"kind": "cross L1H0"}, {"kind": "cross", "layer": 1, "head": 0})
    for form in forms:
        found = cells(ET.fromstring(paper.contributions(record, **form).svg))
        for place, cell in found.items():
            assert float(cell.attrib["data-weight"]) == pytest.approx(float(lengths[place]), abs=6e-4)
    with pytest.raises(SettingError, match="made without values"):
        paper.contributions(bartviz.capture(loaded.model("bart"), TEXT), "cross L1H0")
    with pytest.raises(SettingError, match="of one head"):
        paper.contributions(record, "cross", 1)
    with pytest.raises(SettingError):
        paper.rollout(record, "cross")


PICTURES: dict[str, Callable[..., paper.Picture]] = {
    "atlas": lambda atlas, **more: paper.atlas(atlas, "previous", "decoder", **more),
    "own": lambda atlas, **more: paper.atlas(atlas, "a measure of mine", **more),
    "scatter": lambda atlas, **more: paper.scatter(atlas, "entropy", "previous", **more),
}
each = pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)


@each
@pytest.mark.parametrize("width", [120, 240, 480])
@pytest.mark.parametrize("atlas", [Large(), Large(1, 1), Large(2, 8)], ids=["large", "one", "small"])
def test_nothing_is_outside_and_the_file_is_valid(draw: Callable[..., paper.Picture], width: int, atlas: Any) -> None:
    picture = draw(atlas, width=width)
    assert draw(atlas, width=width).svg == picture.svg
    root = ET.fromstring(picture.svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "desc", "title", "g", "rect", "path", "circle", "text"
    }  # fmt: skip
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("width") != "100%":
            x, y, wide, high = (float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
            assert x >= 0 <= y
            assert x + wide <= width + 0.1
            assert y + high <= picture.height
    for circle in root.iter(f"{SVG}circle"):
        assert 0 <= float(circle.get("cx", "")) <= width
        assert 0 <= float(circle.get("cy", "")) <= picture.height
    for line in root.iter(f"{SVG}text"):
        assert 0 <= float(line.get("x", "")) <= width
        assert 0 <= float(line.get("y", "")) <= picture.height
    assert "commit 0123456789ab" in picture.caption
    assert "<b>" not in picture.svg


@each
def test_korean_captions_have_the_same_numbers(draw: Callable[..., paper.Picture]) -> None:
    english = draw(Large())
    with speaking("ko"):
        korean = draw(Large())
    assert "헤드" in korean.caption
    assert "191" in korean.caption  # one head has no mean and is not counted
    assert "191" in english.caption


@pytest.mark.parametrize(
    ("draw", "why"),
    [
        (lambda atlas: paper.atlas(atlas, "weather"), "The measure is one of"),
        (lambda atlas: paper.atlas(atlas, "alignment", "encoder"), "No encoder attention has the measure alignment"),
        (lambda atlas: paper.atlas(atlas, width=10), "120 to 1200"),
        (lambda _atlas: paper.atlas(stand_in.record()), "open_atlas"),  # type: ignore[arg-type]
        (lambda atlas: paper.atlas_pair(atlas, Large()), "open_atlas"),  # type: ignore[arg-type]
        (lambda atlas: paper.scatter(atlas, "entropy", "weather"), "The measure is one of"),
        (lambda _atlas: paper.sweep(None, stand_in.record()), "ablate_sweep"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[Any], object], why: str, atlas: Atlas) -> None:
    with pytest.raises(SettingError, match=why):
        draw(atlas)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.floats(20, 400))
def test_ticks_are_round_within_the_axis_and_fit(low: float, size: float, room: float) -> None:
    axis = Axis.around([low, low + size], 0, room)
    ticks = [*axis.ticks()]
    assert 1 <= len(ticks) <= max(room / 20, 2) + 1
    for value, text in ticks:
        assert axis.low - 1e-6 * size <= value <= axis.high + 1e-6 * size
        if abs(low) < 1e3 * size:
            assert float(text.replace("−", "-")) == pytest.approx(value, abs=1e-6 * size)
    assert all(math.isfinite(axis.at(value)) for value, _text in ticks)
