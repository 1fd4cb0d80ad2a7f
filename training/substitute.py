"""Rows with other names, places, numbers and days on both sides, drawn anew each time a row comes.

A word is exchanged only where it stands as often in the English as in the German, so that both still say the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from numpy.random import Generator

from training import lists, names
from training.corpus import Pair
from training.counting import english, german

SHARE = 0.7  # of the words that could be exchanged
FULL_NAME = 0.1  # share of the names that get a surname
_TOWNS = ("Boston", "London", "Paris", "Tokyo", "Chicago", "Kyoto", "Osaka", "Berlin", "Rome", "Sydney", "Madrid")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_FEW = tuple(english(n) for n in range(2, 13))
_CLOCK = re.compile(r"o'clock|half past|quarter|halb|Uhr|viertel|\bat [a-z]+\b|\bum\b", re.IGNORECASE)
_LANGUAGES = ("French", "English", "Japanese", "German", "Chinese", "Spanish")


def substituted(row: Pair, rng: Generator) -> Pair:
    """The row with some of its names, places, numbers and days exchanged for others."""
    for change in _CHANGES:
        row = change(row, rng)
    return row


def _name(en: str, de: str, kind: str) -> Callable[[Pair, Generator], Pair]:
    english_name = re.compile(rf"\b{en}\b")
    german_name = re.compile(rf"\b(?:{de})(s?)\b(?!-)")

    def change(row: Pair, rng: Generator) -> Pair:
        if en not in row.en or rng.random() > SHARE:
            return row
        if len(english_name.findall(row.en)) != len(german_name.findall(row.de)):
            return row
        new = names.given(kind, rng)
        if rng.random() < FULL_NAME:
            new += f" {names.surname(rng)}"
        if new in row.en:  # else two people would become one
            return row
        german_form = german_name.sub(lambda m: names.genitive(new) if m[1] else new, row.de)
        return Pair(english_name.sub(new, row.en), german_form)

    return change


def _among(old: tuple[tuple[str, str], ...], new: Callable[[Generator], tuple[str, str]]) -> Any:
    """Exchange one of the `old` words, where it stands once on both sides, for a `new` one."""
    table = dict(old)
    found = re.compile(rf"\b(?:{'|'.join(map(re.escape, table))})\b")

    def change(row: Pair, rng: Generator) -> Pair:
        matches = found.findall(row.en)
        if len(matches) != 1 or rng.random() > SHARE:
            return row
        there = re.compile(rf"\b{re.escape(table[matches[0]])}\b(?!-)")
        if len(there.findall(row.de)) != 1:
            return row
        en, de = new(rng)
        return Pair(found.sub(lambda _: en, row.en), there.sub(lambda _: de, row.de))

    return change


def digits(row: Pair, rng: Generator) -> Pair:
    """Other digits in the numbers, if both sides have the same ones; a clock time stays one."""
    sides = _NUMBER.findall(row.en), _NUMBER.findall(row.de)
    if not sides[0] or rng.random() > SHARE or [_bare(x) for x in sides[0]] != [_bare(x) for x in sides[1]]:
        return row
    new = [_other(number, rng) for number in sides[0]]

    def rewrite(text: str, old: list[str]) -> str:
        parts = iter([_like(a, b) for a, b in zip(old, new, strict=True)])
        return _NUMBER.sub(lambda _: next(parts), text)

    return Pair(rewrite(row.en, sides[0]), rewrite(row.de, sides[1]))


def number_words(row: Pair, rng: Generator) -> Pair:
    """Another number for the one number word of a row: `three` and `drei` become `forty-two` and `zweiundvierzig`."""
    found = [word for word in re.findall(r"[a-z-]+", row.en) if word in _FEW]
    if len(found) != 1 or rng.random() > SHARE or _CLOCK.search(row.en) or _CLOCK.search(row.de):
        return row
    old, new = _FEW.index(found[0]) + 2, int(rng.integers(2, 100 if rng.random() < 0.5 else 13))
    here, there = re.compile(rf"\b{found[0]}\b(?!-)"), re.compile(rf"\b{german(old)}\b(?!-)")
    if len(there.findall(row.de)) != 1 or german(new).endswith("eins"):
        return row
    return Pair(here.sub(english(new), row.en), there.sub(german(new), row.de))


def spelled(en: str, rng: Generator) -> str:
    """The English with American words exchanged for British ones, or the other way, half of the time."""
    if not _SPELLED.search(en) or rng.random() < 0.5:
        return en
    return _SPELLED.sub(lambda m: _OTHER_SPELLING[m[0]], en)


def _bare(number: str) -> str:
    return re.sub(r"\D", "", number)


def _other(number: str, rng: Generator) -> str:
    """Other digits, as many as before."""
    if ":" in number:
        return f"{int(rng.integers(1, 24))}{int(rng.integers(0, 12)) * 5:02d}"
    count = len(_bare(number))
    if count == 4 and number.isdigit():  # a year
        return str(int(rng.integers(1700, 2050)))
    low = 10 ** (count - 1)
    return str(int(rng.integers(max(2, low), low * 10)))


def _like(old: str, new: str) -> str:
    """`new` with the marks of `old`, counted from the right."""
    marks = [(len(old) - i, c) for i, c in enumerate(old) if not c.isdigit()]
    for place, mark in reversed(marks):
        new = new[: len(new) - place + 1] + mark + new[len(new) - place + 1 :]
    return new


def _entries(key: str, only: tuple[str, ...] = ()) -> tuple[tuple[str, str], ...]:
    found = tuple(lists.two(line) for line in lists.words("words.toml", key))
    return tuple(pair for pair in found if not only or pair[0] in only)


_PLACES = dict(lists.pairs("places.txt"))
_CHANGES: tuple[Callable[[Pair, Generator], Pair], ...] = (
    _name("Tom", "Tom", "male"),
    _name("Mary", "Maria|Mary", "female"),
    _among(tuple((town, _PLACES[town]) for town in _TOWNS), names.place),
    _among((("Tokyo", "Tokyo"),), names.place),
    _among(_entries("countries"), lambda rng: names.entry("countries", rng)),
    _among(_entries("languages", _LANGUAGES), lambda rng: names.entry("languages", rng)),
    _among(_entries("weekdays"), lambda rng: names.entry("weekdays", rng)),
    _among(_entries("months"), lambda rng: names.entry("months", rng)),
    digits,
    number_words,
)
_SPELLINGS = lists.pairs("spelling.txt")
_OTHER_SPELLING = {b: a for a, b in _SPELLINGS} | dict(_SPELLINGS)
_SPELLED = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, _OTHER_SPELLING), key=len, reverse=True))})\b")
