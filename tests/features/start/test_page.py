"""The start page: every kind of record, a long one, none at all."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import start
from bartviz.app.frame import page_list
from bartviz.families.family import ModelKind
from bartviz.features.start import parts_ribbons as ribbons
from bartviz.record.record import Record
from bartviz.record.vocabulary import GIVEN_TARGET
from bartviz.serving import saved_records as records
from tests.support import stand_in
from tests.support.pages import App
from tests.support.visits import words


def sent(page: AppTest) -> list[dict[str, Any]]:
    """What the ribbons were given."""
    assert not page.exception
    parts = [part.proto.bytes for part in page.get("bidi_component") if part.proto.component_name == "bartviz.ribbons"]
    return [json.loads(part) for part in parts]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "encoder-decoder"])
def test_each_kind_of_record_has_its_ribbons(app: App, kind: ModelKind) -> None:
    record = stand_in.record(kind=kind)
    (given,) = sent(app(record=record))
    found = start.ribbons(record)
    assert given["kind"] == ("cross" if kind == "encoder-decoder" else kind)
    assert given["edges"] == [list(edge) for edge in found.edges()]


def test_the_notice_and_the_head_are_shown(app: App, record: Record) -> None:
    found = start.ribbons(record)
    shown = words(app())
    head = f"C{str(found.head)[1:]}"  # it begins the sentence
    said = f"{head}: of the 12 heads, among those that look for the next word, the one whose words choose each other"
    assert f"{said} most ({found.score:.2f})." in shown


def test_a_long_text_says_how_much_of_it_is_drawn(app: App) -> None:
    record = stand_in.record(source=["<s>", *[" w"] * 99, "</s>"])
    page = app(record=record)
    (given,) = sent(page)
    assert len(given["above"]) == start.MOST_WORDS
    assert f"The first {start.MOST_WORDS} of 101 words are drawn." in words(page)


def test_the_card_leads_to_the_head_that_is_drawn(app: App, record: Record) -> None:
    head = start.ribbons(record).head
    if not page_list.has("heads"):
        pytest.skip("there is no page heads")
    (card,) = [link for link in app().get("page_link") if link.proto.label == "**Look inside this sentence**"]
    chosen = parse_qs(card.proto.query_string)
    assert {key: chosen[key] for key in ("kind", "layer", "head")} == {
        "kind": [head.kind],
        "layer": [str(head.layer)],
        "head": [str(head.head)],
    }


def test_without_a_record_the_cards_lead_on(app: App) -> None:
    page = app(record=None)
    assert sent(page) == []
    labels = [link.proto.label for link in page.get("page_link")]
    cards = {
        "lessons": ["All lessons"],
        "born": ["Watch a network learn to look"],
        "heads": ["**Look inside this sentence**"],
    }
    assert labels == [label for word, texts in cards.items() if page_list.has(word) for label in texts]


def test_the_first_lesson_takes_as_long_as_its_own_card_says(app: App) -> None:
    if not page_list.has("lessons"):
        pytest.skip("there is no page lessons")
    said = re.compile(r"about \d+ minutes")
    on_start = said.findall(words(app(record=None)))
    assert on_start == said.findall(words(app("lessons", record=None)))[:1]


def test_a_newcomer_is_asked_to_touch_a_word_and_sees_what_it_means(app: App, record: Record) -> None:
    (given,) = sent(app(record=record, level="beginner"))
    found = start.simple(start.ribbons(record))
    assert given["glosses"] == list(start.glosses(found))
    assert not any(word["special"] for line in ("above", "below") for word in given[line])
    assert given["say"] == {"above": list(found.say_above), "below": list(found.say_below)}
    touch = start.to_touch(start.ribbons(record))
    assert touch is not None
    taps: list[str] = given["taps"]
    assert f"“{start.ribbons(record).below[touch].text}”" in taps[0]
    assert len(taps) == 3
    (expert,) = sent(app(record=record))
    assert (expert["glosses"], expert["taps"]) == ([], [])


def test_a_cut_word_is_explained_to_a_newcomer(app: App, record: Record) -> None:
    cut = stand_in.record(source=["<s>", "She", " se", "es", " it", "</s>"])
    assert "The model reads some words in pieces: “sees” as “se” + “es”." in words(app(record=cut, level="beginner"))
    whole = words(
        app(record=stand_in.record(source=["<s>", "She", " saw", "</s>"], output=["Ja", "</s>"]), level="beginner")
    )
    assert "in pieces" not in whole


def test_a_translation_is_called_one(app: App, record: Record) -> None:
    translated = replace(record, model=replace(record.model, name="bart-tiny-en-de"))
    assert "An English sentence becomes German." in words(app(record=translated, level="beginner"))
    assert "becomes German" not in words(app(record=record, level="beginner"))


def test_its_numbers_and_its_record_can_be_downloaded(app: App) -> None:
    page = app()
    assert [button.proto.label for button in page.get("download_button")] == [
        "CSV",
        "NPZ",
        "HTML",
        "All heads (CSV)",
        "Page to explore it",
        "Save to open again",
    ]


def test_a_given_output_is_not_called_the_models_own(app: App, record: Record) -> None:
    given = replace(record, provenance=replace(record.provenance, settings={"mode": GIVEN_TARGET}))
    for one, says in ((record, "what it wrote"), (given, "the output that was given to it, not its own")):
        page = app(record=one, level="beginner")
        assert says in words(page)
    assert "what it wrote" not in words(page)
    assert start.ribbons(given).given
    assert "was written" not in start.notice(start.ribbons(given))


def test_a_touched_word_is_a_row_of_the_other_pages() -> None:
    found = start.ribbons(records.read("start"))
    for line, line_words, kind in (("below", found.below, "cross"), ("above", found.above, "encoder")):
        assert ribbons.touched(found, line, 2) == (kind, line_words[2].start)
        assert all(ribbons.touched(found, line, index) is None for index in (-1, len(line_words), "2", True, None))
    own = start.ribbons(records.read("words"))
    assert ribbons.touched(own, "above", 1) == ("encoder", 1)
    assert ribbons.touched(own, "beside", 1) is None


def test_the_word_chosen_on_another_page_is_lit(app: App) -> None:
    record = records.read("start")
    word = next(word for word in start.ribbons(record).below if word.text == "Auto")
    for level in ("beginner", "intermediate"):
        (drawn,) = sent(app(record=record, level=level))
        assert drawn["chosen"] is None
        page = app("heads", record=record, level=level, row=str(word.start))
        page.query_params.clear()
        page.switch_page("pages/start.py").run()
        (drawn,) = sent(page)
        assert drawn["below"][drawn["chosen"]]["pieces"] == ["Auto"]
