"""The direction of a text: as browsers find it, special tokens aside."""

from __future__ import annotations

import numpy as np
import pytest

import bartviz
from bartviz.analysis.start import ribbons
from bartviz.analysis.words import direction_of
from bartviz.language import _, speaking
from bartviz.record.record import Record
from bartviz.text.tokens import direction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello", "ltr"),
        ("שלום", "rtl"),
        ("أريد", "rtl"),
        ("سلام", "rtl"),  # Persian
        ("12: «مرحبا» (hello)", "rtl"),
        ("BERT שלום", "ltr"),
        ("안녕", "ltr"),
        ("123 ...", "ltr"),
        ("", "ltr"),
    ],
)
def test_the_first_strong_letter_decides(text: str, expected: str) -> None:
    assert direction([text]) == expected
    assert direction(list(text)) == expected


def record(tokens: list[str]) -> Record:
    return bartviz.from_attentions(encoder=np.full((1, 1, len(tokens), len(tokens)), 1 / len(tokens)), tokens=tokens)


def test_special_tokens_do_not_decide() -> None:
    hebrew = record(["[CLS]", "של", "##ום", "[SEP]"])
    assert hebrew.source.direction == "rtl"
    assert direction_of(ribbons(hebrew).above) == "rtl"
    assert record(["[CLS]", "hello", "[SEP]"]).source.direction == "ltr"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_word_in_a_sentence_keeps_its_direction_to_itself(language: str) -> None:
    with speaking(language):
        said = _("{below} looks at {above}: {weight:.3f}", below="שלום", above="car", weight=0.5)
    assert "\u2068שלום\u2069" in said
    assert said.count("\u2068") == 1
