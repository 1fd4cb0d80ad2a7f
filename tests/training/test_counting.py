"""Numbers, times and dates in words."""

from __future__ import annotations

import pytest

from training import counting


@pytest.mark.parametrize(
    ("n", "en", "de"),
    [
        (0, "zero", "null"),
        (1, "one", "eins"),
        (16, "sixteen", "sechzehn"),
        (17, "seventeen", "siebzehn"),
        (21, "twenty-one", "einundzwanzig"),
        (30, "thirty", "dreißig"),
        (100, "one hundred", "hundert"),
        (101, "one hundred and one", "hunderteins"),
        (345, "three hundred and forty-five", "dreihundertfünfundvierzig"),
        (1000, "one thousand", "tausend"),
        (2100, "two thousand one hundred", "zweitausendeinhundert"),
        (21_003, "twenty-one thousand and three", "einundzwanzigtausenddrei"),
    ],
)
def test_numbers_in_words(n: int, en: str, de: str) -> None:
    assert (counting.english(n), counting.german(n)) == (en, de)


def test_no_two_numbers_have_the_same_words() -> None:
    for words in (counting.english, counting.german):
        assert len({words(n) for n in range(3000)}) == 3000


@pytest.mark.parametrize(
    ("n", "en", "de", "short"),
    [
        (1, "first", "erst", "1st"),
        (3, "third", "dritt", "3rd"),
        (7, "seventh", "siebt", "7th"),
        (8, "eighth", "acht", "8th"),
        (12, "twelfth", "zwölft", "12th"),
        (20, "twentieth", "zwanzigst", "20th"),
        (22, "twenty-second", "zweiundzwanzigst", "22nd"),
        (31, "thirty-first", "einunddreißigst", "31st"),
    ],
)
def test_ordinal_numbers(n: int, en: str, de: str, short: str) -> None:
    assert (counting.english_ordinal(n), counting.german_ordinal(n), counting.nth(n)) == (en, de, short)


@pytest.mark.parametrize(
    ("hour", "minute", "en", "de"),
    [
        (1, 0, "one o'clock", "ein Uhr"),
        (6, 30, "half past six", "halb sieben"),
        (12, 30, "half past twelve", "halb eins"),
        (8, 15, "a quarter past eight", "Viertel nach acht"),
        (8, 45, "a quarter to nine", "Viertel vor neun"),
        (1, 10, "ten past one", "zehn nach eins"),
        (12, 55, "five to one", "fünf vor eins"),
    ],
)
def test_the_clock_in_words(hour: int, minute: int, en: str, de: str) -> None:
    assert counting.clock_words(hour, minute) == (en, de)


def test_the_clock_in_digits() -> None:
    assert counting.clock_digits(9, 5) == ("9:05", "9:05 Uhr")
    assert counting.clock_halves(18, 30) == ("6:30 p.m.", "18:30 Uhr")
    assert counting.clock_halves(12, 0) == ("12 p.m.", "12 Uhr")
    assert counting.clock_halves(11, 0) == ("11 a.m.", "11 Uhr")


def test_marks_in_numbers_differ() -> None:
    assert counting.grouped(1_250_000) == ("1,250,000", "1.250.000")
    assert counting.decimal(3, "50") == ("3.50", "3,50")
