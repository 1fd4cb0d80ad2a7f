"""The bootstrap over the parts of a run, from shards whose values are drawn here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bartviz.corpus.run_folder import Folder, Job, Shard
from bartviz.corpus.stability import stability
from bartviz.corpus.sums import Partial
from bartviz.errors import SettingError

HEADS = 400
PARTS, ROWS = 25, 20


def written(path: Path, values: np.ndarray) -> Path:
    """A folder with a shard for each part of values (P, N, H) of one measure."""
    model = {"encoder_layers": 1, "encoder_heads": values.shape[-1]}
    folder = Folder(path, {"model": model, "measures": {"encoder": ["previous"]}}, resume=False)
    for number, part in enumerate(values.astype(np.float32)):
        texts = np.arange(len(part)) + number * len(part)
        even = np.full((len(part), 1), 0.1, np.float32)
        sums = Partial.of("encoder", ("previous",), part[:, None, :, None], even, texts)
        folder.put(Job(number, (), ()), Shard({"encoder": sums}, len(part)).files())
    return path


def held(table: pd.DataFrame, mean: float) -> float:
    return float(((table["low"] <= mean) & (table["high"] >= mean)).mean())


@pytest.mark.parametrize("parts", [10, PARTS])
def test_intervals_hold_the_mean_where_rows_are_independent(parts: int, tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(0.5, 0.1, (parts, ROWS, HEADS))
    table = stability(written(tmp_path, values))
    assert table["mean"].to_numpy() == pytest.approx(values.mean(axis=(0, 1)), abs=1e-6)
    assert 0.92 <= held(table, 0.5) <= 0.98


def test_intervals_hold_the_mean_where_rows_of_a_part_repeat_each_other(tmp_path: Path) -> None:
    """Where the interval of independent rows does not."""
    values = np.random.default_rng(1).normal(0.5, 0.1, (PARTS, 1, HEADS)).repeat(ROWS, axis=1)
    assert 0.89 <= held(stability(written(tmp_path, values)), 0.5) <= 0.98
    error = 1.96 * values.std(axis=(0, 1)) / (PARTS * ROWS) ** 0.5
    assert (abs(values.mean(axis=(0, 1)) - 0.5) <= error).mean() < 0.6


def test_the_same_seed_gives_the_same_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, np.random.default_rng(0).random((PARTS, ROWS, 3)))
    pd.testing.assert_frame_equal(stability(path, seed=3), stability(path, seed=3))
    assert not stability(path, seed=3).equals(stability(path, seed=4))


def test_few_parts_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, np.full((3, 2, 1), 0.5))
    with pytest.raises(SettingError, match="needs 10 parts"):
        stability(path)
