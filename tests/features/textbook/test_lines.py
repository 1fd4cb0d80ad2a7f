"""Each line of the textbook that needs no model: its verdict, and its numbers counted again by hand."""

from __future__ import annotations

import json
import math
import zipfile
from collections import Counter
from unittest.mock import ANY

import numpy as np
import pytest

from bartviz import load
from bartviz.corpus.replay import SHIPPED
from bartviz.features import textbook
from bartviz.features.textbook import CLAIMS, claim
from bartviz.features.textbook.judging import START, Evidence
from tests.features.textbook.ledger import Wanted, check, found, judged

D, N = 768, 512  # the width of most models, and a length
MATRIX = 50_265 * D  # BART's tokens
WINDOWS = sum(min(511, i + 32) - max(0, i - 32) + 1 for i in range(512))  # keys within 32 of each row


def near(value: float, within: float = 1e-6) -> object:
    return pytest.approx(value, rel=within)


def about(value: float, within: float) -> object:
    return pytest.approx(value, abs=within)


def layer(d: int = D, attentions: int = 1) -> int:
    """Parameters of a layer d wide: per attention four matrices with biases and a norm; two of 4d with biases, a norm.

    For d = 768: 2,363,904 an attention with its norm, 4,723,968 the rest; 7,087,872 together.
    """
    return attentions * (4 * (d * d + d) + 2 * d) + (8 * d * d + 5 * d) + 2 * d


def bart(d: int, layers: int) -> int:
    """One matrix of 50,265 tokens, two tables of 1,026 positions, two norms of the embeddings, and the layers."""
    return 50_265 * d + 2 * (1026 * d + 2 * d) + layers * (layer(d) + layer(d, attentions=2))


def bert(d: int, layers: int) -> int:
    return (30_522 + 512 + 2) * d + 2 * d + layers * layer(d) + d * d + d


def products(layers: int = 12, n: int = N) -> int:
    """Multiply-adds of an encoder's layers over n tokens."""
    return layers * (12 * n * D * D + 2 * n * n * D)


def explained() -> float:
    """The share of rows whose largest weight is also the largest of |weight W_O v|, by loops over the shipped run."""
    record, agree, rows = Evidence().shipped(START)[0], 0, 0
    for attention in map(record.attention, record.kinds):
        assert attention.v is not None
        assert attention.out is not None
        for layer_, head in np.ndindex(*attention.shape[:2]):
            lengths = [np.linalg.norm(attention.out[layer_, :, head] @ value) for value in attention.v[layer_, head]]
            weights = attention.head(layer_, head)
            for row in np.flatnonzero(~attention.query.special & (attention.mask.sum(axis=1) > 1)):
                agree += int(weights[row].argmax() == (weights[row] * lengths).argmax())
                rows += 1
    return agree / rows


DECODER = layer(attentions=2)
FORWARD = 8 * D * D + 5 * D + 2 * D  # the feed-forward part with its norm
SIDE = MATRIX + 1026 * D + 2 * D  # what encoder and decoder have beside their layers
HEAD = D * D + D + 2 * D + 30_522  # what predicts a masked word


def aligned() -> int:
    """The median step at which heads of the replay that ships have come half of their way to align."""
    with zipfile.ZipFile(SHIPPED) as file:
        about = json.loads(file.read("about.json"))
    steps: list[float] = sorted(
        step for kind, _l, _h, of, step, *_ in about["points"] if (kind, of) == ("cross", "alignment")
    )
    bleu = about["curves"]["BLEU"]
    middle = (steps[(len(steps) - 1) // 2] + steps[len(steps) // 2]) / 2
    assert middle < min(step for step, value in bleu if 2 * value >= bleu[-1][1])  # so the line fails
    return round(middle)


# line: verdict; its numbers by label, or all of them (a list), or the first of them (a tuple); what its reason says
LINES: dict[str, tuple[str, Wanted, str]] = {
    "1": ("holds", [6, D, 12, 64, 3072, 50_265, 1024, 6, "gelu"], "1,026 rows"),
    "2": (
        "caveat",
        {
            "shared": MATRIX,
            "encoder": SIDE + 6 * layer(),
            "decoder": SIDE + 6 * DECODER,
            "whole": bart(D, 6),
            "sum": 3 * MATRIX + 2 * (1026 * D + 2 * D) + 6 * (layer() + DECODER),
        },
        "",
    ),
    "2b": (
        "caveat",
        {
            "share of the decoder, layers alone": near(DECODER / (DECODER + layer())),
            "share of the decoder, embeddings": near(96_103_680 / (96_103_680 + 81_920_256)),
        },
        "",
    ),
    "3": ("holds", {"BART large: parameters": bart(1024, 12)}, ""),
    "3b": ("fails", [12, 16], ""),
    "4": ("fails", {"separate": 1}, ""),
    "5": ("holds", {"BERT base: parameters": bert(D, 12), "BERT large: parameters": bert(1024, 24)}, ""),
    "5b": ("caveat", (), "335,141,888"),
    "6": ("fails", {"the 12 layers alone": 12 * layer(), "parameters without": bert(D, 12), "the head": HEAD}, ""),
    "7": (
        "fails",
        {"T5 large: parameters": 737_668_096, "GPT-2 small: parameters": 50_257 * D + 1024 * D + 12 * layer() + 2 * D},
        f"{737_668_096 + 32_128 * 1024:,}",
    ),
    "7b": ("holds", {"T5 base with BART's": 123_790_080}, ""),
    "7c": ("holds", {"GPT-1": 40_478 * D + 512 * D + 12 * layer()}, ""),
    "7d": ("holds", [bart(D, 6), bart(1024, 12)], ""),
    "8": ("caveat", [near(FORWARD / layer()), near(FORWARD / DECODER)], "49.98%"),
    "8b": ("holds", {"embeddings of BERT base": near(((30_522 + 512 + 2) * D + 2 * D) / bert(D, 24))}, ""),
    "8c": ("caveat", {"an encoder layer": layer(), "a decoder layer": layer()}, f"{DECODER - layer():,}"),
    "8d": ("caveat", [50_265 - 50_257, 6, 0], ""),  # its vocabulary and its writing are GPT-2's
    "8e": ("caveat", (3072 / D, 3072 / D), "t5-v1_1-base"),  # 2048 / 768
    "8f": ("holds", (near(12 * layer() / bert(D, 12)),), ""),
    "9": ("holds", [9 * 9, 8 * 9 // 2, "yes", 8 * 9, 1.0], ""),
    "10": (
        "caveat",
        {
            "weight after adding -10,000": 0,
            "weight after adding -1e9": 0,
            "weight after adding -inf": 0,
            "weight after adding -50": near(math.exp(3 - 50) / sum(map(math.exp, (1.5, 0.5, -1.0))), 1e-3),
            "a row fully masked by -10,000": "0.17 0.06 0.76 0.01",
            "a row fully masked by -1e9": "0.25 0.25 0.25 0.25",
            "a row fully masked by -inf": "NaN",
        },
        "",
    ),
    "11": (
        "holds",
        {"bigram": 23, "an arbitrary mask": 78 + 4 + 3 + 2 + 1, "window of 32": WINDOWS + 2 * (512 - 33)},
        "",
    ),
    "12": ("holds", {"concatenated heads": 8 * 32}, "32 encoder heads"),
    "12b": ("fails", {"rows with the same": 8 * 9}, "T5, mT5, umT5 leave it out"),
    "12c": ("holds", {"n = 512": N * N, "multiply-adds": N * N * 64}, "64 times"),
    "12d": ("holds", {"multiply-adds": products() + D * D}, ""),  # the pooler sees one vector
    "12e": ("fails", [ANY, about(0, 1e-6)], ""),
    "12f": ("caveat", [0, 3 * D, 3 * D], ""),
    "13": (
        "caveat",
        {
            "64 wide, variance 1": about(64, 2),
            "after division": about(1, 0.03),
            "share of products": about(math.erfc(1 / math.sqrt(2)), 0.003),  # farther from 0 than its deviation
        },
        "",
    ),
    "13b": ("fails", {"length": about(math.sqrt(64), 0.1), "unit vectors": about(1 / 64, 0.001)}, ""),
    "13c": ("caveat", (), ""),
    "14": (
        "fails",
        {
            "rows whose strongest key is the one with the largest cosine": 231,
            "rows whose strongest key is the one with the largest dot product": 4 * 8 * 9,
        },
        "",
    ),
    "15": ("holds", {"GELU(-0.1)": near(-0.1 * 0.5 * (1 + math.erf(-0.1 / math.sqrt(2))))}, ""),
    "15b": ("holds", ("GELU", "GELU", "GELU", "ReLU"), ""),
    "16": ("holds", [2, 3, "post", "post", "pre", "pre"], ""),
    "16c": ("caveat", (ANY, about(767**0.5, 1e-3)), ""),
    "18b": ("caveat", (ANY, ANY, 4 * N * D * D + 2 * N * N * D), ""),
    "18c": ("caveat", (), ""),
    "19": ("holds", {"width if they were": 3 * D, "segments in a pair": "0 1"}, ""),
    "19b": ("fails", {"first and last": "<s> </s>", "segments that BART": 0, "id of the padding": 1}, ""),
    "19c": ("fails", [1, 2, 1, 512], ""),
    "19d": ("fails", [15, "0"], ""),
    "19e": ("fails", (4 * D,), "104, 588, 123, 2231"),
    "20": ("undecided", (), ""),  # irregular in a small model, which is no proof about a large one
    "21": ("caveat", {"BART: positions": 1024, "vocabulary of BART": 50_257 + 8}, ""),
    "21b": ("holds", [2 * 32 * 12], ""),
    "21c": ("caveat", [16, 1024, 1], ""),  # half of 32 buckets for each direction
    "21d": ("caveat", (), "0 are unknown with 1,000 entries"),
    "22c": ("caveat", (products(6),), ""),
    "23": ("holds", (), ""),
    "23b": ("holds", [8_000.0**6, near(50_265.0**6)], ""),
    "24": ("fails", {"BART base": 2, "first decoder input": "</s>", "Marian": 58_100}, ""),
    "25b": ("undecided", {"heads that align better": 18}, "Run a trained model of 6 layers or more"),
    "26": ("undecided", [4, 5, "</s>"], ""),  # Ich möchte ein Auto kaufen: four words are not five
    "29": ("holds", {"noise functions": 5, "infilling": 5, "words that count": 9}, ""),
    "29b": ("fails", [9, 9 * 256], ""),
    "30": ("caveat", {"activation": "gelu, relu, gelu with a gate"}, ""),
    "30b": ("holds", {"target tokens": 77 + 26 + 1}, ""),  # 15% of 512, in spans of 3, and the last sentinel
    # Labels of tokens and answer spans stand on the network without its pooler, [CLS] and next sentences on all of it.
    "31": ("caveat", [HEAD, 1538, 1538, 1538, 1538, D * D + D], "108,891,648"),
    "31b": ("caveat", [2, 1], ""),
    "31c": ("holds", {"a dense layer": D * D + D + 3 * D + 3}, ""),
    "32": ("holds", {"bytes of one layer": 12 * N * N * 4, "bytes of 12": 12 * 12 * N * N * 4}, "12.6 MB and 151 MB"),
    "33": (
        "caveat",
        {
            "equal from n, what grows": 4 * D,  # 2 n d = 8 d d / ... : n = 4 d
            "equal from n, with": 2 * D,
            "what grows with n² ÷ feed-forward, n = 128": near(128 / 3072),
            "attention with its projections ÷ feed-forward, n = 512": near(0.5 + 512 / 3072),
        },
        "",
    ),
    "33b": ("fails", {"width doubled": near((16 * D + 4 * N) / (4 * D + 2 * N)), "scores": 2}, ""),
    "34": ("caveat", {"n doubled": 4, "activations": 2, "of 512": near(12 * 12_582_912 / (4 * bert(D, 12)))}, ""),
    "34b": ("fails", (), ""),
    "34c": ("caveat", (16 * bart(1024, 12),), ""),
    "34d": ("holds", (near((2 * products() + D * D) / (products() + D * D)), 2), ""),
    "35": ("undecided", {"evenness of the first layer": about(0.38, 0.005)}, ""),
    "35b": ("undecided", [4, 10, 6], ""),
    "35c": ("fails", (explained(),), "350 of 608 rows"),
    "35e": ("fails", (aligned(),), "match each word with its translation"),
}


@pytest.mark.parametrize("number", LINES)
def test_a_line_has_its_verdict_and_its_numbers(number: str) -> None:
    check(judged(number), *LINES[number])


def test_every_line_without_a_model_is_here() -> None:
    assert list(LINES) == [line.number for line in CLAIMS if line.check is not None]
    assert textbook.tally(textbook.verdicts()) == Counter(word for word, _wanted, _why in LINES.values())


def test_the_numbers_of_published_models() -> None:
    """So that no mistake in the sums above goes unseen."""
    assert (bart(D, 6), bart(1024, 12)) == (139_420_416, 406_291_456)
    assert (bert(D, 12), bert(1024, 24)) == (109_482_240, 335_141_888)
    assert 40_478 * D + 512 * D + 12 * layer() == 116_534_784


def test_which_numbers_disagree() -> None:
    assert [one.label for one in judged("7").numbers if not one.agrees] == ["T5 large: parameters"]
    assert judged("4").numbers[1].claimed == bart(D, 6) + 2 * MATRIX
    assert judged("8d").numbers[0].stated == f"< {50_265 - 30_522:,}"
    assert [one.found for one in judged("30").numbers if not one.agrees] == ["no", "no"]
    assert not judged("26").numbers[0].agrees
    assert judged("35").numbers[0].stated.startswith("> 0.64")
    assert not judged("35").numbers[0].agrees
    assert "109,482,240" in judged("31").why
    assert "no number" not in judged("25b").why
    off = judged("12e").numbers[0].found
    assert isinstance(off, float)
    assert off > 1


def test_line_20_a_shift_is_a_rotation() -> None:
    table = load("bert-tiny-en").network.bert.embeddings.position_embeddings.weight.detach().numpy()[:64].astype(float)
    for step, label in ((1, "learned, shift by 1:"), (16, "learned, shift by 16:")):
        before, after = np.c_[table[:-step], np.ones(64 - step)], table[step:]
        chosen = np.linalg.lstsq(before[::2], after[::2], rcond=None)[0]
        missed = np.linalg.norm(before[1::2] @ chosen - after[1::2])
        spread = np.linalg.norm(after[1::2] - after[1::2].mean(0))
        assert found(judged("20"), label) == near(float(missed / spread), 0.05)
    assert claim("20").query["rows"] == "63"  # the last of 64: what its page shows


def test_line_34b_decoding() -> None:
    n, out = 128, MATRIX
    each = 6 * (16 * D * D + 2 * n * D) + out  # a new row: projections, feed-forward part, the source, the output layer
    cached = [each + 6 * 2 * t * D for t in (64, 512)]
    label = "t from 64 to 512: growth of a step"
    assert found(judged("34b"), f"{label} with a cache") == near(cached[1] / cached[0], 0.01)
    whole = [6 * (16 * t * D * D + 2 * t * n * D + 2 * t * t * D + 2 * n * D * D) + out for t in (64, 512)]
    assert found(judged("34b"), f"{label} without") == near(whole[1] / whole[0], 0.15)
