"""The masks page as a script: squares, batches, and odd links and records."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bartviz
from bartviz.analysis import drawn_mask, masks, start
from bartviz.app.controls import tasks
from bartviz.errors import TextError
from bartviz.experiments.drawn_mask import with_mask
from bartviz.features.masks import parts_batch as batch
from bartviz.features.masks import parts_draw
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from bartviz.serving import first_record
from tests.support import records, stand_in, visits
from tests.support.visits import words

PATTERNS, ZERO = "Other patterns", "About 0 or exactly 0"


def opened(record: Record, part: str | None = None, **query: str) -> AppTest:
    """The page with this record as the visitor's last run, one of its tabs open."""
    query = {"level": "intermediate"} | query
    return visits.opened("masks", record, {} if part is None else {"about": part}, **query)


def charts(app: AppTest) -> list[Any]:
    return list(app.get("plotly_chart"))


def sent(app: AppTest) -> Any:
    """What the component of the squares was sent."""
    assert not app.exception
    (part,) = [one for one in app.get("bidi_component") if one.proto.component_name == "bartviz.squares"]
    return json.loads(part.proto.bytes)


def test_each_kind_has_its_square_and_a_sentence_for_every_row(record: Record) -> None:
    app = opened(record)
    squares = sent(app)["squares"]
    assert [square["kind"] for square in squares] == ["encoder", "decoder", "cross"]
    for square, kind in zip(squares, record.kinds, strict=True):
        mask = record.attention(kind).mask
        assert square["cells"] == "".join(map(str, mask.astype(int).ravel()))
        assert len(square["say"]) == len(square["rows"]) == len(mask)
    assert "may look at all 9 tokens" in squares[0]["say"][0]
    assert "that come later" in squares[1]["say"][0]
    assert "cells open" in words(app)
    assert r"\operatorname{softmax}" in app.latex[0].value


def test_beginners_see_the_numbers_that_are_added_only_where_a_link_asks_for_them(record: Record) -> None:
    def offered(**query: str) -> list[str]:
        (views,) = [group for group in opened(record, **query).button_group if group.label == "Show"]
        return list(views.options)

    assert "numbers added" in offered()
    assert "numbers added" not in offered(level="beginner")
    assert "numbers added" in offered(level="beginner", view="additive")


def test_beginners_are_told_what_hatched_means_where_a_cell_is(record: Record) -> None:
    assert "Hatched: what is hidden from it. Touch a row" in words(opened(record, level="beginner"))
    assert "Touch a row" not in words(opened(record, level="beginner", view="weights"))
    said = words(opened(records.encoder_only(), level="beginner"))
    assert "Touch a row" in said
    assert "Hatched" not in said


@pytest.mark.parametrize("level", ["beginner", "intermediate"])
def test_the_colours_of_weights_are_explained(record: Record, level: str) -> None:
    said = words(opened(record, level=level, view="weights"))
    assert "a faint cell is allowed, too. Hatched: it is hidden." in said
    square = sent(opened(record, level=level, view="weights", layer="1", head="2"))["squares"][2]
    row = record.attention("cross").head(1, 2)[3]
    share = percent(float(row.max())) if level == "beginner" else f"{row.max():.3f}"
    best = f"looks most at {masks.in_word(record.source, int(row.argmax()))} ({share}) in this head, then at "
    assert best in square["say"][3]
    assert square["title"].endswith("head 2 of layer 1" if level == "beginner" else "L1H2")
    alone = words(opened(records.encoder_only(), level=level, view="weights"))
    assert "a faint cell is allowed, too." in alone
    assert "Hatched" not in alone


def test_row_of_the_address_is_framed(record: Record) -> None:
    assert sent(opened(record))["row"] == start.row_of(record, "cross")
    assert sent(opened(record, row="2"))["row"] == 2
    assert sent(opened(record, row="99"))["row"] == 8


def test_the_encoder_frames_the_word_that_the_row_of_the_decoder_is_aligned_to() -> None:
    record = first_record.record()
    assert record is not None
    assert record.output is not None
    partners = sent(opened(record))["squares"][0]["partners"]
    words = {record.output.labels[row]: record.source.labels[at] for row, at in enumerate(partners) if at >= 0}
    assert words["kaufen"] == "buy"
    assert words["Ich"] == "I"
    assert "</s>" not in words
    assert partners[start.row_of(record, "cross")] == start.row_of(record, "encoder")


def test_rows_of_a_decoder_are_named_as_on_the_page_heads(record: Record) -> None:
    assert record.output is not None
    square = sent(opened(record, row="2"))["squares"][1]
    expected = f"The row that predicts “{record.output.labels[2]}” may look at 3 tokens: “</s>” “<s>” “Ich”."
    assert square["say"][2].startswith(expected)
    assert square["rows"] == list(record.output.labels)
    assert square["axes"] == ["to write ↓", "so far →"]
    square = sent(opened(record, reading="reads"))["squares"][1]
    assert square["say"][0].startswith("The row that reads “</s>” may look at 1 token: “</s>”.")
    assert square["axes"] == ["word ↓", "looks at →"]


@pytest.mark.parametrize("older", ["row_encoder", "row_decoder", "row_cross"])
def test_a_link_to_the_row_of_one_square_chooses_it_in_all(record: Record, older: str) -> None:
    app = opened(record, **{older: "1"})
    assert sent(app)["row"] == 1
    assert older not in app.query_params


@pytest.mark.parametrize(("number", "sign", "exact"), [("-inf", "−∞", "−∞"), ("lowest", "−∞", "−3.4e+38")])
def test_numbers_that_are_added_can_be_chosen(record: Record, number: str, sign: str, exact: str) -> None:
    app = opened(record, view="additive", number=number)
    assert {(square["sign"], square["exact"]) for square in sent(app)["squares"]} == {(sign, exact)}
    assert "M" in app.latex[0].value


def test_weights_of_a_head_keep_within_each_kind() -> None:
    one = records.encoder_decoder(layers=(3, 1), heads=(4, 2))
    squares = sent(opened(one, view="weights", layer="2", head="3"))["squares"]
    for square, (kind, at) in zip(squares, [("encoder", (2, 3)), ("decoder", (0, 1)), ("cross", (0, 1))], strict=True):
        assert square["title"].endswith("L{}H{}".format(*at))
        assert kind == square["kind"]
        expected = np.rint(1000 * one.attention(kind).head(*at)).astype(int)
        assert square["values"] == expected.ravel().tolist()


def test_cells_of_a_long_text_are_blocks() -> None:
    one = records.encoder_only(tuple(f"t{i}" for i in range(450)))
    (square,) = sent(opened(one))["squares"]
    assert len(square["rows"]) == 150
    assert square["cells"] == "1" * 150 * 150


def test_mask_is_drawn_and_the_model_runs_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = bartviz.load("bart-tiny-en-de")
    one = bartviz.decode(model, "I want to buy a car.")
    window = drawn_mask.start("window", one.attention("decoder"))
    asked = []

    def ask(name: str, model_name: str, key: dict[str, object], work: Any) -> Any:
        asked.append(key)
        return work(model, Ticket())

    monkeypatch.setattr(tasks, "ask", ask)
    app = opened(one, view="draw", mask_start="window")
    painted = sent(app)
    assert painted["paint"] is True
    assert painted["squares"][0]["cells"] == "".join(map(str, window.astype(int).ravel()))
    assert painted["squares"][0]["own"] == "".join(map(str, one.attention("decoder").mask.astype(int).ravel()))
    found = with_mask(model, one, "decoder", window)
    assert found.written is not None
    assert str(found.written[1].target_text) in words(app)
    assert "What comes later is not there yet".lower() in words(app).lower()
    linked = one.attention("decoder").mask.copy()
    linked[3, :3] = False
    app = opened(one, view="draw", drawn=drawn_mask.packed(linked))
    assert sent(app)["squares"][0]["cells"] == "".join(map(str, linked.astype(int).ravel()))
    assert asked[-1]["cells"] == drawn_mask.packed(linked)
    assert "3 cells differ" in words(app)


def test_the_headline_says_why_a_future_that_is_open_changes_no_text() -> None:
    model = bartviz.load("bart-tiny-en-de")
    one = bartviz.decode(model, "I want to buy a car.")
    found = with_mask(model, one, "decoder", np.ones_like(one.attention("decoder").mask))
    assert "writes the same text. While it writes, what comes later is not there yet" in parts_draw.sentence(found)
    assert "not there yet" not in parts_draw.remark(found)  # once is enough


class Ticket:
    """A turn that nobody stops or follows."""

    def cancelled(self) -> bool:
        return False

    def report(self, note: str, fraction: float | None = None) -> None: ...


@pytest.mark.parametrize(
    "query",
    [
        {"view": "bits", "row": "-1"},
        {"row": "99"},
        {"row_decoder": "abc"},
        {"view": "weights", "layer": "1e9", "head": ""},
        {"view": "additive", "number": "7"},
        {"pattern": "diagonal", "set_window": "99", "pattern_row": "-3"},
    ],
)
def test_odd_links_are_clamped_to_the_record(record: Record, query: dict[str, str]) -> None:
    assert len(sent(opened(record, **query))["squares"]) == 3


@pytest.mark.parametrize("record_of", [records.encoder_only, records.decoder_only])
@pytest.mark.parametrize("part", [None, PATTERNS, ZERO])
def test_models_of_one_kind_have_one_square(record_of: Any, part: str | None) -> None:
    app = opened(record_of(), part)
    assert len(charts(app)) == {None: 0, PATTERNS: 2, ZERO: 1}[part]
    assert len(sent(app)["squares"]) == 1


@pytest.mark.slow
def test_a_pattern_is_applied_to_a_row_of_the_text(record: Record) -> None:
    app = opened(record, PATTERNS)
    assert "BigBird" in words(app)
    app.selectbox(key="pattern").select("bigbird").run()
    assert not app.exception
    assert {"set_window", "set_reach", "set_random", "set_seed"} <= {slider.key for slider in app.slider}
    app.selectbox(key="pattern").select("relative").run()
    assert "made up" in words(app)


def test_a_wholly_masked_row_is_described_number_by_number(record: Record) -> None:
    app = opened(record, ZERO, zero_number="-inf")
    assert "gives NaN" in words(app)
    assert "-104 in float32" in " ".join(part.value for part in app.markdown)
    app = opened(record, ZERO, zero_number="lowest")
    assert "gives NaN" not in words(app)


def test_a_batch_shows_its_padding(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tuple(records.encoder_decoder(padding=padding) for padding in (0, 3, 6))
    asked: list[tuple[str, list[str]]] = []

    def run(name: str, texts: list[str]) -> tuple[Record, ...]:
        asked.append((name, texts))
        return given

    monkeypatch.setattr(batch, "run", run)
    app = opened(record)
    app.text_input(key="batch_0").set_value("My own text")
    button(app).click().run()
    assert not app.exception
    assert asked == [("stand-in", [record.source_text, "My own text", "Yes!"])]
    assert "9 of 27 columns are padding (33%)" in words(app)
    assert len(charts(app)) == 3
    assert "Closed: 6 of padding, to every row." in words(app)


def test_a_batch_that_fails_says_why(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(name: str, texts: list[str]) -> tuple[Record, ...]:
        raise TextError("There is no text to run.")

    monkeypatch.setattr(batch, "run", run)
    app = opened(record)
    button(app).click().run()
    assert "There is no text" in app.error[0].value
    assert not app.exception


def button(app: AppTest) -> Any:
    (found,) = [button for button in app.button if button.label.startswith("Run the three")]
    return found


def test_tokens_stay_text() -> None:
    nasty = ("<s>", "<img src=x onerror=alert(1)>", " **b**", " %{z}", " $x$", "</s>")
    app = opened(stand_in.record(nasty, nasty), ZERO)
    assert "<img src=x" not in words(app)
    assert sent(app)["squares"][0]["rows"][1] == nasty[1]
    assert not any("**b**" in part.value for part in app.markdown)


def test_the_heading_speaks_of_the_mask_that_is_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "ask", lambda *given: None)
    one = records.encoder_decoder(("<s>", "a", "</s>"), ("b", "c", "d", "</s>"))
    said = words(opened(one, view="draw", mask_of="cross"))
    assert "12 of 12 cells open" in said  # 4 rows of the output, 3 columns of the source
    assert "mask hides" not in said
    assert "10 of 16 cells open" in words(opened(one, view="draw", mask_of="decoder"))


def test_a_single_token_draws_everywhere() -> None:
    for part in (None, PATTERNS, ZERO):
        assert sent(opened(records.encoder_only(("a",)), part))["squares"][0]["cells"] == "1"
