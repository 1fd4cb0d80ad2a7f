"""Clean, corrupted and written words in columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.analysis.denoising import NOISE, Noised, NoisedWord, words
from bartviz.analysis.repair_columns import Place, Said, Written, pairs, places

CLEAN = "I want to buy a car"


def noised(text: str, kept: list[NoisedWord], lost: tuple[int, ...]) -> Noised:
    return Noised("by hand", text, " ".join(word.text for word in kept), words(text), tuple(kept), lost)


def keep(text: str, *origins: int) -> list[NoisedWord]:
    clean = words(text)
    return [NoisedWord(clean[i].text, (i,)) for i in origins]


def said(text: str) -> list[Written]:
    return [Written(word.text, 0.5) for word in words(text)]


def marks(found: tuple[Place, ...]) -> list[tuple[tuple[int, ...], str]]:
    return [(place.clean, " ".join(f"{one.text}/{one.mark}" for one in place.said)) for place in found]


def test_equal_words_are_paired_and_a_changed_one_is_next_to_the_original() -> None:
    found = pairs(["a", "b", "c"], ["a", "x", "c"])
    assert found == [(0, 0), (1, 1), (2, 2)]


def test_a_lost_word_is_given_up_rather_than_a_kept_one() -> None:
    assert pairs(["a", "b", "c"], ["x", "c"], lost={0}) == [(0, 0), (1, None), (2, 1)] or pairs(
        ["a", "b", "c"], ["x", "c"], lost={0}
    ) == [(0, None), (1, 0), (2, 1)]
    assert pairs(["the", "big", "dog"], ["the", "dog"]) == [(0, 0), (1, None), (2, 1)]


def test_a_span_shares_a_column_with_its_mask_and_what_was_written_there() -> None:
    kept = [*keep(CLEAN, 0), NoisedWord("<mask>", (1, 2), True), *keep(CLEAN, 3, 4, 5)]
    found = places(noised(CLEAN, kept, (1, 2)), said("I have to really buy a car"))
    assert marks(found)[:3] == [((0,), "I/kept"), ((1, 2), "have/wrong to/right really/added"), ((3,), "buy/kept")]
    assert found[1].seen == (1,)


def test_a_deleted_word_has_nothing_below_it_and_may_come_back() -> None:
    found = places(noised(CLEAN, keep(CLEAN, 0, 2, 3, 4, 5), (1,)), said("I want to buy a car"))
    assert found[1] == Place((1,), (), (Said("want", 0.5, "right", 1),))
    assert [mark for _, mark in marks(found)] == ["I/kept", "want/right", "to/kept", "buy/kept", "a/kept", "car/kept"]


def test_a_word_where_nothing_was_missing_stands_alone() -> None:
    found = places(noised("a car", keep("a car", 0, 1), ()), said("a red car"))
    assert found[1] == Place((), (), (Said("red", 0.5, "added"),))
    found = places(noised("a car", keep("a car", 0, 1), ()), said("so a car"))
    assert found[0] == Place((), (), (Said("so", 0.5, "added"),))


def test_an_inserted_mask_takes_what_was_added_there() -> None:
    kept = [*keep("a car", 0), NoisedWord("<mask>", (), True), *keep("a car", 1)]
    found = places(noised("a car", kept, ()), said("a red car"))
    assert found[1] == Place((), (1,), (Said("red", 0.5, "added"),))


def test_moved_words_keep_their_own_order_in_the_corrupted_line() -> None:
    found = places(noised("a b c", keep("a b c", 2, 0, 1), ()), said("a b c"))
    assert [place.clean + place.seen for place in found] == [(0, 0), (1, 1), (2, 2)]
    assert {one.mark for place in found for one in place.said} == {"right"}


def test_a_written_word_stands_below_its_counterpart_and_an_added_one_below_none() -> None:
    text = "I want to buy a car."
    kept = [*keep(text, 0, 1, 2, 3, 4), NoisedWord("<mask>", (5, 6), True)]
    found = places(noised(text, kept, (5, 6)), said("I want to buy a new car."))[-1]
    assert [(clean, one and one.text) for clean, one in found.columns] == [(None, "new"), (5, "car"), (6, ".")]
    left = places(noised(text, kept, (5, 6)), said("I want to buy a ."))[-1]
    assert [(clean, one and one.text) for clean, one in left.columns] == [(5, None), (6, ".")]
    none = places(noised(text, kept, (5, 6)), said("I want to buy a"))[-1]
    assert none.columns == ((5, None), (6, None))


def test_nothing_written_leaves_every_column_empty() -> None:
    assert all(not place.said for place in places(noised("a b", keep("a b", 0, 1), ()), []))


TEXTS = st.lists(st.sampled_from(["a", "b", "cat", "고양이", ".", "!"]), min_size=1, max_size=14).map(" ".join)


@pytest.mark.slow
@given(TEXTS, st.sampled_from(sorted(NOISE)), st.integers(0, 99), TEXTS)
def test_every_word_is_in_exactly_one_column_and_in_order(text: str, noise: str, seed: int, other: str) -> None:
    damaged = NOISE[noise](text, np.random.default_rng(seed))
    written = said(other)
    found = places(damaged, written)
    assert [i for place in found for i in place.clean] == list(range(len(damaged.clean)))
    assert [i for place in found for i in place.seen] == list(range(len(damaged.words)))
    assert [one.text for place in found for one in place.said] == [one.text for one in written]
    columns = [column for place in found for column in place.columns]
    assert [i for i, _one in columns if i is not None] == list(range(len(damaged.clean)))
    assert [one.text for _i, one in columns if one is not None] == [one.text for one in written]
    for i, one in columns:
        if i is not None and one is not None:
            assert (one.text == damaged.clean[i].text) == (one.mark in ("right", "kept"))
        assert one is None or (i is None) == (one.mark == "added")


@pytest.mark.slow
@given(TEXTS, st.sampled_from(sorted(NOISE)), st.integers(0, 99))
def test_the_original_itself_is_all_right(text: str, noise: str, seed: int) -> None:
    damaged = NOISE[noise](text, np.random.default_rng(seed))
    found = [one.mark for place in places(damaged, said(text)) for one in place.said]
    touched = {*damaged.lost, *damaged.moved}
    assert found == ["right" if i in touched else "kept" for i in range(len(damaged.clean))]


@pytest.mark.parametrize("most", [0, 1, 5])
def test_words_that_share_nothing_are_all_accounted_for(most: int) -> None:
    found = pairs(["a"] * 3, ["b"] * most)
    assert [i for i, _ in found if i is not None] == [0, 1, 2]
    assert [j for _, j in found if j is not None] == list(range(most))
