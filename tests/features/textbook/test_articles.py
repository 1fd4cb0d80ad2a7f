"""The statements of the textbook that the parameters page shows, and the articles' table of models."""

from __future__ import annotations

import pytest

from bartviz.analysis import article_models
from bartviz.features.textbook import articles

VERDICTS = {
    "BART base": ("True", "1,026 rows"),
    "Heads of BART": ("False", "BART large has 16"),
    "Parts of BART base": ("It depends", "216,627,456"),
    "Embeddings of BART": ("False", "38,603,520"),
    "A BERT of 85 million": ("False", "85,054,464"),
    "Table of sizes": ("False", "T5 large has 737,668,096"),
    "Feed-forward layers": ("It depends", "49.98%"),
    "Share of the embeddings": ("True", "From 21.8% to 12.3% by depth alone, and to 9.5%"),
    "Attention in memory": ("True", "12.6 MB and 151 MB"),
    "Attention and feed-forward": ("It depends", "4.2% to 17%"),
    "Decoding": ("False", "1.05 times with a cache, 7.4 times without"),
}


@pytest.mark.parametrize("topic", VERDICTS)
def test_verdicts_and_their_numbers(topic: str) -> None:
    (claim,) = (claim for claim in articles.claims() if claim.topic == topic)
    verdict, number = VERDICTS[topic]
    assert claim.verdict == verdict
    assert number in claim.computed


def test_every_claim_is_here() -> None:
    assert [claim.topic for claim in articles.claims()] == list(VERDICTS)


def test_the_table_of_models() -> None:
    table = article_models.models().set_index("model")
    assert list(table.index)[:3] == ["BERT base", "BERT large", "GPT-2 small"]
    assert len(table) == len(article_models.MODELS) == 8
    assert table.loc["GPT-2 small", "parameters"] == 124_439_808
    assert table.loc["T5 large", "difference"] == pytest.approx(737_668_096 / 770e6 - 1)
    sums = table[["embeddings", "encoder layers", "decoder layers", "head"]].sum(axis=1)
    assert (sums == table["parameters"]).all()
