"""Lines 2, 4, 6, 8: where the parameters sit."""

from __future__ import annotations

import pytest

from tests.features.textbook.ledger import found, judged
from tests.features.textbook.test_chapter_sizes import bart, bert, layer


def test_line_2_the_parts_contain_the_shared_matrix() -> None:
    verdict = judged("2")
    shared = 50_265 * 768
    side = shared + 1026 * 768 + 2 * 768
    assert verdict.word == "caveat"
    assert found(verdict, "shared") == shared == 38_603_520
    assert found(verdict, "encoder") == side + 6 * layer(768) == 81_920_256
    assert found(verdict, "decoder") == side + 6 * layer(768, attentions=2) == 96_103_680
    assert found(verdict, "whole") == bart(768, 6) == 139_420_416
    assert found(verdict, "sum") == 81_920_256 + 96_103_680 + 38_603_520 == 216_627_456


def test_line_2b_decoder_layers_are_a_third_larger() -> None:
    verdict = judged("2b")
    assert verdict.word == "caveat"
    decoder, encoder = layer(768, attentions=2), layer(768)
    assert found(verdict, "share of the decoder, layers alone") == pytest.approx(decoder / (decoder + encoder))
    assert found(verdict, "share of the decoder, embeddings") == pytest.approx(96_103_680 / (96_103_680 + 81_920_256))


def test_line_4_the_embeddings_are_one_matrix() -> None:
    verdict = judged("4")
    assert verdict.word == "fails"
    assert found(verdict, "separate") == 1
    assert verdict.numbers[1].claimed == 139_420_416 + 2 * 38_603_520


def test_line_6_85_million_are_the_layers_alone() -> None:
    verdict = judged("6")
    assert verdict.word == "fails"
    assert found(verdict, "the 12 layers alone") == 12 * layer(768) == 85_054_464
    assert found(verdict, "parameters without") == bert(768, 12)
    assert found(verdict, "the head") == 768 * 768 + 768 + 2 * 768 + 30_522 == 622_650


def test_line_8_feed_forward() -> None:
    verdict = judged("8")
    part = 8 * 768 * 768 + 5 * 768 + 2 * 768  # with its norm
    assert verdict.word == "caveat"
    assert [number.found for number in verdict.numbers] == [
        pytest.approx(part / layer(768)),
        pytest.approx(part / layer(768, attentions=2)),
    ]
    assert "49.98%" in verdict.why


def test_line_8b_share_of_the_embeddings() -> None:
    verdict = judged("8b")
    embeddings = (30_522 + 512 + 2) * 768 + 2 * 768
    assert verdict.word == "holds"
    assert found(verdict, "embeddings of BERT base") == pytest.approx(embeddings / bert(768, 24))


def test_line_8d_half_of_its_layers_are_those_of_bert() -> None:
    verdict = judged("8d")
    assert verdict.word == "caveat"  # its vocabulary and its writing are GPT-2's
    assert [number.found for number in verdict.numbers] == [50_265 - 50_257, 6, 0]
    assert verdict.numbers[0].stated == f"< {50_265 - 30_522:,}"


def test_line_8e_four_times_but_for_t5_1_1() -> None:
    verdict = judged("8e")
    assert verdict.word == "caveat"
    assert [number.found for number in verdict.numbers[:2]] == [3072 / 768, 3072 / 768]
    assert "t5-v1_1-base" in verdict.why  # 2048 / 768


def test_line_8c_bert_and_gpt() -> None:
    verdict = judged("8c")
    assert verdict.word == "caveat"
    assert found(verdict, "an encoder layer") == found(verdict, "a decoder layer") == layer(768) == 7_087_872
    assert f"{layer(768, attentions=2) - layer(768):,}" in verdict.why


def test_line_8f_most_parameters_are_in_the_layers() -> None:
    verdict = judged("8f")
    assert verdict.word == "holds"
    layers = 12 * (4 * 768 * 769 + 2 * 768 * 3072 + 3072 + 768 + 4 * 768)
    assert verdict.numbers[0].found == pytest.approx(layers / 109_482_240)
