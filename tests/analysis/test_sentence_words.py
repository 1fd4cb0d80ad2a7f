"""Words that many sentences share."""

from __future__ import annotations

import pytest

from bartviz.analysis import sentence_words
from bartviz.language import PSEUDO, speaking


def test_a_head_and_its_kind_in_the_readers_language() -> None:
    assert sentence_words.head("cross", 2, 5) == "cross L2H5"
    with speaking("ko"):
        assert sentence_words.head("encoder", 0, 1) == "인코더 L0H1"
        assert str(sentence_words.later_kind("decoder")) == "decoder"


@pytest.mark.parametrize("name", ["forced first token", "no 3 tokens repeated", "no 2 tokens of the source"])
def test_rules_of_decoding_are_translated_and_unknown_ones_unchanged(name: str) -> None:
    assert sentence_words.rule(name) == name
    with speaking(PSEUDO):
        assert sentence_words.rule(name) == f"⟦{name}⟧"
        assert sentence_words.rule("a rule of tomorrow") == "a rule of tomorrow"


def test_a_sentence_begins_with_a_capital_and_keeps_the_others() -> None:
    assert sentence_words.capitalized("mean of L1H2") == "Mean of L1H2"
    assert sentence_words.capitalized("") == ""
