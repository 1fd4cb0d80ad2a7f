"""Lines 9 to 11 that need no model."""

from __future__ import annotations

import math

from tests.features.textbook.ledger import found, judged


def test_line_9_three_masks() -> None:
    verdict = judged("9")
    assert verdict.word == "holds"
    assert [number.found for number in verdict.numbers] == [9 * 9, 8 * 9 // 2, "yes", 8 * 9, 1.0]


def test_line_10_about_0_and_exactly_0() -> None:
    verdict = judged("10")
    assert verdict.word == "caveat"
    assert [found(verdict, f"weight after adding {name}") for name in ("-10,000", "-1e9", "-inf")] == [0, 0, 0]
    open_scores = (1.5, 0.5, -1.0)
    small = found(verdict, "weight after adding -50")
    assert isinstance(small, float)
    assert math.isclose(small, math.exp(3 - 50) / sum(map(math.exp, open_scores)), rel_tol=1e-3)
    assert found(verdict, "a row fully masked by -10,000") == "0.17 0.06 0.76 0.01"
    assert found(verdict, "a row fully masked by -1e9") == "0.25 0.25 0.25 0.25"
    assert found(verdict, "a row fully masked by -inf") == "NaN"


def test_line_11_other_patterns() -> None:
    verdict = judged("11")
    assert verdict.word == "holds"
    assert found(verdict, "bigram") == 23
    assert found(verdict, "an arbitrary mask") == 78 + 4 + 3 + 2 + 1
    rows = [min(511, i + 32) - max(0, i - 32) + 1 for i in range(512)]  # the window of each row
    assert found(verdict, "window of 32") == sum(rows) + 2 * (512 - 33)
