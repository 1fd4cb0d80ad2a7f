"""The fresh sentences and texts, their judgements, and what the cards say of them."""

from __future__ import annotations

import functools
from collections import Counter

import pytest

from bartviz.analysis.denoising import NOISE
from training import evaluate, fresh, known, measure, restored
from training.fresh import Case


def test_there_are_ten_sentences_of_each_of_ten_kinds_and_none_twice() -> None:
    cases = fresh.cases()
    assert list(Counter(case.kind for case in cases).values()) == [10] * 10
    assert len({known.words(case.en) for case in cases}) == 100
    assert all(set(case.judged) <= {"0", "1"} for case in cases)


def test_a_sentence_counts_as_right_where_both_readings_say_so() -> None:
    cases = [Case("a", "x", "x", ("1", "1")), Case("a", "y", "y", ("1", "0")), Case("b", "z", "z", ("0", "0"))]
    assert fresh.rows(cases) == [
        ["a", "2", "1", "1", "2"],
        ["b", "0", "0", "0", "1"],
        ["all of these", "2", "1", "1", "3"],
    ]
    assert fresh.agreed(cases) == 2


def test_judgements_stay_where_the_german_does() -> None:
    cases = [Case("a", "One.", "Eins.", ("1", "0")), Case("b", "Two.", "Zwei.", ("1", "1"))]
    found = fresh.translated(cases, lambda _texts: ["Eins.", "Zwo."])
    assert found == [cases[0], Case("b", "Two.", "Zwo.", ("?", "?"))]
    assert fresh.written(found) == "[a]\nOne. | Eins. | 1 | 0\n[b]\nTwo. | Zwo. | ? | ?"


@pytest.mark.parametrize(
    ("trained", "expected"),
    [
        ("the CAT sat on a chair", {"The cat sat on a chair.": "exactly"}),
        ("The cat sat on a table.", {"The cat sat on a chair.": "but for a word"}),
        ("The cat sat on chair.", {"The cat sat on a chair.": "but for a word"}),
        ("The old cat sat on a chair.", {"The cat sat on a chair.": "but for a word"}),
        ("The old cat sat on a table.", {}),
        ("How is she?", {}),
    ],
)
def test_what_is_known_exactly_or_but_for_a_word(trained: str, expected: dict[str, str]) -> None:
    """Of a short sentence nothing is left to tell it by when one word is another."""
    assert known.known(["The cat sat on a chair.", "How is he?"], [trained]) == expected


def test_an_exact_match_is_said_before_a_near_one() -> None:
    texts = ["The cat sat on a table.", "The cat sat on a chair."]
    assert known.known(texts[1:], texts) == known.known(texts[1:], texts[::-1]) == {texts[1]: "exactly"}


@pytest.mark.thorough
def test_the_translator_that_ships_gives_the_german_that_was_judged() -> None:
    model, tokenizer = measure.load(evaluate.MODELS / evaluate.TRANSLATOR)
    found = fresh.translated(fresh.cases(), functools.partial(evaluate.as_the_app_reads, model, tokenizer))
    assert [case.en for case in found if fresh.OPEN in case.judged] == []


def test_the_card_counts_the_judgements_of_the_list() -> None:
    card = (evaluate.MODELS / evaluate.TRANSLATOR / "README.md").read_text(encoding="utf-8")
    cases = fresh.cases()
    assert evaluate.judgements(cases) in card
    assert f"agree on {fresh.agreed(cases)} of {len(cases)}" in card
    loud = sum(case.right for case in cases if case.kind == "capitals")
    assert f"in capitals as the app reads them, in lower case: {loud} of 10" in card


def test_the_app_reads_capitals_that_fall_apart_in_lower_case() -> None:
    assert fresh.read("GO HOME, TOM.", len) == "GO HOME, TOM."
    assert fresh.read("GO HOME, TOM.", lambda text: len(text) + 20 * text.isupper()) == "Go home, tom."


def test_fresh_texts_are_changed_by_every_noise_the_same_way_each_time() -> None:
    texts = restored.texts()
    assert len(set(texts)) == 50
    for noise in NOISE:
        first = [restored.noised(text, noise) for text in texts]
        assert all(a != b for a, b in zip(first, texts, strict=True))
        assert first == [restored.noised(text, noise) for text in texts]


def test_only_a_whole_text_is_restored_exactly() -> None:
    texts = ("One cat. Two dogs.", "A red house. A blue car.")
    assert restored.exact(texts, "sentence permutation", lambda _noised: ["One  cat. Two dogs.", "A red house."]) == 1


@pytest.mark.thorough
def test_the_denoiser_that_ships_restores_as_many_as_its_card_says() -> None:
    model, tokenizer = measure.load(evaluate.MODELS / evaluate.DENOISER)
    card = (evaluate.MODELS / evaluate.DENOISER / "README.md").read_text(encoding="utf-8")
    assert evaluate.fresh_texts(model, tokenizer) in card
