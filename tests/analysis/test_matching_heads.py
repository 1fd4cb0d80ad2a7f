"""The heads that look alike: found among others by weights that a person can check, by words and not by pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis import matching_heads
from bartviz.errors import SettingError
from bartviz.record.attention import Attention, Head
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens
from tests.support import stand_in

EVEN = np.full((5, 5), 0.2)
NEXT = np.roll(np.eye(5), 1, axis=1)  # every token looks at the next one
BACK = np.roll(np.eye(5), -1, axis=1)  # at the one before


def of(tokens: Tokens, *heads: np.ndarray) -> Record:
    """A record of an encoder with one layer, whose heads have these weights."""
    q = np.log(np.maximum(np.stack(heads), 1e-12))[None].astype(np.float32)  # (1, H, Q, K)
    k = np.broadcast_to(np.eye(len(tokens), dtype=np.float32), (1, len(heads), len(tokens), len(tokens)))
    mask = np.ones((len(tokens), len(tokens)), bool)
    own = Attention("encoder", q, k, 1.0, mask, tokens, tokens)
    return replace(stand_in.record(kind="encoder"), encoder=own, source_text="")  # words are named by their pieces


TOKENS = stand_in.tokens(("<s>", "a", " b", " c", "</s>"))


def test_the_pair_that_looks_alike_is_found() -> None:
    found = matching_heads.match(of(TOKENS, EVEN, BACK), of(TOKENS, EVEN, NEXT, BACK))
    assert found is not None
    assert (found.first, found.second) == (Head("encoder", 0, 1), Head("encoder", 0, 2))
    assert found.correlation == pytest.approx(1)


def test_the_correlation_is_that_of_numpy() -> None:
    random = np.random.default_rng(0)
    one, other = (random.dirichlet(np.ones(5), 5) for _ in range(2))
    found = matching_heads.match(of(TOKENS, one), of(TOKENS, other))
    assert found is not None
    cells = ~np.eye(3, dtype=bool)  # between a, b and c
    expected = np.corrcoef(one[1:4, 1:4][cells], other[1:4, 1:4][cells])[0, 1]
    assert found.correlation == pytest.approx(expected, abs=1e-5)


def test_nothing_is_compared_where_there_is_nothing_to_compare() -> None:
    others = stand_in.tokens(("<s>", "a", " b", " d", "</s>"))
    assert matching_heads.match(of(TOKENS, NEXT), of(others, NEXT)) is None  # not the same words
    assert matching_heads.match(of(TOKENS, EVEN), of(TOKENS, NEXT)) is None  # no differences
    two = stand_in.tokens(("<s>", "a", " b", "</s>"))
    assert matching_heads.match(of(two, np.eye(4)), of(two, np.eye(4))) is None  # too few words


def test_capitals_and_pieces_make_no_other_words() -> None:
    pieces = stand_in.tokens(("<cls>", "A", " B", "b", " c", "<sep>"))
    whole = stand_in.tokens(("<s>", "a", " bb", " c", "</s>"))
    split = np.full((6, 6), 1e-9)
    split[1, 2] = split[1, 3] = 0.5  # "A" looks at both pieces of "Bb"
    split[2, 4] = split[3, 4] = split[4, 1] = split[0, 0] = split[5, 5] = 1.0
    found = matching_heads.match(of(pieces, split), of(whole, np.array(np.roll(np.eye(5), 1, axis=1))))
    assert found is not None
    assert found.correlation > 0.7


def test_the_head_most_like_a_given_one_is_found() -> None:
    one, other = of(TOKENS, NEXT, BACK), of(TOKENS, EVEN, NEXT, BACK)
    for given, partner in ((0, 1), (1, 2)):
        found = matching_heads.match(one, other, Head("encoder", 0, given))
        assert found is not None
        assert (found.first, found.second) == (Head("encoder", 0, given), Head("encoder", 0, partner))
    with pytest.raises(SettingError):
        matching_heads.match(one, other, Head("encoder", 5, 0))
