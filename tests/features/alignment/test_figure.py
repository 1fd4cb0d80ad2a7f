"""The figure of word links: what is drawn, where, and how right, missed and wrong links differ without colour."""

from typing import Any

import numpy as np
import pytest

from bartviz.analysis.aligners import aligners, best
from bartviz.analysis.alignment import heads_of, links, table
from bartviz.analysis.gold_alignment import Gold, read
from bartviz.errors import SettingError
from bartviz.features.alignment import figure as figure_module
from bartviz.features.alignment.figure import alignment, lines, matrix, signs, within
from bartviz.language.percentages import percent
from bartviz.record.attention import Head
from bartviz.record.record import Record
from tests.support import stand_in


def traces(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data}


def test_words_are_numbered_labels_of_two_axes(record: Record) -> None:
    figure = alignment(record)
    assert [text.split(" ")[0] for text in figure.layout.yaxis.ticktext] == ["I", "want", "to", "buy", "a", "car", "."]
    assert figure.layout.yaxis2.ticktext[3].endswith(" Auto")
    assert ">3<" in figure.layout.yaxis2.ticktext[3]
    assert figure.layout.yaxis2.side == "right"


def test_each_link_is_one_path_from_its_source_to_its_output_word(record: Record) -> None:
    shown = table(record, heads_of(record))
    gold = read("0-0 1-1 3?4", 7, 6)
    figure = lines(shown, frozenset({(0, 0), (3, 4), (6, 5)}), gold=gold)
    drawn = traces(figure)
    assert [name for name in drawn if " link" in name] == [
        "right, sure: 1 link",
        "right, possible: 1 link",
        "wrong: 1 link",
        "missed: 1 link",
        "possible, not found: 0 links",
    ]
    path = drawn["right, possible: 1 link"]
    assert path.y[0] == pytest.approx(3.5)  # source word 3 of 7
    assert path.y[-2] == pytest.approx(4.5 * 7 / 6)  # output word 4 of 6, over the same height
    assert np.isnan(path.y[-1])
    assert "buy" in path.text[0]
    assert f"{shown.weights[4, 3]:.3f}" in path.text[0]
    looks = {(trace.line.dash, trace.marker.symbol) for name, trace in drawn.items() if " link" in name}
    assert len(looks) == 5


def test_links_have_a_mark_only_where_they_are_judged(record: Record) -> None:
    shown, links = table(record, heads_of(record)), frozenset({(0, 0), (3, 4)})
    bare = [trace for name, trace in traces(lines(shown, links)).items() if " link" in name]
    judged = traces(lines(shown, links, gold=read("0-0 1-1", 7, 6)))
    assert bare
    assert not any(np.any(trace.marker.size) for trace in bare)
    assert np.any(judged["wrong: 1 link"].marker.size)


def test_the_signs_of_an_alignment_that_is_still_being_made_are_named_and_counted(record: Record) -> None:
    shown, found = table(record, heads_of(record)), frozenset({(0, 0), (3, 0), (3, 4), (2, 3)})
    whole, begun = read("0-0 1-1", 7, 6), read("0-0 1-1", 7, 6).begun()
    assert signs(shown, found, whole) == "● right, sure: 1 link · ✕ wrong: 3 links · ○ missed: 1 link"
    assert signs(shown, found, begun) == (
        "● right, sure: 1 link · ✕ wrong: 1 link · ○ missed: 1 link · ■ not judged yet: 2 links"
    )
    assert "not judged yet: 0 links" not in traces(lines(shown, found, gold=whole))
    marks = traces(matrix(shown, found, gold=begun))["not judged yet"]
    assert marks.marker.symbol == "square"
    assert list(zip(marks.x, marks.y, strict=True)) == [(2, 3), (3, 4)]


def test_a_beginner_reads_weights_in_per_cent(record: Record) -> None:
    shown = table(record, [Head("cross", 0, 0)])
    figure = matrix(shown, frozenset({(0, 0)}), percents=True)
    cells = traces(figure)["weights"]
    assert cells.colorbar.tickformat == ".0%"
    assert "0 to 1" not in cells.colorbar.title.text
    assert "%{z:.1%}" in cells.hovertemplate
    assert figure.data[-1].text[0].endswith(f": {percent(float(shown.weights[0, 0]))}")


def test_on_a_wall_the_words_of_a_short_text_are_larger_and_the_scale_has_fewer_numbers(record: Record) -> None:
    shown = table(record, heads_of(record, 0), reading="predicts")
    usual, wall = (matrix(shown, frozenset(), large=large) for large in (False, True))
    for axis in ("xaxis2", "yaxis2"):
        assert wall.layout[axis].tickfont.size > 1.2 * usual.layout[axis].tickfont.size
    assert usual.layout.xaxis2.tickangle == -45
    assert wall.layout.xaxis2.autotickangles[0] == 0
    for percents in (True, False):
        (cells,) = matrix(shown, frozenset(), large=True, percents=percents).select_traces({"name": "weights"})
        assert tuple(cells.colorbar.tickvals) == (0, 0.5, 1)
        assert cells.colorbar.ticktext in (None, ("0", "0.5", "1"))


def test_the_matrix_marks_each_link_at_its_cell(record: Record) -> None:
    shown = table(record, heads_of(record))
    figure = matrix(shown, frozenset({(0, 0), (3, 4)}), gold=read("0-0 1-1", 7, 6))
    drawn = traces(figure)
    np.testing.assert_allclose(drawn["weights"].z, shown.weights, atol=1e-6)
    assert (drawn["wrong"].x.tolist(), drawn["wrong"].y.tolist()) == ([3], [4])
    assert drawn["missed"].x.tolist() == [1]
    assert {drawn[name].marker.symbol for name in ("right, sure", "missed")} == {"circle"}
    assert drawn["right, sure"].marker.color != drawn["missed"].marker.color


def test_without_gold_links_are_as_wide_as_they_are_strong(record: Record) -> None:
    shown = table(record, [Head("cross", 0, 0)])
    found = links(shown.weights, "union")
    named = {name: trace for name, trace in traces(lines(shown, found)).items() if " link" in name}
    widths = [trace.line.width for trace in named.values()]
    assert widths == sorted(widths)
    assert sum(int(name.split(": ")[1].split()[0]) for name in named) == len(found)


def test_the_default_is_the_head_that_agrees_most(record: Record) -> None:
    chosen = best(aligners(record), "predicts")
    same = alignment(record, chosen.heads, view="matrix")
    np.testing.assert_array_equal(same.data[0].z, alignment(record, view="matrix").data[0].z)


def test_words_are_never_markup() -> None:
    record = stand_in.record(source=("<s>", "<b>x</b>", " %{y}", "</s>"))
    for view in ("lines", "matrix"):
        text = alignment(record, view=view).to_json()
        assert "<b>x" not in text.encode().decode("unicode_escape", "ignore").replace("&lt;b&gt;x", "")
        assert "&#37;{y}" in text


def test_long_lines_are_drawn_in_part_and_the_matrix_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_module, "MOST", 4)
    record = stand_in.record()
    figure = alignment(record, method="union")
    assert len(figure.layout.yaxis.ticktext) == 4
    assert np.nanmax(np.concatenate([trace.y for trace in figure.data])) <= 4
    assert alignment(record, view="matrix").data[0].z.shape == (6, 7)


def test_the_part_of_long_lines_is_chosen_and_the_legend_counts_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 7 source and 6 output words 4 each: source 2 to 5 and, since 9 is too far, output 2 to 5."""
    monkeypatch.setattr(figure_module, "MOST", 4)
    shown = table(stand_in.record(), heads_of(stand_in.record()))
    found = frozenset({(0, 0), (2, 5), (5, 2), (6, 5)})
    gold = Gold(found, frozenset())
    figure = lines(shown, found, gold=gold, first=(2, 9))
    assert [text.split(" ")[0] for text in figure.layout.yaxis.ticktext] == ["to", "buy", "a", "car"]
    assert ">2<" in figure.layout.yaxis.ticktext[0]
    assert [text.split(" ")[-1] for text in figure.layout.yaxis2.ticktext] == ["ein", "Auto", "kaufen", "."]
    path = traces(figure)["right, sure: 2 links"]  # of four; the other two leave the part
    end = int(np.flatnonzero(np.isnan(path.y))[0]) - 1  # of the first of two links
    assert (path.y[0], path.y[end]) == (0.5, 3.5)  # source word 2 is the first, output word 5 the last
    assert "to" in path.text[0]
    assert "<b>car</b>" in traces(figure)["source"].text[3]
    assert within(shown, (-3, 1)) == (range(4), range(1, 5))


def test_a_word_that_no_row_reads_is_hatched_and_says_so() -> None:
    record = stand_in.record(output=("<s>", "Ich", " kaufe"))
    assert "no row reads it" in traces(alignment(record, reading="reads"))["target"].text[1]
    assert np.isnan(traces(alignment(record, reading="reads", view="matrix"))["weights"].z[1]).all()


def test_light_and_dark_are_the_same_numbers(record: Record) -> None:
    light, dark = alignment(record), alignment(record, dark=True)
    np.testing.assert_array_equal(light.data[0].y, dark.data[0].y)
    assert light.layout.paper_bgcolor != dark.layout.paper_bgcolor


def test_a_record_without_cross_attention_is_refused() -> None:
    with pytest.raises(SettingError, match="cross-attention"):
        alignment(stand_in.record(kind="encoder"))


def test_a_head_may_be_named(record: Record) -> None:
    assert alignment(record, ["cross L1H0"]) == alignment(record, [Head("cross", 1, 0)])
