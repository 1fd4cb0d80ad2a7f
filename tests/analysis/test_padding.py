"""A text measured alone and the same text padded in a batch give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis import measures
from bartviz.analysis.scaling import scaling
from bartviz.record.attention import Kind
from bartviz.run.forward import capture_batch
from tests.support import loaded

TEXTS = ("the cat sat", "the dog sat on the mat and the cat sat on the dog")


@pytest.mark.parametrize(("family", "kinds"), [("bert", ("encoder",)), ("bart", ("encoder", "decoder", "cross"))])
def test_padding_is_in_no_measure(family: str, kinds: tuple[Kind, ...]) -> None:
    model = loaded.model(family)
    targets = None if family == "bert" else [TEXTS[1], TEXTS[0]]
    alone = capture_batch(model, TEXTS[:1], targets=targets and targets[1:], values=True)[0]
    padded = capture_batch(model, TEXTS, targets=targets and targets[::-1], values=True, padded=True)[0]
    for kind in kinds:
        assert padded.attention(kind).shape > alone.attention(kind).shape
        one, other = measures.of_record(alone, kind), measures.of_record(padded, kind)
        assert other.rows == one.rows
        for name in one.values:
            np.testing.assert_allclose(other.values[name], one.values[name], rtol=1e-3, atol=1e-4, err_msg=name)
        if kind != "cross":
            first, second = scaling(alone.attention(kind), 0), scaling(padded.attention(kind), 0)
            assert (second.rows, second.of_rows) == (first.rows, first.of_rows)
            np.testing.assert_allclose(second.components, first.components, rtol=1e-3)
            np.testing.assert_allclose(second.model.entropy, first.model.entropy, rtol=1e-3, atol=1e-4)
            np.testing.assert_allclose(np.sort(second.model.scores), np.sort(first.model.scores), atol=1e-3)
