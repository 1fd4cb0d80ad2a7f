"""Batches keep every example, and their number of tokens."""

from __future__ import annotations

import numpy as np

from training.batches import Deck, Example, by_length, forever, pad


def examples(count: int) -> list[Example]:
    rng = np.random.default_rng(2)
    return [([i] * int(rng.integers(1, 20)), [i] * int(rng.integers(1, 20))) for i in range(count)]


def test_every_example_is_in_one_batch_of_bounded_size() -> None:
    given = examples(200)
    batches = by_length(given, 120, np.random.default_rng(0))
    assert sorted(e[0][0] for batch in batches for e in batch) == list(range(200))
    for batch in batches:
        widths = [max(len(e[i]) for e in batch) for i in (0, 1)]
        assert len(batch) == 1 or sum(widths) * len(batch) <= 120


def test_an_example_longer_than_a_batch_is_its_own_batch() -> None:
    batches = by_length([([1] * 50, [1] * 50), ([2], [2])], 10, np.random.default_rng(0))
    assert sorted(len(batch) for batch in batches) == [1, 1]
    assert by_length([], 10, np.random.default_rng(0)) == []


def test_padding_fills_to_the_longest() -> None:
    assert pad([[5], [6, 7, 8]], 1).tolist() == [[5, 1, 1], [6, 7, 8]]


def test_a_deck_deals_every_item_before_any_again() -> None:
    deck = Deck(list("abcde"), np.random.default_rng(0))
    drawn = deck.draw(3) + deck.draw(4) + deck.draw(3)
    assert sorted(drawn[:5]) == sorted(drawn[5:]) == list(range(5))


def test_a_deck_goes_on_from_any_position() -> None:
    items = list("abcdefg")
    one, other = (Deck(items, np.random.default_rng(4)) for _ in range(2))
    drawn = one.draw(40)
    other.position = 17
    assert other.draw(23) == drawn[17:]
    assert one.position == other.position == 40


def test_the_stream_does_not_end() -> None:
    stream = forever(lambda rng: examples(3), 1000, np.random.default_rng(0))
    assert [len(next(stream)) for _ in range(4)] == [3, 3, 3, 3]
