"""Lines 1, 3, 5, 7: whole models."""

from __future__ import annotations

from tests.features.textbook.ledger import found, judged

WIDE = 768


def layer(d: int, attentions: int = 1) -> int:
    """Parameters of a layer d wide: per attention four matrices with biases and a norm; two of 4d with biases, a norm.

    For d = 768: 2,363,904 an attention with its norm, 4,723,968 the rest; 7,087,872 together.
    """
    return attentions * (4 * (d * d + d) + 2 * d) + (8 * d * d + 5 * d) + 2 * d


def bart(d: int, layers: int) -> int:
    """One matrix of 50,265 tokens, two tables of 1,026 positions, two norms of the embeddings, and the layers."""
    return 50_265 * d + 2 * (1026 * d + 2 * d) + layers * (layer(d) + layer(d, attentions=2))


def bert(d: int, layers: int) -> int:
    return (30_522 + 512 + 2) * d + 2 * d + layers * layer(d) + d * d + d


def test_line_1_bart_base() -> None:
    verdict = judged("1")
    assert verdict.word == "holds"
    assert [number.found for number in verdict.numbers] == [6, 768, 12, 64, 3072, 50_265, 1024, 6, "gelu"]
    assert "1,026 rows" in verdict.why


def test_line_3_bart_large() -> None:
    verdict = judged("3")
    assert verdict.word == "holds"
    assert found(verdict, "BART large: parameters") == bart(1024, 12) == 406_291_456


def test_line_3b_both_sizes_do_not_have_12_heads() -> None:
    verdict = judged("3b")
    assert verdict.word == "fails"
    assert [number.found for number in verdict.numbers] == [12, 16]


def test_line_5_berts() -> None:
    verdict = judged("5")
    assert verdict.word == "holds"
    assert found(verdict, "BERT base: parameters") == bert(768, 12) == 109_482_240
    assert found(verdict, "BERT large: parameters") == bert(1024, 24) == 335_141_888


def test_line_5b_more_heads_add_no_parameters() -> None:
    verdict = judged("5b")
    assert verdict.word == "caveat"
    assert "335,141,888" in verdict.why


def test_line_7_the_table() -> None:
    verdict = judged("7")
    assert verdict.word == "fails"
    assert found(verdict, "T5 large: parameters") == 737_668_096 < 770e6 * 0.98
    assert found(verdict, "GPT-2 small: parameters") == 50_257 * 768 + 1024 * 768 + 12 * layer(768) + 2 * 768
    off = [number.label for number in verdict.numbers if not number.agrees]
    assert off == ["T5 large: parameters"]
    assert f"{737_668_096 + 32_128 * 1024:,}" in verdict.why


def test_line_7b_t5_is_larger_because_it_is_deeper() -> None:
    verdict = judged("7b")
    assert verdict.word == "holds"
    assert found(verdict, "T5 base with BART's") == 123_790_080 < bart(768, 6)


def test_line_7c_gpt_1() -> None:
    verdict = judged("7c")
    assert verdict.word == "holds"
    assert found(verdict, "GPT-1") == 40_478 * 768 + 512 * 768 + 12 * layer(768) == 116_534_784


def test_line_7d_bart_is_between() -> None:
    verdict = judged("7d")
    assert verdict.word == "holds"
    assert [number.found for number in verdict.numbers] == [bart(768, 6), bart(1024, 12)]
