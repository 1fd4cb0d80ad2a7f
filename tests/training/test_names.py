"""Names to put into rows, and those that are kept for measuring."""

from __future__ import annotations

import numpy as np

from training import lists, names


def test_no_name_for_training_is_one_for_measuring() -> None:
    held = names.held_out()
    listed = {name for key in ("female", "male", "surnames") for name in lists.words("names.toml", key)}
    towns = {name for pair in lists.pairs("places.txt") for name in pair}
    assert not held & (listed | towns)
    assert len(held) > 180
    assert len(listed) > 600


def test_made_up_names_are_many_and_none_is_for_measuring() -> None:
    rng = np.random.default_rng(0)
    for kind in ("female", "male", "surnames", "places"):
        found = {names.invented(kind, rng) for _ in range(500)}
        assert len(found) > 490
        assert not found & names.held_out()
        assert all(name[0].isupper() and name[1:].islower() for name in found)


def test_towns_have_their_german_names() -> None:
    towns = dict(lists.pairs("places.txt"))
    assert (towns["Munich"], towns["Vienna"], towns["Hamburg"]) == ("München", "Wien", "Hamburg")


def test_the_genitive_of_a_name() -> None:
    assert [names.genitive(name) for name in ("Anna", "Hans", "Fritz")] == ["Annas", "Hans'", "Fritz'"]


def test_an_entry_is_one_thing_in_both_languages() -> None:
    rng = np.random.default_rng(1)
    assert {names.entry("seasons", rng) for _ in range(60)} == {
        ("spring", "Frühling"),
        ("summer", "Sommer"),
        ("autumn", "Herbst"),
        ("winter", "Winter"),
    }
