"""Attention and contribution: ranks by hand, and a sink whose value is 0."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bartviz.analysis import attention_vs_contribution, contributions
from bartviz.errors import SettingError
from bartviz.record.attention import Attention
from tests.analysis.test_measures import head


def valued(weights: list[list[float]], lengths: list[float]) -> Attention:
    """One head with these weights, whose values are so long."""
    one = head(weights, labels=("<s>", "a", " b"))
    v = np.array(lengths, np.float32)[None, None, :, None] * np.array([0.6, 0.8], np.float32)
    return dataclasses.replace(one, v=v, out=np.eye(2, dtype=np.float32)[None, :, None])


def test_ranks_share_where_numbers_are_equal() -> None:
    np.testing.assert_array_equal(attention_vs_contribution.ranks(np.array([0.5, 0.1, 0.5, 0.9])), [2.5, 1, 2.5, 4])
    assert attention_vs_contribution.spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0])) == pytest.approx(1)
    assert attention_vs_contribution.spearman(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])) == pytest.approx(-1)
    assert attention_vs_contribution.spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])) == pytest.approx(
        0.5
    )
    assert np.isnan(attention_vs_contribution.spearman(np.ones(3), np.array([1.0, 2.0, 3.0])))


def test_a_sink_with_a_short_value_has_much_weight_and_no_contribution() -> None:
    attention = valued([[0.8, 0.1, 0.1], [0.8, 0.15, 0.05], [0.8, 0.05, 0.15]], [0.0, 1.0, 1.0])
    found = attention_vs_contribution.weigh(attention, 0, 0)
    np.testing.assert_allclose(found.contribution[1], [0, 0.75, 0.25], atol=1e-5)
    np.testing.assert_allclose(found.contribution.sum(axis=1), 1, atol=1e-5)
    assert found.rows == 2  # the row of <s> does not count
    assert found.rank == pytest.approx(-0.5)  # ranks 3 2 1 against 1 3 2
    assert found.apart(1) == [(1, 0)]
    said = attention_vs_contribution.notice(found, "encoder L0H0")
    assert "Largest difference: “a” looks at “<s>” with 0.80 and gets 0.00 of its contributions from it." in said
    table = attention_vs_contribution.table(found)
    assert table.iloc[0][["query", "key", "special"]].tolist() == ["a", "<s>", True]
    np.testing.assert_allclose(table["difference"], table["contribution"] - table["attention"])


def test_values_of_equal_length_change_nothing() -> None:
    attention = valued([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.6, 0.1, 0.3]], [2.0, 2.0, 2.0])
    found = attention_vs_contribution.weigh(attention, 0, 0)
    np.testing.assert_allclose(found.contribution, found.attention, atol=1e-6)
    assert found.rank == pytest.approx(1)
    np.testing.assert_allclose(found.attention * 2, contributions.norms(attention, 0, 0), atol=1e-6)


def test_without_values_the_error_says_what_to_do() -> None:
    with pytest.raises(SettingError, match="without values"):
        attention_vs_contribution.weigh(head(np.full((3, 3), 1 / 3)), 0, 0)


def test_a_head_that_adds_nothing_is_said_to_add_nothing() -> None:
    attention = valued([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.6, 0.1, 0.3]], [0.0, 0.0, 0.0])
    found = attention_vs_contribution.weigh(attention, 0, 0)
    assert not found.contribution.any()
    assert (found.rows, found.apart(1)) == (0, [])
    assert np.isnan(found.rank)
    assert "adds anything to the layer" in attention_vs_contribution.notice(found, "encoder L0H0")
