"""Downloads of a page contain what it shows: the same head or mean, view and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from bartviz import paper
from bartviz.analysis import head_view
from bartviz.app.controls import show
from bartviz.record.record import Record
from tests.support import stand_in
from tests.support.visits import opened

Given = dict[str, dict[str, Any]]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Given:
    """What the page has passed to ``show.downloads``, by name."""
    found: Given = {}
    real = show.downloads

    def downloads(name: str, **files: Any) -> None:
        found[name] = files
        real(name, **files)

    monkeypatch.setattr(show, "downloads", downloads)
    return found


def made(files: Mapping[str, Any], what: str) -> Any:
    value = files[what]
    return value() if isinstance(value, Callable) else value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "of", "title"),
    [
        ({"layer": "2", "head": "3"}, "cross-L2H3", "cross L2H3"),
        ({"layer": "2", "head": "3", "weights": "layer"}, "cross-L2-mean", "mean of the 4 heads of cross layer 2"),
        ({"weights": "all", "kind": "encoder"}, "encoder-mean", "mean of all 12 encoder heads"),
    ],
)
def test_heads_gives_the_head_or_mean_that_is_shown(
    given: Given, record: Record, query: dict[str, str], of: str, title: str
) -> None:
    opened("heads", record, None, **query)
    files = given["heads"]
    assert files["of"] == of
    figure, table, arrays = (made(files, what) for what in ("figure", "table", "arrays"))
    assert figure.layout.annotations[0].text.startswith(title)
    shown = table.drop(columns="query").to_numpy()
    np.testing.assert_array_equal(arrays["shown"], shown)
    attention = record.attention(of.split("-", 1)[0])
    layer, head = None if of.endswith("r-mean") else 2, 3 if of.endswith("H3") else None
    np.testing.assert_array_equal(shown, head_view.mean(attention, layer, head))


@pytest.mark.parametrize(
    ("query", "draw"),
    [
        ({"layer": "2", "head": "3"}, lambda r: paper.map(r, "cross", 2, 3)),
        ({"layer": "2", "weights": "layer", "range": "log"}, lambda r: paper.map(r, "cross", 2, range="log")),
        ({"weights": "all", "kind": "encoder", "words": "true"}, lambda r: paper.map(r, "encoder", words=True)),
        (
            {"layer": "2", "head": "3", "view": "lines", "hide": "true", "reading": "reads"},
            lambda r: paper.lines(r, "cross", 2, 3, hide_sinks=True, reading="reads"),
        ),
        ({"layer": "2", "head": "3", "view": "text", "row": "4"}, lambda r: paper.text(r, "cross", 2, 3, 4)),
    ],
)
def test_heads_gives_the_picture_for_paper_that_is_shown(
    given: Given, record: Record, query: dict[str, str], draw: Callable[[Record], paper.Picture]
) -> None:
    opened("heads", record, None, **query)
    assert made(given["heads"], "picture").svg == draw(record).svg


def test_a_text_that_is_too_long_for_a_page_has_no_picture_of_its_map(given: Given) -> None:
    long = stand_in.record(tuple(f" w{number}" for number in range(130)), layers=1, heads=1)
    opened("heads", long, None, kind="encoder")
    assert given["heads"]["picture"] is None
    opened("heads", long, None, kind="encoder", view="text")
    assert made(given["heads"], "picture").height > 0


def test_alignment_gives_the_picture_for_paper_that_is_shown(given: Given, record: Record) -> None:
    opened("alignment", record, None, align="head", layer="1", head="2", links="union", reading="reads")
    picture = made(given["alignment"], "picture")
    drawn = paper.alignment(record, ["cross L1H2"], method="union", reading="reads")
    assert picture.svg == drawn.svg


def test_masks_gives_the_view_that_is_shown(given: Given, record: Record) -> None:
    opened("masks", record, None, view="weights", layer="1", head="2")
    files = given["masks"]
    titles = [note.text for note in made(files, "figure").layout.annotations]
    assert titles == ["Encoder, L1H2", "Decoder, L1H2", "Cross-attention, L1H2"]
    arrays = made(files, "arrays")
    np.testing.assert_array_equal(arrays["cross_L1H2"], record.attention("cross").head(1, 2))
    np.testing.assert_array_equal(arrays["decoder"], record.attention("decoder").mask)


def test_a_pattern_can_be_downloaded(given: Given, record: Record) -> None:
    opened("masks", record, None, level="expert", about="patterns", pattern="window", pattern_row="4")
    files = given["masks-pattern"]
    assert files["of"] == "window"
    table, arrays = made(files, "table"), made(files, "arrays")
    np.testing.assert_array_equal(table["weight with the pattern"], arrays["after"][4])
    assert not table.loc[~table["open"], "weight with the pattern"].any()
    assert made(files, "figure").data


def test_two_heads_can_be_downloaded(given: Given, record: Record) -> None:
    level = "intermediate"
    opened("compare", record, None, level=level, below="two", kind="encoder", a="encoder L0H1", b="encoder L2H3")
    files = given["difference"]
    arrays, figure = made(files, "arrays"), made(files, "figure")
    np.testing.assert_allclose(arrays["difference"], arrays["B"] - arrays["A"], atol=1e-7)
    np.testing.assert_array_equal(arrays["A"], record.attention("encoder").head(0, 1))
    assert [note.text.split(",")[0] for note in figure.layout.annotations][:2] == ["A: encoder L0H1", "B: encoder L2H3"]
    assert list(made(files, "table").columns) == ["row", "query", "distance"]
    columns = list(made(given["compare"], "table").columns)
    assert "entropy (bits)" in columns
    assert "to_a (Jensen-Shannon distance, 0 to 1)" in columns


def test_likeness_and_rollout_have_names_and_a_table(given: Given, record: Record) -> None:
    opened("compare", record, None, below="likeness", kind="encoder")
    arrays = made(given["likeness"], "arrays")
    assert arrays["heads"][5] == "encoder L1H1"
    assert len(arrays["heads"]) == len(arrays["distances"])
    assert made(given["likeness"], "figure").data
    opened("compare", record, None, below="rollout", kind="encoder", upto="1")
    files = given["rollout"]
    assert files["of"] == "encoder-to-L1"
    table = made(files, "table").drop(columns="query").to_numpy()
    np.testing.assert_array_equal(table, made(files, "arrays")["rollout"])
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-5)


def test_the_parts_of_the_arithmetic_can_be_downloaded(given: Given, record: Record) -> None:
    opened(
        "inside",
        record,
        None,
        level="expert",
        kind="cross",
        layer="1",
        head="2",
        row="3",
        token="4",
        follow="false",
        around="scaling",
    )
    assert given["inside"]["of"] == "cross-L1H2-row3"
    files = given["inside-products"]
    assert files["of"] == "cross-L1H2-row3-key4"
    cross = record.attention("cross")
    products = cross.queries[1, 2, 3] * cross.keys[1, 2, 4]
    table = made(files, "table")
    assert any(np.allclose(table[name], products, atol=1e-5) for name in table.columns if table[name].dtype.kind == "f")
    assert made(files, "figure").data
    assert given["inside-scaling"]["of"] == "cross-L1H2"
    assert len(made(given["inside-scaling"], "table"))


def test_the_costs_can_be_downloaded(given: Given, record: Record) -> None:
    opened("parameters", record, None, level="expert", more="models")
    assert made(given["sizes"], "figure").data
    opened("parameters", record, None, level="expert", more="length", n="512")
    assert 512 in made(given["operations"], "table")["length"].tolist()
