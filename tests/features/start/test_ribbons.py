"""What the ribbons component is sent, and its arithmetic in JavaScript."""

from __future__ import annotations

import json
from pathlib import Path

from bartviz.analysis import start
from bartviz.browser import BROWSER
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
