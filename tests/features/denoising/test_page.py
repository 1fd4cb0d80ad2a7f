"""The denoising page as a script, on small random models and the shipped ones: words, links, refusals."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st

import bartviz
from bartviz.analysis.denoising import NOISE
from bartviz.experiments.repair import repair
from bartviz.features.denoising.parts import LOOKS
from bartviz.features.denoising.parts_noise import SENTENCE, Chosen, another, switch
from bartviz.models.roots import default_roots
from bartviz.record.record import Record
from tests.support.pages import App
from tests.support.visits import words

pytestmark = pytest.mark.usefixtures("engine")
TEXT = "The cat is sleeping on the sofa. She reads a book."


def of(text: str, name: str = "small-bart") -> Record:
    """A record of this text, as the sidebar's run would bring it."""
    return bartviz.capture(bartviz.load(name, roots=default_roots()), text)


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["infilling", "masking", "deletion", "permutation", "rotation"])
def test_every_noise_has_three_lines_and_the_score_of_the_library(app: App, noise: str) -> None:
    page = app("denoising", record=of(TEXT), noise=noise, noise_seed="5", look="tokens")
    assert not page.exception
    assert not page.error
    said = words(page)
    assert all(f"<span>{name}</span>" in said for name in ("original", "damaged", "repaired"))
    whole = {
        "infilling": "text infilling",
        "masking": "token masking",
        "deletion": "token deletion",
        "permutation": "sentence permutation",
        "rotation": "document rotation",
    }[noise]
    found = repair(bartviz.load("small-bart", roots=default_roots()), TEXT, whole, seed=5)
    assert f"accuracy {found.score.accuracy:.3f}" in said
    assert f"Loss {found.score.loss:.3f} nats" in said


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("look", list(LOOKS))
def test_every_part_draws_and_its_numbers_can_be_downloaded(app: App, look: str) -> None:
    page = app("denoising", record=of(TEXT), noise="masking", look=look)
    assert not page.exception
    assert not page.error
    charts = len(page.get("plotly_chart"))
    assert charts == {"tokens": 1, "attention": 2}.get(look, 0)
    assert ("BERT&#x27;s five best" in words(page) or "BERT's five best" in words(page)) == (look == "bert")
    assert "denoising_csv" in {str(button.key) for button in page.get("download_button")}


@pytest.mark.slow
def test_the_page_says_how_other_words_are_damaged_before_it_shows_them(app: App) -> None:
    page = app("denoising", record=of(TEXT), level="beginner")
    said = words(page)
    assert said.index("chosen at random") < said.index("<span>original</span>")
    assert page.button(key="noise_again").label == "Damage other words"
    assert app("denoising", record=of(TEXT), noise="rotation").button(key="noise_again").label == "Another order"


@pytest.mark.slow
def test_a_model_that_cannot_repair_leaves_it_to_the_one_that_can(app: App) -> None:
    page = app("denoising", record=of("The cat is sleeping on the sofa.", "small-bert"))
    assert not page.exception
    assert "small-bert was not trained to repair text, so bart-tiny-denoise does it here." in words(page)
    assert words(page).index("bart-tiny-denoise") < words(page).index("<span>original</span>")  # who repairs
    assert "bart-tiny-denoise: " in words(page)


@pytest.mark.slow
def test_a_folder_that_may_be_trained_for_it_is_accepted(app: App) -> None:
    page = app("denoising", record=of(TEXT))
    assert "Whether small-bart was trained to repair text is not known." in words(page)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "noise"),
    [
        ("나는 차를 사고 싶어요. 고양이가 자고 있어요.", "rotation"),
        ("car", "deletion"),
        ("😀", "infilling"),
        ("<b>x</b> & \"y\" 'z'", "infilling"),
        ("= 1 + 1", "deletion"),
    ],
)
def test_texts_of_all_kinds(app: App, text: str, noise: str) -> None:
    page = app("denoising", record=of(text), noise=noise)
    assert not page.exception
    assert not page.error
    assert "<b>x</b>" not in words(page)


@pytest.mark.slow
def test_only_the_beginning_of_a_long_text_is_repaired_and_a_note_says_so(app: App) -> None:
    text = "The cat is sleeping on the sofa. " * 12
    page = app("denoising", record=replace(of(TEXT), source_text=text))
    assert not page.exception
    assert not page.error
    assert "The first 128 of" in words(page)


@pytest.mark.slow
def test_a_text_with_masks_is_replaced_by_an_example(app: App) -> None:
    page = app("denoising", record=replace(of(TEXT), source_text="The <mask> sleeps."), text_of="own")
    assert not page.exception
    assert "so an example is used instead" in words(page)
    assert SENTENCE.split()[1] in words(page)


@pytest.mark.slow
def test_words_of_a_link_are_hidden_until_others_are_drawn(app: App) -> None:
    page = app("denoising", record=of(TEXT), noise="masking", hidden="1-2-999")
    assert not page.exception
    assert re.findall(r"aria-pressed='(\w+)'", words(page)) == ["false", "true", "true", *["false"] * 10]
    assert "chosen at random" not in words(page)
    next(button for button in page.button if button.key == "noise_again").click().run()
    assert not page.exception
    assert "hidden" not in page.query_params


@pytest.mark.parametrize(
    ("lost", "touched", "after"),
    [
        ({1}, "4", (1, 4)),
        (set(), "4", (4,)),
        ({1, 2}, "1-2", ()),  # a gap of two words
        ({1, 2}, "2", (1,)),
        ({0, 1, 2, 3}, "4", None),  # one word is left
        ({1}, "7", None),
        ({1}, "<b>", None),
    ],
)
def test_a_touch_hides_a_word_and_shows_those_of_a_gap(
    monkeypatch: pytest.MonkeyPatch, lost: set[int], touched: str, after: tuple[int, ...] | None
) -> None:
    held: dict[str, tuple[object, object]] = {}
    monkeypatch.setattr(st, "session_state", held)
    switch(Chosen("small-bart", TEXT, "token masking", None, 2, tuple(sorted(lost))), lost, touched, 5)
    assert [hidden for _draw, hidden in held.values()] == ([] if after is None else [after])


@pytest.mark.parametrize(("touched", "after"), [("4", (4,)), ("1-2", ()), ("2", (1,))])
def test_the_first_word_hidden_by_hand_is_the_only_one_and_a_gap_can_be_opened(
    monkeypatch: pytest.MonkeyPatch, touched: str, after: tuple[int, ...]
) -> None:
    held: dict[str, tuple[object, object]] = {}
    monkeypatch.setattr(st, "session_state", held)
    switch(Chosen("small-bart", TEXT, "token masking", None, 2), {1, 2}, touched, 5)
    assert [hidden for _draw, hidden in held.values()] == [after]


def test_what_was_shown_comes_again_only_after_all_else() -> None:
    chosen = Chosen("small-bart", "I want to buy a car.", "text infilling", None, 2)
    shown, texts = frozenset[str](), list[str]()
    for _press in range(6):
        seed, shown = another(chosen, shown)
        chosen = replace(chosen, seed=seed)
        texts.append(NOISE["text infilling"](chosen.text, np.random.default_rng(seed)).text)
    assert len(set(texts)) == 6
    short = replace(chosen, text="Go.", noise="token masking", rate=1.0)  # one result, whatever the seed
    assert another(short, frozenset())[0] == short.seed + 1


@pytest.mark.slow
def test_another_draw_is_a_press_away(app: App) -> None:
    page = app("denoising", record=of(TEXT), noise_seed="7")
    next(button for button in page.button if button.key == "noise_again").click().run()
    assert not page.exception
    assert page.number_input(key="noise_seed").value == 8


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {"noise": "x", "noise_seed": "-5", "share_infilling": "999", "look": "<b>", "text_of": "1"},
        {"noise": "masking", "share_masking": "0", "look": "attention", "kind": "Decoder", "layer": "99", "head": "-1"},
        {"noise": "infilling", "share_infilling": "100", "noise_seed": "99999999", "look": "compare with BERT"},
        {"noise": "deletion", "look": "attention", "weights": "mean+of+a+layer", "mean_of": "nothing"},
    ],
)
def test_odd_links_are_clamped(app: App, query: dict[str, str]) -> None:
    page = app("denoising", record=of(TEXT), **query)
    assert not page.exception
    assert not page.error


def test_without_a_record_the_page_offers_a_beginning(app: App) -> None:
    page = app("denoising", record=None)
    assert not page.exception
    assert "Type a text" in page.info[0].value


@pytest.mark.slow
def test_its_weights_are_not_those_of_the_other_pages(app: App) -> None:
    page = app("denoising", record=of(TEXT), look="attention", weights="B", mean_of="all")
    assert not page.exception
    assert page.session_state["mean_of"] == "all"
    assert "weights" not in page.session_state
