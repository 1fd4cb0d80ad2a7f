"""The line next to an uncertain output: on which pages and levels it appears, and when it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bartviz.analysis.output_confidence import notice
from bartviz.models.roots import default_roots
from bartviz.record.record import Record
from tests.support import stand_in
from tests.support.pages import App
from tests.support.visits import words

PAGES = ["start", "decoding", "alignment"]
SAID = "The model was unsure of this text: it may be wrong."


def record(mode: str) -> Record:
    made = stand_in.record()  # its probabilities fall from 0.92 to 0.52
    return replace(made, provenance=replace(made.provenance, settings={"mode": mode}))


@pytest.mark.parametrize("page", PAGES)
def test_it_stands_on_every_page_that_shows_the_output_as_the_models_own(app: App, page: str) -> None:
    shown = app(page, record=record("greedy"), level="beginner")
    assert not shown.exception
    assert notice(record("greedy"), numbers=False) in words(shown)
    assert notice(record("greedy")) not in words(shown)


@pytest.mark.parametrize("page", PAGES)
def test_from_the_second_level_on_with_its_numbers(app: App, page: str) -> None:
    assert notice(record("greedy")) in words(app(page, record=record("greedy"), level="intermediate"))


@pytest.mark.parametrize("page", PAGES)
def test_a_given_output_has_no_doubt(app: App, page: str) -> None:
    said = words(app(page, record=record("given target")))
    assert SAID not in said
    assert "<p class='bv-unsure'" not in said


def test_it_is_shown_in_korean(app: App) -> None:
    assert "모델이 이 텍스트에 확신이 없었습니다." in words(app("start", record=record("greedy"), lang="ko"))


@pytest.mark.slow
@pytest.mark.usefixtures("engine")
def test_a_repair_stands_beside_its_original_and_needs_no_doubt(app: App) -> None:
    import bartviz

    text = "The cat is sleeping on the sofa. She reads a book."
    own = bartviz.capture(bartviz.load("small-bart", roots=default_roots()), text)
    said = words(app("denoising", record=own, noise="infilling", noise_seed="5"))
    assert "it was most confident about" in said or "mistake" in said or "its one wrong word is" in said
    assert SAID not in said
