"""What the ribbons component is sent, and its arithmetic in JavaScript."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bartviz.analysis import start, word_colors
from bartviz.browser import BROWSER
from bartviz.drawing.colors import WORDS
from bartviz.features.start import parts_ribbons as ribbons
from bartviz.record.record import Record
from tests.support import node, stand_in


def test_the_arithmetic_of_the_browser() -> None:
    node.run_tests(Path(__file__).with_name("ribbons.test.mjs"))


def test_words_ribbons_and_sentences_are_sent(record: Record) -> None:
    found = start.ribbons(record)
    sent = json.loads(json.dumps(ribbons.payload(found, above="source text", below="output")))
    assert [word["pieces"] for word in sent["below"][4:6]] == [["Auto"], ["kau", "fen"]]
    assert [word["special"] for word in sent["above"]] == [True, *[False] * 7, True]
    assert [tuple(edge) for edge in sent["edges"]] == found.edges()
    assert sent["kind"] == "cross"
    assert sent["say"] == {"above": list(found.say_above), "below": list(found.say_below)}


def test_the_tokens_are_never_markup_in_the_scripts() -> None:
    script = (BROWSER / "ribbons" / "ribbons.js").read_text("utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in script


def test_odd_tokens_are_sent_as_they_are() -> None:
    odd = ("<s>", "</script><script>alert(1)</script>", " a", "</s>")
    sent = ribbons.payload(start.ribbons(stand_in.record(source=odd)), above="a", below="b")
    assert sent["above"][1]["pieces"] == ["</script><script>alert(1)</script>"]


def test_words_are_sent_with_their_place_on_the_palette(record: Record) -> None:
    found, colors = start.ribbons(record), word_colors.of(record)
    sent = ribbons.payload(found, above="a", below="b", colors=colors.sides("cross"))
    places = {word: part["color"] for word, part in zip(found.above, sent["above"], strict=True)}
    spoken = [places[word] for word in found.above if any(map(str.isalnum, word.text)) and not word.special]
    assert spoken == [number % len(WORDS) for number in range(len(spoken))]
    assert {places[word] for word in found.above if word.special} == {-1}
    for t, s in start.pairs(found):
        assert sent["below"][t]["color"] == sent["above"][s]["color"]


@pytest.mark.parametrize("name", ["explanation", "explanation_reads"])
def test_the_explanation_has_the_number_of_colours(name: str) -> None:
    folder = Path(ribbons.__file__).parent
    assert len(WORDS) == 6
    assert "There are six colours; the seventh word" in " ".join((folder / f"{name}.en.md").read_text("utf-8").split())
    assert "색은 여섯 가지이고, 일곱 번째 단어" in " ".join((folder / f"{name}.ko.md").read_text("utf-8").split())
