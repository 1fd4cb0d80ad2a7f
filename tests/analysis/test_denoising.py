"""The noise functions: every word is kept, lost or moved, and the text is as a user would type it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bartviz.analysis import denoising
from bartviz.analysis.denoising import HIDES, MASK, NOISE, Noised, hide
from tests.support.process import printed

TEXTS = [
    "I want to buy a car.",
    'Tom said: "Don\'t go!" Mary left. She was sad.',
    "Schön, dich zu sehen! Wie geht's?",
    "word",
    "",
    "   ",
    "日本語 テスト 🙂 ok",
    "one  two\tthree\nfour",
]
ROUNDS = 40


def noised(name: str, text: str, seed: int = 0, rate: float | None = None) -> Noised:
    return NOISE[name](text, np.random.default_rng(seed), rate)


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("text", TEXTS)
def test_every_clean_word_is_kept_once_or_lost(name: str, text: str) -> None:
    for seed in range(ROUNDS):
        result = noised(name, text, seed)
        kept = [word.origin[0] for word in result.words if not word.is_mask]
        assert sorted([*kept, *result.lost]) == list(range(len(result.clean)))


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("text", TEXTS)
def test_the_corrupted_text_holds_the_corrupted_words(name: str, text: str) -> None:
    for seed in range(ROUNDS):
        result = noised(name, text, seed)
        assert "".join(result.text.split()) == "".join(word.text for word in result.words)
        assert result.text == result.text.lstrip()


@pytest.mark.parametrize("name", NOISE)
def test_the_same_seed_gives_the_same_corruption(name: str) -> None:
    text = TEXTS[1]
    assert noised(name, text, 3) == noised(name, text, 3)
    assert len({noised(name, text, seed).text for seed in range(30)}) > 1


def test_words_and_spaces_rebuild_the_text() -> None:
    for text in TEXTS:
        found = denoising.words(text)
        assert "".join(word.space + word.text for word in found) == text.rstrip()
        assert all(text[word.start : word.end] == word.text for word in found)


def test_masking_replaces_words_in_place() -> None:
    result = noised("token masking", "I want to buy a car.", rate=0.3)
    assert len(result.words) == len(result.clean) == 7
    assert [word.origin for word in result.words] == [(i,) for i in range(7)]
    assert len(result.lost) == 2 or len(result.lost) == 3  # 0.3 x 7 = 2.1, rounded at random
    assert result.text.count(MASK) == len(result.lost)


def test_deletion_leaves_no_trace_and_at_least_one_word() -> None:
    result = noised("token deletion", "I want to buy a car.", rate=1.0)
    assert len(result.words) == 1
    assert MASK not in result.text
    assert noised("token deletion", "word").text == "word"


def test_infilling_hides_a_span_behind_one_mask() -> None:
    text = "a b c d e f g h i j"
    lengths = set()
    for seed in range(300):
        result = noised("text infilling", text, seed)
        assert len(result.lost) == 3
        lengths |= {len(word.origin) for word in result.words if word.is_mask}
    assert {0, 1, 2, 3} <= lengths  # spans of length 0 insert a mask where nothing is missing


def test_infilling_draws_span_lengths_from_poisson_3() -> None:
    rng = np.random.default_rng(0)
    text = " ".join(str(i) for i in range(2000))
    lengths = [len(word.origin) for word in denoising.text_infilling(text, rng, 0.5).words if word.is_mask]
    assert np.mean(lengths) == pytest.approx(denoising.POISSON_MEAN, abs=0.3)
    assert np.mean(np.equal(lengths, 0)) == pytest.approx(np.exp(-3.0), abs=0.03)


def test_permutation_moves_whole_sentences() -> None:
    text = "One came. Two went! Was it three?"
    found = {noised("sentence permutation", text, seed).text for seed in range(60)}
    assert len(found) == 5  # every order but its own
    assert text not in found
    assert "Was it three? One came. Two went!" in found
    assert noised("sentence permutation", "Only one sentence.").text == "Only one sentence."


def test_sentences_end_after_closing_quotes_and_not_inside_numbers() -> None:
    assert len(denoising.sentences('He said "no." She cost 3.50 in all.')) == 2
    assert denoising.sentences("") == ()


def test_rotation_turns_the_text_at_a_word() -> None:
    for seed in range(20):
        result = noised("document rotation", "a b c d", seed)
        first = result.words[0].origin[0]
        assert first > 0
        assert [word.origin[0] for word in result.words] == [(first + i) % 4 for i in range(4)]
        assert result.moved == (0, 1, 2, 3)


def test_nothing_moves_or_is_lost_at_rate_zero() -> None:
    for name in ("token masking", "token deletion", "text infilling"):
        result = noised(name, TEXTS[0], rate=0.0)
        assert result.text == TEXTS[0]
        assert result.lost == result.moved == ()


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="choose 0 to 1"):
        noised("token masking", "a b", rate=rate)


@pytest.mark.parametrize("function", [noise.function for noise in NOISE.values()])
def test_lost_words_are_words_of_the_clean_text_at_any_rate(function: Callable[..., Noised]) -> None:
    rng = np.random.default_rng(1)
    for rate in np.linspace(0, 1, 11):
        for text in TEXTS:
            result = function(text, rng, float(rate))
            assert set(result.lost) <= set(range(len(result.clean)))


@pytest.mark.slow
def test_neither_torch_nor_streamlit_is_imported() -> None:
    code = "import sys, bartviz.analysis.denoising as d; print([m for m in ('torch', 'streamlit') if m in sys.modules])"
    assert printed(code).strip() == "[]"


@pytest.mark.parametrize(
    ("noise", "text"),
    [
        ("token masking", "I <mask> <mask> buy a <mask>."),
        ("text infilling", "I <mask> buy a <mask>."),
        ("token deletion", "I buy a."),
    ],
)
def test_words_are_hidden_as_a_noise_loses_them(noise: str, text: str) -> None:
    found = hide("I want to buy a car.", noise, {1, 2, 5, 99})
    assert found.text == text
    assert found.lost == (1, 2, 5)


def test_the_noises_that_hide_words_are_those_that_lose_some() -> None:
    lose = {name for name in NOISE if noised(name, "One two three. Four five six.", rate=0.5).lost}
    assert lose == set(HIDES)
