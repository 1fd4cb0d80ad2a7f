"""Lines 29 to 31."""

from __future__ import annotations

from tests.features.textbook.ledger import found, judged


def test_line_29_five_noises() -> None:
    verdict = judged("29")
    assert verdict.word == "holds"
    assert found(verdict, "noise functions") == 5
    assert found(verdict, "infilling") == 5
    assert found(verdict, "words that count") == 9


def test_line_29b_there_is_no_bottleneck() -> None:
    verdict = judged("29b")
    assert verdict.word == "fails"
    assert [number.found for number in verdict.numbers] == [9, 9 * 256]


def test_line_30_t5() -> None:
    verdict = judged("30")
    assert verdict.word == "caveat"
    assert found(verdict, "activation") == "gelu, relu, gelu with a gate"
    assert [number.found for number in verdict.numbers if not number.agrees] == ["no", "no"]


def test_line_30b_short_targets() -> None:
    verdict = judged("30b")
    assert verdict.word == "holds"
    assert found(verdict, "target tokens") == 77 + 26 + 1  # 15% of 512, in spans of 3, and the last sentinel


def test_line_31_two_heads_of_bert_use_a_pooler() -> None:
    verdict = judged("31")
    assert verdict.word == "caveat"
    assert [number.found for number in verdict.numbers] == [622_650, 1538, 1538, 1538, 1538, 768 * 768 + 768]
    assert "108,891,648" in verdict.why  # what labels of tokens and answer spans stand on
    assert "109,482,240" in verdict.why  # what [CLS] and next sentences stand on: the pooler too


def test_line_31b_one_layer_marks_an_answer() -> None:
    verdict = judged("31b")
    assert verdict.word == "caveat"
    assert [number.found for number in verdict.numbers] == [2, 1]


def test_line_31c_barts_classifier_has_two_layers() -> None:
    verdict = judged("31c")
    assert verdict.word == "holds"
    assert found(verdict, "a dense layer") == 768 * 768 + 768 + 3 * 768 + 3
