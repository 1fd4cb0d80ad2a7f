"""The compare page as a script: its texts on heads and pins, and odd links and other runs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import compare, distance, head_names, head_view, sentence_words, start
from bartviz.analysis.matching_heads import match
from bartviz.analysis.measures import of_record
from bartviz.app.controls import tasks
from bartviz.app.state import session
from bartviz.browser.canvas.data import codes, decode
from bartviz.features.compare import numbers_similar as similar
from bartviz.language.percentages import percent
from bartviz.record.record import Record, open_record
from bartviz.serving import first_record
from tests.support import records, stand_in, visits
from tests.support.pages import tables

APART = "what differs"  # the canvas that has no letter
TABS = ["All heads", "Similarity", "Rollout", "Attention and contribution", "What is measured"]


def opened(record: Record, other: Record | None = None, **query: str) -> AppTest:
    """The page with this record as the visitor's last run, and another one kept for comparison."""
    kept = {} if other is None else {"_pinned": other}
    against = {} if other is None else {"against": "run"}
    return visits.opened("compare", record, kept, **{"level": "expert"} | against | query)


def words(app: AppTest) -> str:
    """All that the page says in HTML of ours, or as plain text."""
    return " ".join([visits.words(app), *(part.value for part in app.text)])


def canvases(app: AppTest) -> dict[str, Any]:
    """What the canvases of A, of B and of what differs were told, and the maps that they were sent."""
    found = [part.proto for part in app.get("bidi_component") if part.proto.component_name == "bartviz.canvas"]
    sent = [decode(proto.bytes) for proto in found]
    return {meta["label"] or APART: meta | {"values": arrays["tiles"]} for meta, arrays in sent}


def noted(app: AppTest) -> list[str]:
    """The small lines of the page, as HTML."""
    return [part.proto.body for part in app.get("html") if part.proto.body.startswith("<p class='bv-note'>")]


def table(app: AppTest, column: str) -> Any:
    """The first table that has this column."""
    return next(found for found in tables(app) if column in found.columns)


def test_the_lists_of_heads_say_what_each_does(record: Record) -> None:
    options = opened(record, kind="cross", threshold="0.3").selectbox(key="a").options
    found = head_names.names(of_record(record, "cross"), threshold=0.3)
    assert found
    for (layer, head), given in found.items():
        assert f"cross L{layer}H{head} · {given.short} {given.score:.2f}" in options
    simple = opened(record, kind="cross", threshold="0.3", level="beginner").selectbox(key="a").options
    for (layer, head), given in found.items():
        assert f"head {head} of layer {layer} · {given.short} {percent(given.score)}" in simple
    assert "encoder L0H0" in options  # of the other kinds, which are not measured, no name is said
    assert "head 0 of layer 0 (encoder attention)" in simple
    assert not [option for option in simple if "L0H" in option]


def test_it_begins_with_cross_attention_and_says_what_heads_are_called(record: Record) -> None:
    app = opened(record, level="beginner")
    assert not app.tabs
    notice = compare.notice(of_record(record, "cross"))
    assert notice not in words(app)  # it is in a fold, with the scatter and the matrix
    assert not app.get("plotly_chart")
    asked = opened(record, level="beginner", x="previous")
    assert notice in words(asked)
    decimals = compare.notice(of_record(record, "cross"), percents=False)
    assert decimals != notice
    assert decimals in words(opened(record))
    assert len(asked.get("plotly_chart")) == 2  # scatter, matrix
    assert list(canvases(app)) == ["A", "B", APART]
    said = r"Heads A and B look most at (different places|the same place) in (all|\d+ of) \d+ rows"
    assert re.search(rf"{said} \(special tokens aside\)\.", words(app))
    assert [tab.label for tab in opened(record).tabs] == [
        "All heads",
        "Attention and contribution",
        *TABS[1:3],
        TABS[-1],
    ]


def test_a_dotted_line_is_mentioned_only_if_it_is_drawn(record: Record) -> None:
    assert "the dotted line is even attention" in words(opened(record, kind="Encoder", x="evenness", y="previous"))
    said = words(opened(record, kind="Encoder", x="evenness", y="peak"))  # even heads are far from all of these
    assert "Later layers have stronger colours." in said
    assert "the dotted line is even attention" not in said


def test_the_link_pins_two_heads_and_says_how_far_they_are(record: Record) -> None:
    app = opened(record, a="encoder L0H1", b="encoder L2H3", kind="Encoder")
    attention = record.attention("encoder")
    far = distance.distances(attention, 0, 1)[2, 3]  # the same number as in the table
    assert f"A and B are {far:.3f} apart on average" in words(app)
    assert "A: encoder L0H1" in words(app)
    assert "B: encoder L2H3" in words(app)


def test_with_merged_words_the_distance_is_between_words(record: Record) -> None:
    pins: dict[str, Any] = {"a": "encoder L0H1", "b": "encoder L2H3", "kind": "Encoder"}
    assert "(Jensen-Shannon distance: 0" in words(opened(record, **pins))
    assert "(Jensen-Shannon distance between words: 0" in words(opened(record, words="true", **pins))


def test_a_beginner_reads_that_one_head_looks_where_the_other_looked_a_row_above() -> None:
    record = open_record(first_record.FILE)
    said = words(opened(record, a="cross L3H1", b="cross L1H4", level="beginner"))
    rows = record.rows("cross")
    a, b = (head_view.view(record.attention("cross"), layer, head, query=rows) for layer, head in ((3, 1), (1, 4)))
    first, second = a.weights.argmax(axis=1), b.weights.argmax(axis=1)
    counted = [t for t in range(1, len(first)) if not a.query_special[t]]
    late = sum(second[t] == first[t - 1] for t in counted)
    assert late > len(counted) / 2
    plainly = "(special tokens aside) it looks where head A looked one row earlier."
    assert f"Head B is one word behind: in {late} of {len(counted)} rows {plainly}" in said
    assert "look most at" not in said.split(plainly)[0]  # one thing is said of the two
    (unfit,) = (a.query_labels[t] for t in counted if second[t] != first[t - 1])
    assert f"{plainly} Only “{unfit}” does not fit." in said


def test_a_beginner_reads_what_two_heads_do_in_the_words_of_their_pickers() -> None:
    app = opened(open_record(first_record.FILE), a="cross L3H1", b="cross L1H4", level="beginner")
    for letter, place in (("a", "head 1 of layer 3"), ("b", "head 4 of layer 1")):
        options = app.selectbox(key=letter).options
        (option,) = (option for option in options if option.startswith(f"{place} ·"))
        (note,) = (one for one in noted(app) if one.startswith(f"<p class='bv-note'>{letter.upper()}: "))
        assert option.startswith(f"{place} · one to one ")
        assert "<dfn class='bv-role'" in note
        assert ">links words one to one" in note
        assert ("(a link need not be a translation)" in note) == (letter == "b")  # said once
        assert "does not say that one word of a pair translates the other" in note


def test_a_beginner_reads_what_differs_and_what_to_touch_where_one_row_is_that_of_both(record: Record) -> None:
    touch = "Touch a row."
    said = words(opened(record, a="cross L0H1", b="cross L1H1", level="beginner"))
    assert touch in said
    a, b = (head_view.view(record.attention("cross"), layer, 1, query=record.rows("cross")) for layer in (0, 1))
    rows = distance.jensen_shannon(a.weights, b.weights) * (a.has_choice & ~a.query_special)
    assert f"They differ most in the row “{a.query_labels[int(rows.argmax())]}”." in said
    assert touch not in words(opened(record, a="encoder L0H1", b="cross L1H1", level="beginner"))
    assert touch not in words(opened(record, a="cross L0H1", b="cross L1H1", level="intermediate"))


def test_what_differs_is_b_minus_a_in_the_row_of_both(record: Record) -> None:
    found = canvases(opened(record, a="encoder L0H1", b="encoder L2H3", row="4", view="lines"))
    apart, attention = found[APART], record.attention("encoder")
    difference = attention.head(2, 3) - attention.head(0, 1)
    back = (2.0 * apart["values"][0] / apart["unit"] - 1) * apart["limit"]
    np.testing.assert_allclose(back, difference, atol=2e-5)
    assert (apart["begin"]["row"], apart["begin"]["view"]) == (4, "map")
    assert APART not in canvases(opened(record, a="encoder L0H1", b="decoder L2H3"))


def test_the_maps_of_two_texts_leave_room_for_the_labels_of_their_difference() -> None:
    one, two = (records.encoder_only(("<s>", " I", f" {word}", " it", "</s>")) for word in ("buy", "sell"))
    pins: dict[str, Any] = {"a": "encoder L0H0", "b": "encoder L0H1"}
    rooms = [set(meta["beside"]) for meta in canvases(opened(one, two, **pins)).values()]
    assert len(rooms) == 3
    assert rooms == [{*one.source.labels, *two.source.labels, "buy / sell"}] * 3
    assert all(meta["beside"] == [] for meta in canvases(opened(one, **pins)).values())


def test_a_head_and_itself_are_the_same(record: Record) -> None:
    assert "A and B are the same (" in words(opened(record, a="cross L1H1", b="cross L1H1"))


def test_heads_over_other_tokens_are_side_by_side_without_a_difference(record: Record) -> None:
    app = opened(record, a="encoder L0H1", b="decoder L2H3")
    assert "A difference needs " in words(app)
    assert len(app.get("plotly_chart")) == 2
    a, b = canvases(app).values()
    assert (a["kind"], b["kind"]) == ("encoder", "decoder")
    row = start.row_of(record, "encoder")
    assert app.slider(key="row").label == f"Row of A: {record.source.labels[row]}"
    assert app.slider(key="row_b").label.startswith("Row of B: ")
    app.slider(key="row_b").set_value(5).run()
    a, b = canvases(app).values()
    assert (a["begin"]["row"], b["begin"]["row"]) == (row, 5)


def test_each_canvas_is_sent_its_head_alone_and_exact(record: Record) -> None:
    found = canvases(opened(record, a="encoder L0H1", b="encoder L2H3", row="4", view="lines"))
    for letter, (layer, head) in {"A": (0, 1), "B": (2, 3)}.items():
        meta = found[letter]
        assert meta["alone"]
        assert (meta["begin"]["row"], meta["begin"]["view"]) == (4, "lines")
        assert meta["tiles"] == [layer * 5 + head]
        np.testing.assert_array_equal(meta["values"], codes(record.attention("encoder").head(layer, head))[None])


@pytest.mark.parametrize(
    "query",
    [
        {"a": "encoder L9H9", "b": "x", "x": "nonsense", "y": "", "colour": "1e9", "kind": "sideways"},
        {"threshold": "7", "least": "-3", "row": "99", "below": "Nowhere", "show": "maybe", "click": "C"},
        {"a": "cross L1H1" * 500, "threshold": "abc", "words": "true", "range": "each row's largest"},
    ],
)
def test_odd_links_are_clamped_to_the_record(record: Record, query: dict[str, str]) -> None:
    assert len(opened(record, None, **query).get("plotly_chart")) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize(
    "given",
    [
        records.encoder_only(),
        records.decoder_only(),
        records.encoder_decoder(layers=(3, 1), heads=(2, 4), padding=2),
        stand_in.record(("<s>", "</s>"), ("</s>",)),
    ],
    ids=["encoder", "decoder", "unequal", "special tokens alone"],
)
def test_every_part_is_drawn_for_every_kind_of_record(given: Record, tab: str) -> None:
    for kind in given.kinds:
        app = opened(given, below=tab, kind=kind.title())
        assert f"{sentence_words.before_noun(kind)} head" in words(app)


def test_the_table_holds_every_measure_and_is_filtered(record: Record) -> None:
    app = opened(record, below="All heads", kind="Encoder")
    measured = of_record(record, "encoder")
    whole = table(app, "entropy")
    np.testing.assert_allclose(whole["entropy"], measured.values["entropy"].ravel(), rtol=1e-5)
    assert len(whole) == 12
    app = opened(record, below="All heads", kind="Encoder", y="largest weight", least="90")
    values = measured.values["peak"]
    assert len(table(app, "entropy")) == int((values >= 0.9 * values.max()).sum()) < 12
    figures = [json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart")]
    points = next(one for one in figures if one.get("mode") == "markers+text")
    assert points["marker"]["opacity"] != [1.0] * 12  # the others are faint in the picture


def test_the_nearest_heads_are_listed_and_pinned(record: Record) -> None:
    app = opened(record, below="All heads", a="encoder L0H1")
    near = distance.nearest(distance.distances(record.attention("encoder"), 0, 1), 0, 1)
    assert table(app, compare.TO_A)["head"].tolist()[0] == f"encoder L{near[0][0]}H{near[0][1]}"
    app.button(key="pin_nearest").click().run()
    assert app.selectbox(key="b").value == f"encoder L{near[0][0]}H{near[0][1]}"


def test_a_run_is_pinned_as_b_and_forgotten_again(record: Record) -> None:
    app = opened(record, a="cross L1H2", against="run")
    app.button(key="pin_run").click().run()
    assert not app.exception
    assert app.selectbox(key="b").value == "cross L1H2"
    assert "A and B are the same (" in words(app)
    app.session_state[session.RECORD] = stand_in.record(("<s>", "a", "</s>"))
    app.run()
    assert not app.exception
    assert "A has 9 rows and B 9" not in words(app)
    assert "A has 3 columns and B 9" in words(app)
    app.button(key="unpin_run").click().run()
    assert not app.exception
    assert "No run is saved for comparison" in words(app)


def test_a_run_that_is_too_large_is_not_kept_and_the_limit_is_said(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Record, "nbytes", property(lambda _: 300_000_000))
    app = opened(record, against="run")
    app.button(key="pin_run").click().run()
    assert "This run takes 300 MB" in app.error[0].value
    assert "saved runs is 256 MB" in app.error[0].value
    assert "No run is saved for comparison" in words(app)


@pytest.mark.slow
def test_a_head_of_another_model_is_shown_next_to_it(record: Record) -> None:
    other = records.encoder_only(layers=1, heads=2)
    app = opened(record, other, a="encoder L0H1", b="encoder L0H0", kind="Encoder")
    assert app.selectbox(key="b").options == ["encoder L0H0", "encoder L0H1"]
    assert "B: encoder L0H0 of “" in words(app)
    assert "A and B are" in words(app)  # the same text, other layers: the tokens are the same


def test_a_head_is_compared_with_one_of_another_model_and_of_another_text(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, asked = records.encoder_only(layers=1, heads=2), []
    other = replace(other, model=replace(other.model, name="another"))

    def ask(_name: str, model: str, key: dict[str, object], *_: object) -> Record | None:
        asked.append((model, key["text"]))
        return other if model != record.model.name else None

    monkeypatch.setattr(tasks, "ask", ask)
    app = opened(record, against="model", b_model="bert-tiny-en", a="encoder L0H1", kind="Encoder")
    assert asked[-1] == ("bert-tiny-en", record.source_text)
    assert app.selectbox(key="b").options == ["encoder L0H0", "encoder L0H1"]
    one, two = of_record(record, "encoder"), of_record(other, "encoder")
    like = similar.counterpart(one, (0, 1), two)
    assert app.selectbox(key="b").value == f"encoder L{like[0]}H{like[1]}"
    assert f"B: encoder L{like[0]}H{like[1]} of another" in words(app)
    app = opened(record, against="model", b_model="bert-tiny-en")  # has no cross-attention
    assert match(record, other) is None  # it has read other words
    usual, head = (start.head_of(record, kind) for kind in ("cross", "encoder"))
    assert app.selectbox(key="a").value == str(head)
    assert f"another has no cross-attention head, so A is {head} instead of {usual}." in words(app)
    other = replace(other, source_text=record.source_text)
    found = match(record, other)
    assert found is not None
    app = opened(record, against="model", b_model="bert-tiny-en")
    assert [app.selectbox(key=key).value for key in "ab"] == [str(found.first), str(found.second)]
    assert "A and B look most alike" in words(app)
    other = replace(record, model=replace(record.model, name="another"))  # its heads are those of this one
    app = opened(record, against="model", b_model="bert-tiny-en", layer="1", head="2", kind="Cross")
    assert [app.selectbox(key=key).value for key in "ab"] == ["cross L1H2", "cross L1H2"]  # A stays, B is most like it
    assert "instead of" not in words(app)
    asked.clear()
    app = opened(record, against="text", kind="Encoder", level="beginner")
    assert app.text_input(key="b_text").value == record.source_text  # to change a word of
    assert asked == []
    assert "Both texts are the same so far." in words(app)
    app.text_input(key="b_text").set_value("Another text.").run()
    assert not app.exception
    assert asked[-1] == (record.model.name, "Another text.")
    assert len(app.selectbox(key="b").options) > 2  # until the other run is ready, B is of this one
    app.text_input(key="b_text").set_value("").run()
    assert app.text_input(key="b_text").value == ""  # an emptied field stays so
    said = words(app)
    assert "Both texts are the same so far." not in said
    assert "Only A so far" in said  # a head of this run in B's place would be nothing to compare with
    assert "A: head " in said
    assert "B: head " not in said


def test_a_beginner_is_told_how_texts_are_compared_that_do_not_pair_up(record: Record) -> None:
    app = opened(record, stand_in.record(("<s>", "a", "</s>")), a="cross L1H1", level="beginner")
    assert "The tokens of the two texts do not pair up." in words(app)
    assert "A and B have other rows or columns" in words(
        opened(record, a="encoder L0H1", b="cross L1H1", level="beginner")
    )
    assert ".st-key-compare_maps { min-height: 0; }" in words(app)  # no place is kept for a difference
    assert ".st-key-compare_maps { min-height: 0; }" not in words(opened(record))


def test_a_click_on_a_head_of_this_run_ends_the_comparison_with_another(record: Record) -> None:
    app = opened(record, records.encoder_only(), below="All heads", a="encoder L0H1")
    assert app.selectbox(key="against").value == "run"
    app.button(key="pin_nearest").click().run()
    assert app.selectbox(key="against").value == "head"


def test_heads_that_are_alike_are_listed_in_pairs(record: Record) -> None:
    app = opened(record, below="Similarity", kind="Encoder")
    found = similar.likeness(record.attention("encoder"))
    assert found is not None
    (layer, head), _, far = found.pairs(1)[0]
    listed = table(app, "and")
    assert listed["head"][0] == f"encoder L{layer}H{head}"
    assert listed["distance"][0] == pytest.approx(far)
    assert f"the plane keeps {found.kept:.0%} of their spread" in words(app)


def test_rollout_of_a_cross_head_is_the_encoders_own(record: Record) -> None:
    app = opened(record, below="Rollout")
    assert "Rollout is not defined for cross-attention" in words(app)
    assert "Rollout: encoder layers 0 to 2" in words(app)


def test_contributions_need_values_and_say_so(record: Record) -> None:
    assert "the rank correlation of the two" in words(opened(record, below="Attention and contribution"))
    cross = replace(record.attention("cross"), v=None, out=None, out_bias=None)
    assert "without its values" in words(opened(replace(record, cross=cross), below="Attention and contribution"))


def test_what_is_measured_is_written_down_with_rows_and_sources(record: Record) -> None:
    found: Any = opened(record, below="What is measured", kind="Decoder").table[0].value
    line = found.set_index("measure").loc["previous token"]
    assert line["rows"].startswith(f"{of_record(record, 'decoder').rows['previous']} here")
    assert "next token" not in found["measure"].tolist()  # closed by the causal mask
