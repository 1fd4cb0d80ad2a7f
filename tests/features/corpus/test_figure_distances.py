"""How far a head looks: the numbers of the table, each bar named by its distances."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bartviz import figures
from bartviz.errors import SettingError
from bartviz.record.attention import Head

HEAD = Head("encoder", 0, 1)
ROWS = [
    (False, -np.inf, -129, 0.0, np.nan, np.nan, 0.0),
    (False, -8, -5, 0.1, 0.05, 0.2, 0.25),
    (False, -1, -1, 0.6, 0.5, 0.7, 0.25),
    (False, 0, 0, 0.0, np.nan, np.nan, 0.25),
    (True, np.nan, np.nan, 0.3, np.nan, np.nan, 0.25),
]
TABLE = pd.DataFrame(
    [("encoder", 0, 1, *row) for row in ROWS],
    columns=["kind", "layer", "head", "special", "nearest", "farthest", "share", "low", "high", "even"],
)


def test_bars_are_shares_with_their_intervals_beside_even_attention() -> None:
    bars, even = figures.distances(TABLE, head=HEAD).data
    assert list(bars.x) == ["−8…−5", "−1", "0", "special"]  # nothing can be further away
    assert list(bars.y) == [0.1, 0.6, 0.0, 0.3]
    assert list(bars.error_y.array) == pytest.approx([0.1, 0.1, 0, 0])
    assert list(bars.error_y.arrayminus) == pytest.approx([0.05, 0.1, 0, 0])
    assert list(even.y) == [0.25] * 4


def test_what_the_table_lacks_is_refused() -> None:
    with pytest.raises(SettingError, match="encoder L0H0 is not in that table"):
        figures.distances(TABLE, head=Head("encoder", 0, 0))
    with pytest.raises(SettingError, match="cannot draw that table"):
        figures.distances(TABLE.drop(columns="nearest"), head=HEAD)
    with pytest.raises(SettingError, match="distances"):
        figures.distances([], head=HEAD)  # type: ignore[arg-type]
