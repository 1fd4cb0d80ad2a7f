"""What the formula component is sent, and its arithmetic in JavaScript."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bartviz import figures
from bartviz.analysis import inside
from bartviz.features.inside import parts_formula as formula
from bartviz.record.attention import Attention
from tests.support import node, records, stand_in

TOKENS = stand_in.tokens(("a", "b", "c"))


@pytest.mark.slow
def test_the_arithmetic_of_the_browser() -> None:
    node.run_tests(Path(__file__).with_name("formula.test.mjs"))


def text(attention: Attention) -> str:
    sent = formula.payload(inside.inside(attention, 0, 0, 0), 1, within=".x")
    return "".join(part["text"] + part["sub"] for part in sent["parts"])


def test_the_formula_is_that_of_the_head() -> None:
    assert text(records.attention("encoder", TOKENS, TOKENS)) == "output = Σj softmaxj( q · kj ÷ √4 ) vj"
    assert "+ biasj )" in text(records.attention("encoder", TOKENS, TOKENS, bias=True))


def test_the_scale_is_written_in_one_way() -> None:
    """Above the row, over its panel, in the line of arithmetic, and in the sentences."""
    attention = replace(records.attention("encoder", TOKENS, TOKENS), scale=32**-0.5)
    assert "÷ √32 )" in text(attention)
    notes = figures.inside(attention, 0, 0).layout.annotations
    captions = [re.sub("</?span.*?>", "", note.text) for note in notes]  # the root is drawn close to its number
    assert any("÷ √32<br>" in caption for caption in captions)
    assert inside.equation(inside.inside(attention, 0, 0, 0), 1)[1] == ("÷ √32", "scale: √32 ≈ 5.657")
    sent = formula.payload(inside.inside(attention, 0, 0, 0), 1, within=".x")
    assert "divided by √32 ≈ 5.657" in sent["say"]["scaled"]
    assert "Divided by √32 ≈ 5.657: " in sent["steps"]["scaled"]


def test_the_letters_have_the_colours_of_their_roles() -> None:
    style = Path(formula.__file__).with_name("formula.css").read_text("utf-8")
    for role in ("query", "key", "value"):
        assert f".{role} {{ color: var(--bv-{role});" in style


@pytest.mark.parametrize("bias", [True, False])
def test_every_panel_of_the_picture_has_a_part_and_a_sentence(bias: bool) -> None:
    attention = records.attention("encoder", TOKENS, TOKENS, bias=bias)
    sent = formula.payload(inside.inside(attention, 0, 0, 0), 1, within=".x")
    drawn = {f"{trace.xaxis}{trace.yaxis}" for trace in figures.inside(attention, 0, 0).data}
    assert drawn == set(sent["panels"])
    for panel in sent["panels"].values():
        assert sent["say"][panel]
        assert any(panel in part["panels"] for part in sent["parts"])


@pytest.mark.parametrize("bias", [True, False])
def test_the_player_shows_every_panel_once_with_the_numbers_of_the_key(bias: bool) -> None:
    attention = records.attention("encoder", TOKENS, TOKENS, bias=bias)
    one = inside.inside(attention, 0, 0, 0)
    sent = formula.payload(one, 2, within=".x")
    assert sorted(sent["order"]) == sorted(sent["panels"].values())
    assert (sent["order"][0], sent["order"][-1]) == ("q", "output")
    said = sent["steps"]
    assert f"{one.dots[2]:.2f}".replace("-", "−") in said["scaled"]
    assert f"{one.scores[2]:.2f}".replace("-", "−") in said["score" if bias else "scaled"]
    assert f"{one.weights[2]:.3f}" in said["weight"]
    assert f"{one.weights[2]:.3f}" in said["values"]
    annotations = figures.inside(attention, 0, 0).layout.annotations
    names = {"keys": "of each key", "weight": "softmax", "q": "of the query", "output": "sum = "}
    assert all(part in annotations[sent["captions"][panel]].text for panel, part in names.items())


def test_the_query_of_a_decoder_is_named_by_what_it_reads_and_predicts() -> None:
    attention = records.attention("cross", TOKENS, TOKENS)
    one = inside.inside(attention, 0, 0, 0)
    said = "the row that reads “a” of “abc” and predicts “b”"
    assert said in formula.payload(one, 0, "“b”", within=".x")["steps"]["q"]
    plain = formula.payload(one, 0, "“b”", within=".x", plain=True)["steps"]["q"]
    assert plain.startswith("The question asked when writing “b”: ")
    caption = figures.inside(attention, 0, 0, predicts="b").layout.annotations
    assert any("reads <b>a</b><br>and predicts <b>b</b>" in one.text for one in caption)
