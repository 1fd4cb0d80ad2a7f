"""The words of the field: there are enough of them, short, plain, and closed in themselves."""

from __future__ import annotations

import re

import pytest

from bartviz.app.frame import page_list
from bartviz.language import HOME, LANGUAGES
from bartviz.teaching.glossary import entries, glossary

NEEDED = (
    "attention, head, layer, query, key, value, weight, score, softmax, scale, mask, padding, causal, encoder, "
    "decoder, cross-attention, self-attention, token, piece, special token, embedding, position, segment, residual, "
    "LayerNorm, feed-forward, GELU, logits, probability, log-probability, entropy, greedy, beam, length penalty, "
    "sampling, temperature, top-k, top-p, teacher forcing, tied weights, parameters, ablation, rollout, contribution, "
    "alignment, AER, sink, noise function, BPE, WordPiece, SentencePiece"
)


def test_the_words_that_a_beginner_meets_are_there() -> None:
    assert set(NEEDED.split(", ")) <= set(glossary())


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_term_has_a_name_and_a_text_in_every_language(code: str) -> None:
    assert entries(code).keys() == entries("en").keys()
    assert all(entry["text"] and (code == "en" or entry["name"]) for entry in entries(code).values())


@pytest.mark.parametrize("name", list(glossary()))
def test_a_term_is_short_and_plain(name: str) -> None:
    term = glossary()[name]
    assert term.name == name
    sentences = re.findall(r"[.:;]?[^.]+\.(?=\s|$)", term.text)
    assert 1 <= len(sentences) <= 2
    assert len(term.text) <= 220
    assert not re.search(r"[*_`$<>]", term.text)
    assert term.text == " ".join(term.text.split())


@pytest.mark.parametrize("name", list(glossary()))
def test_its_formula_is_closed_and_its_page_exists(name: str) -> None:
    term = glossary()[name]
    assert term.formula.count("{") == term.formula.count("}")
    assert term.formula.count(r"\left(") == term.formula.count(r"\right)")
    assert term.formula.count(r"\begin") == term.formula.count(r"\end")
    assert "$" not in term.formula
    if not (HOME / "features" / term.page).is_dir():
        pytest.skip(f"there is no feature {term.page}")
    assert page_list.has(term.page)
