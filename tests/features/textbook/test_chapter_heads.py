"""Line 35: the small BERT that ships decides nothing, a trained one of six layers does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz.features import textbook
from bartviz.features.textbook.judging import WORDS_RECORD, Evidence
from bartviz.record.attention import Attention
from bartviz.record.record import Record
from tests.features.textbook.ledger import found


def deep(*, trained: bool = True) -> Record:
    """A BERT of six layers with two heads: the first layer even, all later heads at [CLS] or at the next token."""
    shipped, _basis = Evidence().shipped(WORDS_RECORD)
    old = shipped.attention("encoder")
    n = len(old.query)
    wanted = np.zeros((6, 2, n, n), np.float32)
    wanted[1:, 0, :, 0] = 20.0  # every row looks at [CLS]
    wanted[1:, 1] = 20 * np.eye(n, k=1, dtype=np.float32)
    keys = np.broadcast_to(np.eye(n, dtype=np.float32), wanted.shape).copy()
    attention = Attention("encoder", wanted, keys, 1.0, old.mask, old.query, old.key)
    model = replace(shipped.model, encoder_layers=6, encoder_heads=2, trained=trained)
    return replace(shipped, model=model, encoder=attention)


def test_line_35_is_judged_by_a_trained_bert_of_six_layers() -> None:
    early, kinds = (textbook.verdict(number, deep()) for number in ("35", "35b"))
    assert early is not None
    assert early.word == "fails"  # the first layer is the broad one, but it gives [CLS] no more than an even share
    assert [number.agrees for number in early.numbers] == [True, False, False]
    assert found(early, "evenness of the first layer") == pytest.approx(1, abs=0.005)
    assert kinds is not None
    assert kinds.word == "holds"
    assert [number.found for number in kinds.numbers] == [5, 5, 0]  # the first layer spreads evenly, which is a name


def test_an_untrained_bert_decides_nothing() -> None:
    verdict = textbook.verdict("35", deep(trained=False))
    assert verdict is not None
    assert verdict.word == "undecided"
