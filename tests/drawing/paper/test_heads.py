"""The numbers of the pictures for paper, read back from the SVG and compared with those of the record."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from bartviz import paper
from bartviz.analysis import alignment, start
from bartviz.analysis.head_view import sinks
from bartviz.drawing import theme
from bartviz.drawing.colors import LIGHT
from bartviz.errors import SettingError
from bartviz.record.attention import Head
from bartviz.record.record import Record
from tests.drawing.paper.reading import SVG, cells, texts
from tests.support import stand_in


def lightness(color: str) -> float:
    """The relative luminance of a colour: how it looks in print without colour."""
    shares = np.array([int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_a_map_has_a_cell_for_each_weight_in_its_colour(record: Record) -> None:
    drawn = cells(ET.fromstring(paper.map(record, "cross", 1, 2).svg))
    weights = record.attention("cross").head(1, 2)
    assert set(drawn) == set(np.ndindex(*weights.shape))
    for place, cell in drawn.items():
        assert float(cell.attrib["data-weight"]) == pytest.approx(weights[place], abs=5.1e-4)
        assert cell.attrib["fill"] == theme.at(theme.scale("cross"), float(weights[place]))


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_colours_are_in_order_without_colour(kind: str, record: Record) -> None:
    drawn = cells(ET.fromstring(paper.map(record, kind, 0, 0).svg))
    attention = record.attention(kind)
    weights = attention.head(0, 0)
    order = sorted(map(tuple, np.argwhere(attention.mask).tolist()), key=lambda place: float(weights[place]))
    shades = [lightness(drawn[place].attrib["fill"]) for place in order]
    assert all(dark <= light + 1e-9 for light, dark in pairwise(shades))
    assert shades[0] > 0.9
    assert shades[-1] < 0.3


def test_masked_cells_are_hatched_and_have_no_weight(record: Record) -> None:
    root = ET.fromstring(paper.map(record, "decoder", 0, 0).svg)
    drawn, mask = cells(root), record.attention("decoder").mask
    for place, cell in drawn.items():
        assert ("data-weight" in cell.attrib) == mask[place]
    hatch = next(path for path in root.iter(f"{SVG}path") if path.attrib.get("stroke") == LIGHT.hatch)
    assert hatch.attrib["d"].count("M") == (~mask).sum()
    assert "masked" in texts(root)
    assert "masked" not in texts(ET.fromstring(paper.map(record, "cross", 0, 0).svg))


def test_rows_and_columns_have_their_tokens(record: Record) -> None:
    for reading, rows in (("predicts", record.output), ("reads", record.attention("cross").query)):
        assert rows is not None
        read = texts(ET.fromstring(paper.map(record, "cross", 0, 0, reading=reading).svg))  # type: ignore[arg-type]
        count = len(rows)
        assert read[1 : 1 + count] == list(rows.labels)
        assert read[1 + count : 1 + count + len(record.source)] == list(record.source.labels)


def test_a_mean_words_and_hidden_columns(record: Record) -> None:
    attention = record.attention("cross")
    drawn = cells(ET.fromstring(paper.map(record, "cross", 1).svg))
    mean = attention.layer(1).mean(axis=0)
    assert float(drawn[2, 3].attrib["data-weight"]) == pytest.approx(mean[2, 3], abs=5.1e-4)
    hidden = paper.map(record, "cross", 1, 0, hide_sinks=True)
    assert len(cells(ET.fromstring(hidden.svg))) == attention.shape[2] * int((~sinks(attention)).sum())
    share = attention.head(1, 0)[:, sinks(attention)].sum(axis=1).mean()
    assert f"{share:.0%} of the attention went to" in hidden.caption
    assert "kaufen" in texts(ET.fromstring(paper.map(record, "cross", 1, 0, words=True).svg))


def test_lines_are_as_thick_as_their_weights(record: Record) -> None:
    weights = record.attention("cross").head(1, 2)
    drawn = cells(ET.fromstring(paper.lines(record, "cross", 1, 2).svg))
    assert set(drawn) == {tuple(map(int, place)) for place in np.argwhere(weights >= 0.05)}
    widths = {place: float(line.attrib["stroke-width"]) for place, line in drawn.items()}
    for place, width in widths.items():
        assert width == pytest.approx(2.2 * weights[place], abs=0.006)
    row = {place for place in drawn if place[0] == 3}
    assert set(cells(ET.fromstring(paper.lines(record, "cross", 1, 2, row=3).svg))) == row


def test_lines_end_at_their_tokens(record: Record) -> None:
    root = ET.fromstring(paper.lines(record, "cross", 1, 2).svg)
    lines = [line for line in root.iter(f"{SVG}text") if line.attrib["font-size"] == "7"]
    rows, columns = record.attention("cross").shape[2:]
    heights = [float(line.attrib["y"]) - 2.45 for line in lines]
    for (q, k), line in cells(root).items():
        start, *_bend, end = line.attrib["d"].replace("C", " ").removeprefix("M").split()[1:]
        assert float(start) == pytest.approx(heights[:rows][q], abs=0.02)
        assert float(end) == pytest.approx(heights[rows : rows + columns][k], abs=0.02)


def test_a_text_is_shaded_by_one_row(record: Record) -> None:
    weights = record.attention("cross").head(1, 2)
    root = ET.fromstring(paper.text(record, "cross", 1, 2, 4).svg)
    drawn = cells(root)
    assert len(drawn) == weights.shape[1]
    for (column,), cell in drawn.items():
        assert float(cell.attrib["data-weight"]) == pytest.approx(weights[4, column], abs=5.1e-4)
        assert cell.attrib["fill"] == theme.at(theme.scale("cross"), float(weights[4, column]))
    assert texts(root)[0] == f"row 4: {record.rows('cross').labels[4]}"
    assert texts(root)[1 : 1 + len(drawn)] == list(record.source.labels)
    tokens = list(root.iter(f"{SVG}text"))[1 : 1 + len(drawn)]
    for (column,), cell in drawn.items():
        light = sorted((lightness(cell.attrib["fill"]), lightness(tokens[column].attrib["fill"])))
        assert (light[1] + 0.05) / (light[0] + 0.05) > 4.4


@pytest.mark.parametrize("draw", [paper.lines, paper.text])
@pytest.mark.parametrize("row", [-1, 9])
def test_a_row_that_is_not_there_is_refused(draw: object, row: int, record: Record) -> None:
    with pytest.raises(SettingError, match="0 to 8"):
        draw(record, "cross", 0, 0, row=row)  # type: ignore[operator]


def test_a_head_or_kind_that_is_not_there_is_refused(record: Record) -> None:
    with pytest.raises(SettingError, match="0 to 2"):
        paper.map(record, "cross", 3, 0)
    with pytest.raises(SettingError, match="encoder"):
        paper.overview(stand_in.record(kind="encoder"), "cross")
    with pytest.raises(SettingError, match="can be a head of several kinds"):
        paper.ribbons(record, "L2H1")


def test_ribbons_are_as_wide_as_the_weights_between_words(record: Record) -> None:
    shown = start.ribbons(record, head=Head("cross", 1, 2))
    root = ET.fromstring(paper.ribbons(record, "cross L1H2", width=320).svg)
    drawn = cells(root)
    assert {(t, s) for t, s, _weight in shown.edges()} == set(drawn)
    for place, ribbon in drawn.items():
        assert float(ribbon.attrib["stroke-width"]) == pytest.approx(7 * shown.weights[place], abs=0.006)
    read = texts(root)
    assert read[1 : 1 + len(shown.above)] == [word.text for word in shown.above]
    assert read[1 + len(shown.above) :][: len(shown.below)] == [word.text for word in shown.below]


def test_alignment_has_the_weights_between_words_and_a_dot_on_each_link(record: Record) -> None:
    heads = [Head("cross", 1, 2), Head("cross", 2, 0)]
    root = ET.fromstring(paper.alignment(record, heads, method="target").svg)
    table = alignment.table(record, heads)
    for place, cell in cells(root).items():
        assert float(cell.attrib["data-weight"]) == pytest.approx(table.weights[place], abs=5.1e-4)
    dots = {tuple(map(int, dot.attrib["data-link"].split())) for dot in root.iter(f"{SVG}circle")}
    assert dots == {(t, int(row.argmax())) for t, row in enumerate(table.weights)}
    with pytest.raises(SettingError, match="cross-attention"):
        paper.alignment(stand_in.record(kind="encoder"))


def test_overview_has_every_head_with_its_largest_weights(record: Record) -> None:
    root = ET.fromstring(paper.overview(record, "decoder").svg)
    small = {tuple(map(int, g.attrib["data-head"].split())): g for g in root.iter(f"{SVG}g") if "data-head" in g.attrib}
    attention = record.attention("decoder")
    assert set(small) == set(np.ndindex(*attention.shape[:2]))
    for (layer, head), group in small.items():
        shares = np.zeros(attention.shape[2:])
        for path in group:
            for run in path.attrib["d"].removeprefix("M").split("M"):
                x, y = map(int, run.split("h")[0].split())
                wide = int(run.split("h")[1].split("v")[0])
                shares[y, x : x + wide] = float(path.attrib["data-share"])
        assert np.abs(shares - attention.head(layer, head)).max() <= 0.5 / 15 + 0.003
