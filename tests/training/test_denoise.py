"""Documents for pre-training."""

from __future__ import annotations

from collections import Counter

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


def test_common_words_are_taken_no_more_often_than_others() -> None:
    text = "the cat and the dog are in the garden of the school"  # 12 words, 4 of them not common
    common = frozenset({"the", "and", "are", "in", "of"})
    rng = np.random.default_rng(0)
    found = [denoise.corrupt(text, {"token deletion": 1.0}, rng, common).split() for _ in range(800)]
    every = Counter(text.split())
    lost = Counter(word for words in found for word in (every - Counter(words)).elements())
    share = sum(count for word, count in lost.items() if word in common) / lost.total()
    assert 0.45 < share < 0.6  # 8 / 12 without a choice


def test_a_corruption_of_rare_words_is_kept() -> None:
    noised = NOISE["token masking"]("the cat", np.random.default_rng(0), 1.0)
    assert denoise.kept(noised, frozenset({"the", "cat"})) == 1.0
    assert denoise.kept(noised, frozenset()) == 1.0
    assert denoise.kept(noised, frozenset({"the"})) == 1.0  # as many of each: nothing to set right


def test_the_commonest_words() -> None:
    assert denoise.commonest(["The cat.", "the dog.", "A cat."], 2) <= {"the", ".", "cat"}
    assert "the" in denoise.commonest(["The cat", "the dog", "the end"], 1)
