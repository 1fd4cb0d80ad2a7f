"""Names, places, numbers and days exchanged on both sides alike."""

from __future__ import annotations

import re

import numpy as np
import pytest

from training import names, substitute
from training.corpus import Pair


def changed(en: str, de: str, count: int = 60) -> list[Pair]:
    """What becomes of a row, each result once, the row itself left out."""
    rng = np.random.default_rng(0)
    row = Pair(en, de)
    return [new for new in dict.fromkeys(substitute.substituted(row, rng) for _ in range(count)) if new != row]


def test_a_name_is_the_same_on_both_sides() -> None:
    found = changed("Tom is here.", "Tom ist hier.")
    assert len(found) > 20
    for row in found:
        name = row.en.removesuffix(" is here.")
        assert name != "Tom"
        assert row.de == f"{name} ist hier."


def test_a_german_genitive_is_kept() -> None:
    for row in changed("This is Tom's book.", "Das ist Toms Buch."):
        name = row.en.removeprefix("This is ").removesuffix("'s book.")
        assert row.de == f"Das ist {names.genitive(name)} Buch."


def test_two_people_stay_two() -> None:
    for row in changed("Tom saw Mary.", "Tom sah Maria."):
        who, whom = row.en.removesuffix(".").split(" saw ")
        assert who != whom
        german = row.de.removesuffix(".").split(" sah ")
        assert german[0] == who
        assert german[1] in (whom, "Maria")


@pytest.mark.parametrize(
    ("en", "de"),
    [
        ("Tom and Tom's wife", "Tom und seine Frau"),  # not as often in both
        ("I was in Boston.", "Ich war im Bostoner Hafen."),
        ("He came at three.", "Er kam um drei."),  # a time
        ("We waited for half past two.", "Wir warteten auf halb drei."),
        ("I have 3 dogs.", "Ich habe drei Hunde."),
        ("Nothing to change.", "Nichts zu ändern."),
    ],
)
def test_rows_whose_sides_differ_stay(en: str, de: str) -> None:
    assert changed(en, de) == []


def test_a_town_gets_its_german_name() -> None:
    found = {row.en: row.de for row in changed("I live in Boston.", "Ich wohne in Boston.", 3000)}
    assert found["I live in Munich."] == "Ich wohne in München."
    assert len(found) > 150


def test_days_and_languages() -> None:
    assert Pair("On Friday.", "Am Freitag.") in changed("On Monday.", "Am Montag.")
    assert Pair("Speak Korean!", "Sprich Koreanisch!") in changed("Speak French!", "Sprich Französisch!", 300)


@pytest.mark.parametrize(
    ("en", "de"), [("It cost 3.50.", "Es kostete 3,50."), ("1,250 of them", "1.250 davon"), ("17 of 204", "17 von 204")]
)
def test_digits_are_the_same_and_their_marks_stay(en: str, de: str) -> None:
    found = changed(en, de)
    assert len(found) > 20
    for row in found:
        assert re.findall(r"\d+", row.en) == re.findall(r"\d+", row.de)
        assert re.sub(r"\d", "0", row.en) == re.sub(r"\d", "0", en)
        assert re.sub(r"\d", "0", row.de) == re.sub(r"\d", "0", de)


def test_a_time_in_digits_stays_a_time() -> None:
    for row in changed("It is 2:30.", "Es ist 2.30 Uhr."):
        hour, minute = re.findall(r"\d+", row.en)
        assert int(hour) < 24
        assert int(minute) < 60
        assert row.de == f"Es ist {hour}.{minute} Uhr."


def test_number_words() -> None:
    found = {row.en: row.de for row in changed("I see three cats.", "Ich sehe drei Katzen.", 2000)}
    assert found["I see forty-two cats."] == "Ich sehe zweiundvierzig Katzen."
    assert not any("eins" in de for de in found.values())


def test_spellings_change_in_both_directions() -> None:
    rng = np.random.default_rng(0)
    for one, other in (("My favorite color.", "My favourite colour."), ("The flat.", "The apartment.")):
        assert {substitute.spelled(one, rng) for _ in range(30)} == {one, other}
        assert {substitute.spelled(other, rng) for _ in range(30)} == {one, other}
    assert {substitute.spelled("A discolored wall.", rng) for _ in range(30)} == {"A discolored wall."}
