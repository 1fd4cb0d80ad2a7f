"""Rollout and contributions as two maps side by side, in the same colours."""

from __future__ import annotations

import numpy as np
import pytest

import bartviz
from bartviz.analysis import attention_vs_contribution, rollout
from bartviz.errors import SettingError
from tests.support import records

RECORD = records.encoder_decoder()


def test_rollout_is_shown_next_to_the_mean_of_its_last_layer() -> None:
    attention = RECORD.attention("decoder")
    figure = bartviz.figures.rollout(attention, 1)
    mean, rolled = figure.select_traces({"name": "weights"})
    np.testing.assert_allclose(np.nan_to_num(mean.z), attention.layer(1).mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(np.nan_to_num(rolled.z), rollout.rollout(attention, 1), atol=1e-6)
    assert (mean.zmin, mean.zmax, mean.colorscale) == (rolled.zmin, rolled.zmax, rolled.colorscale)
    assert "receives from" in rolled.hovertemplate
    assert rolled.colorbar.title.text.startswith("share that arrives")
    with pytest.raises(SettingError):
        bartviz.figures.rollout(RECORD.attention("cross"))


def test_contributions_are_shown_next_to_the_weights() -> None:
    attention = RECORD.attention("cross")
    figure = bartviz.figures.contribution(attention, 1, 2, query=RECORD.output)
    weights, brought = figure.select_traces({"name": "weights"})
    found = attention_vs_contribution.weigh(attention, 1, 2, query=RECORD.output)
    np.testing.assert_array_equal(weights.z, attention.head(1, 2))
    np.testing.assert_array_equal(brought.z, found.contribution)
    assert (weights.zmin, weights.zmax) == (brought.zmin, brought.zmax) == (0, 1)
    assert figure.layout.annotations[1].text == f"contributions, rank correlation {found.rank:.2f}"
