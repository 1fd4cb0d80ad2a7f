"""What the model cards say of heads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bartviz
from training import corpus, measure


def test_copying_heads_look_at_the_token_predicted_or_read() -> None:
    predicts = measure.copying(np.eye(4, dtype=np.float32)[None, None])
    assert predicts[:, 0, 0].tolist() == [[1, 1, 1], [0, 0, 0]]
    reads = measure.copying(np.eye(4, k=-1, dtype=np.float32)[None, None])
    assert reads[:, 0, 0].tolist() == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.slow
def test_error_rates_are_those_of_all_pairs_together(tmp_path: Path) -> None:
    """Every link of the first pair is possible; the second has one word on either side, and its link is sure."""
    every = " ".join(f"{source}?{target}" for source in range(3) for target in range(3))
    (tmp_path / corpus.GOLD_FILE).write_text(f"I sleep.\tIch schlafe.\t{every}\na\tein\t0-0\n", "utf-8")
    rates = measure.alignments(bartviz.load("bart-tiny-en-de"), tmp_path, "reads")
    assert rates.head.shape == (4, 8)
    assert rates.every == pytest.approx(1 - (3 + 1 + 1) / (3 + 1 + 1))  # 3 possible links, and the sure one is found
