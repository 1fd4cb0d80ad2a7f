"""The two squares of path lengths: the numbers that are in them, and how many are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz import figures
from bartviz.analysis.recurrence import recurrence
from bartviz.families.family import ModelKind
from bartviz.features.masks.figure_recurrence import MOST
from tests.support import stand_in


@pytest.mark.parametrize("kind", ["encoder", "decoder", "encoder-decoder"])
def test_squares_hold_the_steps_on_one_scale(kind: ModelKind) -> None:
    one = recurrence(stand_in.record(kind=kind))
    figure = figures.recurrence(one)
    left, right = (part for part in figure.data if part.type == "heatmap")
    np.testing.assert_array_equal(left.z, one.recurrent)
    np.testing.assert_array_equal(right.z, one.attention)
    assert left.zmax == right.zmax == one.longest
    assert len(figure.layout.xaxis.ticktext) == len(one.columns) <= MOST
    assert left.hovertext[2][1].endswith(f"{one.recurrent[2, 1]:.0f} steps")
