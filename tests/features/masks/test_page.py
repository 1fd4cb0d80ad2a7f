"""The masks page as a script: squares, batches, and odd links and records."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.errors import TextError
from bartviz.features.masks import parts_batch as batch
from bartviz.record.record import Record
from tests.support import records, stand_in, visits
from tests.support.visits import words

PATTERNS, ZERO = "Other patterns", "About 0 or exactly 0"


def opened(record: Record, part: str | None = None, **query: str) -> AppTest:
    """The page with this record as the visitor's last run, one of its tabs open."""
    query = {"level": "intermediate"} | query
    return visits.opened("masks", record, {} if part is None else {"about": part}, **query)


def charts(app: AppTest) -> list[Any]:
    return list(app.get("plotly_chart"))


def test_each_kind_has_its_square_and_its_sentence(record: Record) -> None:
    app = opened(record)
    assert len(charts(app)) == 3
    assert "cells open" in words(app)
    assert "may look at all 9 tokens" in words(app)
    assert "that come later" in words(app)
    assert r"\operatorname{softmax}" in app.latex[0].value


def test_one_slider_chooses_the_row_of_all_squares(record: Record) -> None:
    app = opened(record, reading="reads")
    assert [slider.key for slider in app.slider] == ["row"]
    app.slider(key="row").set_value(0).run()
    assert "The row that reads “&lt;/s&gt;” may look at 1 token: &lt;/s&gt;." in words(app)
    assert "“&lt;s&gt;” may look at all 9 tokens" in words(app)


def test_rows_of_a_decoder_are_named_as_on_the_page_heads(record: Record) -> None:
    assert record.output is not None
    app = opened(record, row="2")
    assert (
        f"The row that predicts “{record.output.labels[2]}” may look at 3 tokens: &lt;/s&gt; &lt;s&gt; Ich."
        in words(app)
    )
    assert record.output.labels[3] in charts(app)[1].proto.spec


def test_a_square_with_fewer_rows_frames_its_last_one() -> None:
    app = opened(records.encoder_decoder(("a", "b", "c", "d"), ("x", "y")), row="3")
    assert "“d” may look at all 4 tokens" in words(app)
    assert "The row that predicts" in words(app)


@pytest.mark.parametrize("older", ["row_encoder", "row_decoder", "row_cross"])
def test_a_link_to_the_row_of_one_square_chooses_it_in_all(record: Record, older: str) -> None:
    app = opened(record, **{older: "1"})
    assert app.slider(key="row").value == 1
    assert older not in app.query_params


def test_numbers_that_are_added_can_be_chosen(record: Record) -> None:
    app = opened(record, view="additive", number="-inf")
    assert r"-\infty" in app.latex[0].value
    assert "-inf is added" in charts(app)[1].proto.spec


def test_weights_of_a_head_keep_within_each_kind() -> None:
    app = opened(records.encoder_decoder(layers=(3, 1), heads=(4, 2)), view="weights", layer="2", head="3")
    assert len(charts(app)) == 3


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
    assert len(charts(opened(record, **query))) == 3


@pytest.mark.parametrize("record_of", [records.encoder_only, records.decoder_only])
@pytest.mark.parametrize("part", [None, PATTERNS, ZERO])
def test_models_of_one_kind_have_one_square(record_of: Any, part: str | None) -> None:
    app = opened(record_of(), part)
    assert len(charts(app)) == {None: 1, PATTERNS: 3, ZERO: 2}[part]


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
    assert len(charts(app)) == 6
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
    assert "&lt;img src=x" in words(app)
    assert not any("**b**" in part.value for part in app.markdown)


def test_a_single_token_draws_everywhere() -> None:
    for part in (None, PATTERNS, ZERO):
        assert charts(opened(records.encoder_only(("a",)), part))
