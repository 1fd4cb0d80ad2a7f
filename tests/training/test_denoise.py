"""Documents for pre-training."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis.denoising import NOISE
from training import denoise


def test_shares_sum_to_one_and_name_noise_functions() -> None:
    for choices in (denoise.FOR_ONE, denoise.FOR_MANY):
        assert sum(choices.values()) == pytest.approx(1.0)
        assert set(choices) <= set(NOISE)
    assert sum(denoise.SHARES) == pytest.approx(1.0)


def test_some_texts_lose_their_final_mark() -> None:
    rng = np.random.default_rng(0)
    found = [denoise.without_end("It is late.", rng) for _ in range(400)]
    assert set(found) == {"It is late.", "It is late"}
    assert 0.08 < found.count("It is late") / 400 < 0.22
    assert {denoise.without_end("no mark", rng) for _ in range(50)} == {"no mark"}


def test_corruption_is_of_the_functions_asked_for() -> None:
    rng = np.random.default_rng(0)
    assert "<mask>" in denoise.corrupt("one two three four", {"token masking": 1.0}, rng)
    assert sorted(denoise.corrupt("a b c d", {"document rotation": 1.0}, rng).split()) == ["a", "b", "c", "d"]
