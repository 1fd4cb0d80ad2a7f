"""The gaps of an encoder's text: filled on the pages, and offered where a typed one was read as letters."""

from __future__ import annotations

import html

import pytest

import bartviz
from bartviz.experiments.repair import guesses
from bartviz.models.roots import default_roots
from bartviz.record.record import Record
from tests.support import loaded, stand_in
from tests.support.pages import App
from tests.support.visits import words

pytestmark = pytest.mark.usefixtures("engine")
TEXT, PAIR = "My uncle lives on an [MASK].", "The [MASK] is very small."
OFFER = "Read it as a mask"


def of(*, special: bool, pair: str | None = None, text: str = TEXT) -> Record:
    model = bartviz.load("bert-tiny-en", roots=default_roots())
    return bartviz.capture(model, text, pair=pair, allow_special=special)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["start", "heads", "denoising"])
def test_the_page_says_what_the_model_puts_in_the_gap(app: App, word: str) -> None:
    said = words(app(word, record=of(special=True)))
    (found,) = guesses(bartviz.load("bert-tiny-en", roots=default_roots()), TEXT)
    assert "For the mask:" in said
    assert len(found.candidates) == 5
    assert all(f"{html.escape(label)} " in said for label, _ in found.candidates)


@pytest.mark.slow
def test_gaps_of_both_sentences_are_numbered_and_each_is_filled_with_the_other_in_view(app: App) -> None:
    text = "My uncle lives on an island."
    said = words(app("heads", record=of(special=True, text=f"{text} [MASK]", pair=PAIR)))
    assert "For mask 1:" in said
    first, second = said.split("For mask 2:")
    assert "island" in second  # the word of the sentence before
    assert "For mask" in first


@pytest.mark.slow
def test_a_typed_gap_that_was_read_as_letters_can_be_read_as_one(app: App) -> None:
    page = app("heads", record=of(special=False))
    assert "“[MASK]” was read as plain text, not as a mask." in words(page)
    next(button for button in page.button if button.label == OFFER).click().run()
    assert page.session_state["special"] == "true"


@pytest.mark.slow
def test_a_gap_that_the_model_does_not_know_is_named(app: App) -> None:
    record = of(special=True, text="My uncle lives on an <mask>.")
    page = app("heads", record=record)
    page.session_state["special"] = "true"
    page.run()
    assert "BERT's is [MASK]" in html.unescape(words(page))
    assert OFFER not in [button.label for button in page.button]


@pytest.mark.slow
def test_a_gap_typed_for_a_model_that_writes_leads_to_one_that_fills_it(app: App) -> None:
    translator = bartviz.load("bart-tiny-en-de", roots=default_roots())
    page = app("heads", record=bartviz.capture(translator, TEXT))
    next(button for button in page.button if button.label == "Let bert-tiny-en fill the mask").click().run()
    assert page.session_state["model"] == "bert-tiny-en"
    assert "For the mask:" in words(page)


@pytest.mark.slow
def test_a_gap_is_only_offered_to_a_model_that_writes_if_it_knows_it(app: App) -> None:
    text = "My uncle lives on an <mask>."
    page = app("heads", record=bartviz.capture(loaded.model("gpt2"), text))
    assert "This model has no mask token" in words(page)
    assert OFFER not in [button.label for button in page.button]
    page = app("heads", record=bartviz.capture(bartviz.load("bart-tiny-en-de", roots=default_roots()), text))
    assert OFFER in [button.label for button in page.button]


def test_a_text_without_gaps_and_a_model_that_writes_have_no_such_line(app: App) -> None:
    for record in (stand_in.record(kind="encoder"), stand_in.record()):
        page = app("heads", record=record)
        assert not page.exception
        assert "gap" not in words(page)
