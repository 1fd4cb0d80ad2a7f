"""The tables and words of an attribution, by hand."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz  # noqa: F401  # registers what a notebook shows
from bartviz.analysis.attribution import Attribution, Axis, open_attribution
from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.words import Word
from bartviz.errors import RecordError, SettingError
from bartviz.text.tokens import Tokens
from tests.support import stand_in

SOURCE = stand_in.tokens(("<s>", "a", "bc", "</s>"))  # "abc" is one word of two tokens
OUTPUT = stand_in.tokens(("x", "y", " z"))  # "xy" is one word, "z" another


def by_hand(method: str, **more: Any) -> Attribution:
    values = np.array([[0, 1, 2, 0], [0, 3, 4, 0], [0.5, 0, 0, 0.5]], np.float32)
    earlier = np.array([[1, 0, 0], [1, 2, 0], [3, 2, 1]], np.float32)
    return Attribution(
        "hand",
        METHODS[method],
        Axis.of(OUTPUT),
        np.arange(3),
        np.array([-1, -2, -4], np.float32),
        Axis.of(SOURCE),
        values,
        Axis.of(OUTPUT),
        earlier,
        **more,
    )


def test_signed_numbers_of_pieces_add_up_to_words() -> None:
    found = by_hand("leave-one-out").words()
    assert found.steps.labels == ("xy", "z")
    assert found.source.labels == ("<s>", "abc", "</s>")
    np.testing.assert_array_equal(found.explained, [-3, -4])
    np.testing.assert_array_equal(found.values, [[0, 10, 0], [0.5, 0, 0.5]])
    np.testing.assert_array_equal(found.earlier_values, [[4, 0], [5, 1]])
    np.testing.assert_array_equal(found.rows, [0, 1])  # positions among the words that were written
    again = found.words()
    np.testing.assert_array_equal(again.values, found.values)
    assert again.steps == found.steps


def test_shares_of_pieces_are_averaged_over_a_written_word() -> None:
    found = by_hand("rollout").words()
    np.testing.assert_array_equal(found.values, [[0, 5, 0], [0.5, 0, 0.5]])
    np.testing.assert_array_equal(found.earlier_values, [[2, 0], [5, 1]])


def test_the_table_has_a_line_for_each_number() -> None:
    table = by_hand("rollout").to_dataframe()
    assert list(table.columns) == ["step", "token", "part", "position", "input", "value"]
    assert len(table) == 3 * 4 + 3 * 3
    assert table.iloc[8].tolist() == [1, "y", "source", 1, "a", 3.0]
    assert table.iloc[-1].tolist() == [2, "z", "output", 2, "z", 1.0]


def test_it_is_copied_with_read_only_numbers() -> None:
    found = by_hand("rollout")
    for one in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        np.testing.assert_array_equal(one.values, found.values)
        assert one.method == found.method
        with pytest.raises(ValueError, match="read-only"):
            one.values[0, 0] = 1


def test_words_are_as_they_were_written() -> None:
    tokens = stand_in.tokens(("a", "bc"))
    assert [word.text for word in Axis.of(tokens, "ABC").words] == [written(tokens, "ABC")]
    assert Axis.of(SOURCE).special.tolist() == [True, False, False, True]


def written(tokens: Tokens, text: str) -> str:
    starts, ends = zip(*(span for span in tokens.spans if span is not None), strict=True)
    return text[min(starts) : max(ends)]


def test_what_a_step_does_not_read_yet_is_known_for_tokens_and_for_words() -> None:
    source, earlier = by_hand("rollout").unread
    assert not source.any()
    np.testing.assert_array_equal(earlier, [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    source, earlier = by_hand("rollout").words().unread
    assert not source.any()
    np.testing.assert_array_equal(earlier, [[0, 1], [0, 0]])  # "xy" is read in part, so it counts as read
    alone = Attribution(
        "hand",
        METHODS["rollout"],
        Axis.of(OUTPUT).merged(),
        np.array([1, 2]),
        np.zeros(2, np.float32),
        Axis.of(SOURCE),
        np.zeros((2, 4), np.float32),
        kind="decoder",
    )
    np.testing.assert_array_equal(alone.unread[0], [[0, 0, 1, 1], [0, 0, 0, 1]])
    assert alone.unread[1] is None


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a shape": ({"values": np.zeros((3, 5), np.float32)}, "3 steps and 4 tokens"),
    "no number": ({"values": np.full((3, 4), np.nan, np.float32)}, "not finite"),
    "no tokens": ({"earlier": None}, "tokens and their numbers"),
    "rows": ({"rows": np.arange(2)}, "each has one row"),
}


@pytest.mark.parametrize("name", WRONG)
def test_parts_that_contradict_each_other_are_refused(name: str) -> None:
    changed, said = WRONG[name]
    with pytest.raises(RecordError, match=said):
        replace(by_hand("rollout"), **changed)
    with pytest.raises(RecordError, match="cover its tokens"):
        Axis(("a", "b"), (Word("a", ("a",), False, 0, 1),))


@pytest.mark.parametrize("found", [by_hand("rollout"), by_hand("leave-one-out", contrast="차").words()])
def test_a_saved_one_is_opened_as_it_was(found: Attribution, tmp_path: Path) -> None:
    found = replace(found, values=(found.values / np.float32(3)).astype(np.float32))
    found.save(tmp_path / "why.json")
    again = open_attribution(tmp_path / "why.json")
    for entry in fields(Attribution):
        one, other = getattr(found, entry.name), getattr(again, entry.name)
        np.testing.assert_array_equal(one, other) if isinstance(one, np.ndarray) else _equal(one, other)
    assert again.values.dtype == np.float32
    assert not again.values.flags.writeable
    tree = json.loads((tmp_path / "why.json").read_text("utf-8"))
    np.testing.assert_array_equal(np.array(tree["arrays"]["values"]["numbers"], np.float32), found.values)


def _equal(one: object, other: object) -> None:
    assert one == other


def test_it_is_saved_under_its_ending_alone(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"saved as \.json.*bartviz\.paper\.attribution"):
        by_hand("rollout").save(tmp_path / "why.csv")
    assert not list(tmp_path.iterdir())


DAMAGED: dict[str, tuple[Callable[[str], str], str]] = {
    "another file": (lambda _text: "[1, 2]", "not such a file"),
    "cut in the middle": (lambda text: text[: len(text) // 2], "not such a file"),
    "another number": (lambda text: text.replace("3.0", "4.0", 1), "changed after it was saved"),
    "another token": (lambda text: text.replace('"bc"', '"bd"'), "changed after it was saved"),
    "not a number": (lambda text: text.replace("3.0", "NaN", 1), "not finite"),
    "another shape": (lambda text: text.replace("3.0, ", "", 1), "not such a file"),
    "another type": (lambda text: text.replace("float32", "object"), "not such a file"),
    "deep": (lambda _text: "[" * 100_000, "not such a file"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_in_words(name: str, tmp_path: Path) -> None:
    damage, said = DAMAGED[name]
    file = tmp_path / "why.json"
    by_hand("rollout").save(file)
    file.write_text(damage(file.read_text("utf-8")), "utf-8")
    with pytest.raises(RecordError, match=said):
        open_attribution(file)
    with pytest.raises(RecordError, match="no such file"):
        open_attribution(tmp_path / "other.json")


def test_a_notebook_shows_the_figure_of_its_words() -> None:
    bundle = by_hand("rollout")._repr_mimebundle_()
    (html,) = (value for name, value in bundle.items() if name == "text/html")
    assert "abc" in html
    assert bundle["application/vnd.plotly.v1+json"]["data"][0]["name"] == "attribution"


def test_its_repr_is_one_line() -> None:
    assert repr(by_hand("rollout")) == "<Attribution by rollout: 3 steps by 4 source tokens and 3 earlier outputs>"
