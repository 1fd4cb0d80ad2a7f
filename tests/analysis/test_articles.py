"""The articles' claims: the verdicts follow from numbers, and the numbers are in the text."""

from __future__ import annotations

import pytest

from bartviz.analysis import articles
from bartviz.analysis.articles import CAVEAT, FAILS, HOLDS, judge

VERDICTS = {
    "BART base": (HOLDS, "1,026 rows"),
    "Heads of BART": (FAILS, "BART large 16"),
    "Parts of BART base": (CAVEAT, "216,627,456"),
    "Embeddings of BART": (FAILS, "38,603,520"),
    "A BERT of 85 million": (FAILS, "85,054,464"),
    "Table of sizes": (CAVEAT, "T5 large: 737,668,096"),
    "Feed-forward layers": (CAVEAT, "49.98 %"),
    "Share of the embeddings": (HOLDS, "22 % of BERT base, 9.5 %"),
    "Attention in memory": (HOLDS, "12.6 MB and 151 MB"),
    "Attention and feed-forward": (CAVEAT, "4.2 % to 17 %"),
    "Decoding": (CAVEAT, "1.05 times with a cache, 7.4 times without"),
}


@pytest.mark.parametrize("topic", VERDICTS)
def test_verdicts_and_their_numbers(topic: str) -> None:
    (claim,) = (claim for claim in articles.claims() if claim.topic == topic)
    verdict, number = VERDICTS[topic]
    assert claim.verdict == verdict
    assert number in claim.computed


def test_every_claim_is_here() -> None:
    assert [claim.topic for claim in articles.claims()] == list(VERDICTS)


def test_judge() -> None:
    assert judge(True, caveat=False) == HOLDS
    assert judge(True, caveat=True) == CAVEAT
    assert judge(False, caveat=True) == judge(False, caveat=False) == FAILS


def test_the_table_of_models() -> None:
    table = articles.models().set_index("model")
    assert list(table.index) == [title for title, _, _ in articles.MODELS]
    assert table.loc["GPT-2 small", "parameters"] == 124_439_808
    assert table.loc["T5 large", "difference"] == pytest.approx(737_668_096 / 770e6 - 1)
    sums = table[["embeddings", "encoder layers", "decoder layers", "head"]].sum(axis=1)
    assert (sums == table["parameters"]).all()
