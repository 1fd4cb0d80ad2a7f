"""The cells of a mask that are open, counted and drawn small."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bartviz.features.side import numbers
from tests.support import stand_in


def test_open_cells_are_counted_and_shrunk() -> None:
    mask = np.tril(np.ones((6, 6), bool))
    one = replace(stand_in.record(kind="encoder").attention("encoder"), mask=np.tril(np.ones((9, 9), bool)))
    assert numbers.seen(one) == (45, 81)
    assert numbers.shrunk(mask, 3).tolist() == np.tril(np.ones((3, 3), bool)).tolist()
    assert numbers.shrunk(mask, 6).tolist() == mask.tolist()
