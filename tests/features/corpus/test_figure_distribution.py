"""The distribution of a head's values: the numbers of the atlas, each bar over its bin."""

from __future__ import annotations

import pandas as pd
import pytest

from bartviz import figures
from bartviz.errors import SettingError
from bartviz.record.attention import Head

ROWS = [("encoder", 0, 1, "previous", 0.5, 4), ("encoder", 0, 1, "previous", 0.0, 3), ("encoder", 0, 0, "next", 0.1, 9)]
TABLE = pd.DataFrame(ROWS, columns=["kind", "layer", "head", "measure", "bin", "texts"])


def test_each_bar_stands_over_its_bin() -> None:
    (bars,) = figures.distribution(TABLE, measure="previous", head=Head("encoder", 0, 1)).data
    assert list(bars.x) == pytest.approx([0.025, 0.525])
    assert list(bars.y) == [3, 4]


def test_what_the_table_lacks_is_refused() -> None:
    with pytest.raises(SettingError, match="encoder L0H0 has no values of the measure previous"):
        figures.distribution(TABLE, measure="previous", head=Head("encoder", 0, 0))
    with pytest.raises(SettingError, match="The measure is one of"):
        figures.distribution(TABLE, measure="nothing", head=Head("encoder", 0, 1))
    with pytest.raises(SettingError, match="histograms"):
        figures.distribution([], measure="previous", head=Head("encoder", 0, 1))  # type: ignore[arg-type]
