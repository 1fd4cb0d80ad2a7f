"""Two atlases in one figure: the means of both, their intervals, and which heads are apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bartviz import figures
from bartviz.errors import SettingError


def table(means: dict[tuple[int, int], float], kind: str = "encoder") -> pd.DataFrame:
    """One measure, n = 100 and a standard deviation of 0.1: half an interval is 0.0196."""
    lines = [
        (kind, layer, head, "previous", 100, mean, 0.1, mean - 0.0196, mean + 0.0196, 0.1)
        for (layer, head), mean in means.items()
    ]
    return pd.DataFrame(lines, columns=["kind", "layer", "head", "measure", "n", "mean", "sd", "low", "high", "even"])


ONE = table({(0, 0): 0.1, (0, 1): 0.5, (1, 0): 0.2, (1, 1): 0.9})
OTHER = table({(0, 0): 0.12, (0, 1): 0.9, (1, 0): 0.1, (1, 1): 0.9})


def test_a_point_has_both_means_and_is_filled_where_they_are_apart() -> None:
    """By hand: the standard error of a difference is 0.1 sqrt(2 / 100) = 0.0141, so 0.02 is within chance, 0.1 not."""
    (points,) = figures.atlas_pair(ONE, OTHER, names=("before", "after")).data
    np.testing.assert_allclose(points.x, [0.1, 0.5, 0.2, 0.9])
    np.testing.assert_allclose(points.y, [0.12, 0.9, 0.1, 0.9])
    np.testing.assert_allclose(points.error_x.array, 0.0196)
    np.testing.assert_allclose(points.error_y.arrayminus, 0.0196)
    assert [text or "" for text in points.text] == ["", "L0H1", "L1H0", ""]
    filled = points.marker.color
    assert filled[0] == filled[3] != filled[1] == filled[2]
    assert [row[2] for row in points.customdata] == ["", "previous token", "", "previous token"]


def test_the_axes_name_the_atlases() -> None:
    layout = figures.atlas_pair(ONE, OTHER, names=("<b>before", "after")).layout
    assert layout.xaxis.title.text.startswith("&lt;b&gt;before: ")
    assert layout.yaxis.title.text.startswith("after: ")


def test_what_they_do_not_share_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingError, match="choose encoder"):
        figures.atlas_pair(ONE, OTHER, kind="cross")
    with pytest.raises(SettingError, match="one of previous"):
        figures.atlas_pair(ONE, OTHER, measure="next")
    with pytest.raises(SettingError, match="no heads to compare"):
        figures.atlas_pair(ONE, table({(0, 0): 0.1}))
    with pytest.raises(SettingError, match="open_atlas"):
        figures.atlas_pair(ONE, [])  # type: ignore[arg-type]
