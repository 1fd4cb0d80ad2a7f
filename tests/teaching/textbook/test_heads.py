"""Line 35, on the BERT that ships."""

from __future__ import annotations

from tests.analysis.ledger import found, judged


def test_line_35_its_early_layers_are_not_the_broad_ones() -> None:
    verdict = judged("35")
    assert verdict.word == "fails"
    assert found(verdict, "evenness of the first layer") == 0.55
    assert verdict.numbers[0].claimed == "> 0.81"
    assert verdict.numbers[2].agrees  # the BART that ships is as the article says


def test_line_35b_kinds_of_heads() -> None:
    verdict = judged("35b")
    assert verdict.word == "caveat"
    assert found(verdict, "heads that look at the previous") == 4
    assert found(verdict, "heads that no score names") == 19
    assert found(verdict, "largest weight") == "35%"
