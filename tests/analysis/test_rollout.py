"""Rollout: by hand for two tokens, and invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.analysis import rollout
from bartviz.errors import SettingError
from bartviz.record.attention import Attention
from tests.analysis.test_measures import head
from tests.support import records


def test_one_layer_is_half_attention_and_half_identity() -> None:
    found = rollout.rollout(head([[0.2, 0.8], [0.6, 0.4]]))
    np.testing.assert_allclose(found, [[0.6, 0.4], [0.3, 0.7]], atol=1e-6)


def test_two_layers_are_multiplied_the_later_one_first() -> None:
    one, two = head([[0.2, 0.8], [0.6, 0.4]]), head([[0.0, 1.0], [1.0, 0.0]])
    both = Attention(
        "encoder",
        np.concatenate([one.queries, two.queries]),
        np.concatenate([one.keys, two.keys]),
        1.0,
        one.mask,
        one.query,
        one.key,
    )
    first, second = np.array([[0.6, 0.4], [0.3, 0.7]]), np.array([[0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(rollout.rollout(both), second @ first, atol=1e-6)
    np.testing.assert_allclose(rollout.rollout(both, 0), first, atol=1e-6)


@pytest.mark.slow
@settings(max_examples=40)
@given(records.attentions(kind="encoder") | records.attentions(kind="decoder"), st.data())
def test_rows_sum_to_1_and_what_is_masked_stays_closed(attention: Attention, data: st.DataObject) -> None:
    found = rollout.rollout(attention, data.draw(st.integers(0, attention.shape[0] - 1)))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    closed = ~attention.mask & ~np.eye(len(found), dtype=bool)
    assert not found[closed].any()


def test_cross_attention_and_unknown_layers_are_refused() -> None:
    record = records.encoder_decoder()
    with pytest.raises(SettingError, match="choose encoder or decoder"):
        rollout.rollout(record.attention("cross"))
    with pytest.raises(SettingError, match="choose 0 to 2"):
        rollout.rollout(record.attention("encoder"), 3)
