"""The picture of the residual sum: its bars are the table's numbers."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis import residual as analysis
from bartviz.drawing import theme
from bartviz.errors import SettingError
from bartviz.figures import residual
from tests.analysis.test_residual import small


@pytest.mark.parametrize("dark", [False, True])
def test_bars_are_lengths_and_cosines(dark: bool) -> None:
    frame = analysis.table(small())
    lengths, cosines = residual(small(), dark=dark).data
    np.testing.assert_allclose(lengths.x, frame["length"])
    np.testing.assert_allclose(cosines.x, frame["cosine with before"])
    assert lengths.marker.color[1] == theme.kind_color("encoder", dark)
    assert lengths.marker.color[0] == lengths.marker.color[2] == lengths.marker.color[4]


def test_something_else_is_refused() -> None:
    with pytest.raises(SettingError, match=r"experiments\.residual"):
        residual(None)  # type: ignore[arg-type]
