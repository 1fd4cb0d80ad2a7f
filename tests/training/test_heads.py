"""The jobs of BERT's heads, on weights written by hand."""

from __future__ import annotations

import numpy as np

from training.heads import JOBS, copying, scores

IDS = [2, 10, 11, 10, 3]  # [CLS] a b a [SEP]
SPECIAL = [True, False, False, False, True]


def one(weights: np.ndarray) -> dict[str, tuple[float, float]]:
    sums, rows = scores(weights[None, None].astype(np.float32), IDS, SPECIAL)
    return {job: (float(sums[i, 0, 0]), float(rows[i])) for i, job in enumerate(JOBS)}


def test_a_head_that_looks_at_the_previous_token() -> None:
    found = one(np.eye(5, k=-1))
    assert found["previous"] == (3.0, 3.0)
    assert found["next"] == (0.0, 3.0)
    assert found["delimiter"] == (1.0, 3.0)  # the first word looks at [CLS]


def test_a_head_that_looks_at_the_next_token() -> None:
    found = one(np.eye(5, k=1))
    assert found["next"] == (3.0, 3.0)
    assert found["delimiter"] == (1.0, 3.0)  # the last word looks at [SEP]


def test_a_word_that_stands_twice() -> None:
    weights = np.zeros((5, 5))
    weights[1, 3], weights[3, 1], weights[2, 2] = 0.5, 0.25, 1.0
    assert one(weights)["same word"] == (0.75, 2.0)


def test_copying_heads_look_at_the_token_predicted_or_read() -> None:
    predicts = copying(np.eye(4, dtype=np.float32)[None, None])
    assert predicts[:, 0, 0].tolist() == [3.0, 0.0]
    reads = copying(np.eye(4, k=-1, dtype=np.float32)[None, None])
    assert reads[:, 0, 0].tolist() == [0.0, 3.0]
