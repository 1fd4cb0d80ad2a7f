"""The explanation says what the model was trained on, as its card does."""

from __future__ import annotations

import pytest

from bartviz.families.catalogue import EMBEDDED
from bartviz.language import LANGUAGES, speaking
from bartviz.teaching.explanations import explanation


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_denoising_page_names_the_data_that_the_card_names(language: str) -> None:
    card = (EMBEDDED / "bart-tiny-denoise" / "README.md").read_text(encoding="utf-8")
    assert "Tatoeba" in card
    assert "Grimm" in card
    with speaking(language):
        said = explanation("denoising").expert
    assert "Tatoeba" in said
    assert "captions" not in said
    assert "설명문" not in said
