"""Names to put into rows: from lists, and made up of syllables, so that any name is copied and not only known ones."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TypeVar

from numpy.random import Generator

from training import lists

T = TypeVar("T")
INVENTED = 0.3  # share of names that are made up
VOWELS = ("a", "e", "i", "o", "u")  # more often than the other sounds
_LISTS, _HELD = "names.toml", "held_out.toml"


def pick(items: Sequence[T], rng: Generator) -> T:
    """One of the items."""
    return items[int(rng.integers(len(items)))]


def invented(kind: str, rng: Generator) -> str:
    """A name that is made up: `Drelina`, `Kortmann`."""
    while True:
        middle = "".join(_vowel(rng) + _part("inner", rng) for _ in range(int(rng.integers(1, 3))))
        name = (_part("begin", rng) + middle + _part(f"{kind}_end", rng)).capitalize()
        if name not in held_out():
            return name


def _vowel(rng: Generator) -> str:
    return pick(VOWELS, rng) if rng.random() < 0.6 else _part("vowel", rng)


def _part(key: str, rng: Generator) -> str:
    return pick(lists.words(_LISTS, key), rng)


@functools.cache
def held_out() -> frozenset[str]:
    """The names that are for measuring only."""
    return frozenset(name for key in ("female", "male", "surnames", "places") for name in lists.words(_HELD, key))


def given(kind: str, rng: Generator) -> str:
    """A given name, `female` or `male`."""
    return invented(kind, rng) if rng.random() < INVENTED else pick(lists.words(_LISTS, kind), rng)


def surname(rng: Generator) -> str:
    """A surname."""
    return invented("surnames", rng) if rng.random() < INVENTED else pick(lists.words(_LISTS, "surnames"), rng)


def place(rng: Generator) -> tuple[str, str]:
    """A town in English and German."""
    if rng.random() < INVENTED:
        name = invented("places", rng)
        return name, name
    return pick(lists.pairs("places.txt"), rng)


def entry(key: str, rng: Generator) -> tuple[str, str]:
    """An entry of `words.toml`: a country, language, day, month or season in English and German."""
    return lists.two(pick(lists.words("words.toml", key), rng))


def genitive(name: str) -> str:
    """The German genitive of a name: `Annas`, `Hans'`."""
    return name + ("'" if name[-1] in "sxzß" else "s")
