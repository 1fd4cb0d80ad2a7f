"""Patterns with slots, filled on both sides alike."""

from __future__ import annotations

import re

import numpy as np
import pytest

from training import slots


def filled(en: str, de: str, count: int = 40) -> list[tuple[str, str]]:
    rng = np.random.default_rng(0)
    return [(row.en, row.de) for row in (slots.filled(en, de, rng) for _ in range(count))]


def test_a_name_stands_on_both_sides() -> None:
    for en, de in filled("{name} sings.", "{name} singt."):
        assert en.removesuffix(" sings.") == de.removesuffix(" singt.")


def test_two_slots_of_a_kind_differ() -> None:
    for en, de in filled("{weekday1} or {weekday2}", "{weekday1} oder {weekday2}"):
        assert len(set(en.split(" or "))) == 2
        assert len(set(de.split(" oder "))) == 2


def test_nouns_and_adjectives_agree() -> None:
    found = set(filled("I see a {adj} {home.sg}.", "Ich sehe {home.ein.acc.adj}.", 1500))
    assert ("I see an old farm.", "Ich sehe einen alten Bauernhof.") in found
    assert ("I see a new flat.", "Ich sehe eine neue Wohnung.") in found


@pytest.mark.parametrize(
    ("en", "de", "result"),
    [
        ("a  apple", "zu der Schule", ("An apple", "Zur Schule")),
        ("It is a hour.", "wir gehen in das Kino", ("It is an hour.", "Wir gehen ins Kino")),
        ("a university", "an dem Tag , von dem", ("A university", "Am Tag, von dem")),
        ("at 3 p.m..", "in dem Haus .", ("At 3 p.m.", "Im Haus.")),
    ],
)
def test_finishing(en: str, de: str, result: tuple[str, str]) -> None:
    row = slots.finished(en, de)
    assert (row.en, row.de) == result


def test_numbers_are_the_same_in_both_languages() -> None:
    for en, de in filled("{digits}", "{digits}"):
        assert en == de
    for en, de in filled("{price}", "{price}"):
        assert en.replace(".", ",") == de


def test_dates_and_days() -> None:
    for en, de in filled("on {date}", "am {date}"):
        day = re.search(r"\d+", en)
        assert day is not None
        assert de.startswith(f"Am {day[0]}. ")
    assert ("On Mondays", "Montags") in filled("on {weekday}s", "{weekday.s}")


def test_a_genitive() -> None:
    rng = np.random.default_rng(0)
    pattern = "{female}'s dog", "{female.gen} Hund"
    for row in (slots.filled(*pattern, rng) for _ in range(30)):
        name = row.en.removesuffix("'s dog")
        assert row.de in (f"{name}s Hund", f"{name}' Hund")
