"""Linking words by hand: what the component is sent, what its messages do, and its arithmetic in JavaScript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import aligners as ranks
from bartviz.analysis.gold_alignment import Gold, read, score, write
from bartviz.features.alignment import parts_gold as gold
from bartviz.features.alignment import parts_judge as judge
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from tests.support import node
from tests.support.pages import App
from tests.support.visits import words


def told(at: AppTest) -> Any:
    """What the two lines of words were told."""
    (proto,) = [one.proto for one in at.get("bidi_component") if one.proto.component_name == "bartviz.judge"]
    return json.loads(proto.bytes)


def test_a_word_says_its_weights_and_is_numbered_where_links_are_written(app: App, record: Record) -> None:
    sent = told(app("alignment"))
    shown = ranks.best(ranks.aligners(record), "predicts").table
    source, output = sent["sides"]
    np.testing.assert_allclose(sent["weights"], shown.weights, atol=0.0005)
    assert sent["found"]
    assert sent["shares"] == [percent(float(shown.weights[j, i])) for i, j in sent["found"]]
    (most,) = shown.weights[:1].argmax(axis=1)
    begin = (
        f"“{shown.target.labels[0]}” looks most at “{shown.source.labels[most]}” ({percent(shown.weights[0, most])})"
    )
    assert output["says"][0].startswith(begin)
    assert source["says"][0].startswith(f"“{shown.source.labels[0]}” is looked at most by ")
    assert [told(app("alignment", level=level))["numbered"] for level in ("beginner", "expert")] == [False, True]


def test_the_arithmetic_of_the_browser() -> None:
    node.run_tests(Path(__file__).with_name("judge.test.mjs"))


def test_a_link_comes_and_goes() -> None:
    none: frozenset[tuple[int, int]] = frozenset()
    assert judge.after(None, (3, 4)) == (frozenset({(3, 4)}), frozenset({(3, 4)}))
    assert judge.after(Gold(frozenset({(3, 4)}), none), (3, 4)) == (none, none)
    assert judge.after(Gold(none, frozenset({(2, 1)})), (2, 1)) == (none, none)


@pytest.mark.parametrize("message", [None, "3-4", [3], [3, 7], [-1, 0], [3, 4, 5], [True, "x"], {"i": 3}])
def test_what_is_no_link_is_ignored(message: object) -> None:
    assert judge.parsed(message, (7, 6)) is None


def test_a_link_in_a_message_is_read() -> None:
    assert judge.parsed([3, 4], (7, 6)) == (3, 4)
    assert judge.parsed([3.0, 4.0], (7, 6)) == (3, 4)


def test_links_made_by_hand_judge_those_of_the_heads_at_once(app: App, record: Record) -> None:
    at = app("alignment")
    assert not at.exception
    assert len(at.get("plotly_chart")) == 1  # the matrix
    sent = told(at)
    assert [len(side["words"]) for side in sent["sides"]] == [7, 6]
    assert sent["sure"] == []
    assert "Done: no more links" not in [button.label for button in at.button]
    text = "0-0 3-4"
    at.text_area(gold.key_of(record)).set_value(text).run()
    assert told(at)["sure"] == [[0, 0], [3, 4]]
    judged = score([(i, j) for i, j in sent["found"]], read(text, 7, 6))
    shown = {metric.label: metric.value for metric in at.metric}
    assert shown["Recall"] == f"{judged.recall:.2f}"
    assert shown["Precision"] == f"{judged.precision:.2f}"
    assert write(read(text, 7, 6).sure) == text
    assert f"{judged.right} of {judged.found} are right" in words(at)


def test_an_alignment_that_is_being_made_leaves_other_words_out_and_a_pasted_one_judges_all(
    app: App, record: Record
) -> None:
    at = app("alignment", judge="true", gold="0-0")  # a link to where more links will be made
    assert not at.exception
    assert "not judged yet" in words(at)
    assert "Your links are taken as right: " in words(at)
    assert "Narrow lines: yours." in words(at)
    assert "possible links" not in words(at)
    at.text_area(gold.key_of(record)).set_value("0-0 1?1").run()
    assert "not judged yet" not in words(at)
    assert "Links made by hand are taken as right: " in words(at)
    assert "Narrow lines: those made by hand. Dotted lines are possible links" in words(at)
    assert "✕ wrong" in words(at)  # what the signs of the matrix say


def test_words_without_a_partner_are_judged_when_there_are_no_more_links(app: App, record: Record) -> None:
    at = app("alignment", judge="true", gold="0-0")
    assert "not judged yet" in words(at)
    assert "Error rate (AER)" not in [metric.label for metric in at.metric]  # one word is no basis for a rate
    assert " your link" in words(at)
    next(button for button in at.button if button.label == "Done: no more links").click().run()
    assert not at.exception
    assert "not judged yet" not in words(at)
    assert "Error rate (AER)" in [metric.label for metric in at.metric]
    assert " your link" not in words(at)
    assert "Done: no more links" not in [button.label for button in at.button]
