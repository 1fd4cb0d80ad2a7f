"""Whether names, places, numbers and times arrive: 200 sentences with names that no list for training holds.

Each is a sentence with what its translation must contain, written out by `held_out.toml` from its own names and by
`training.counting` from numbers drawn with a fixed seed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from training import counting, lists, names
from training.slots import Words

COUNT, SEED = 200, 4
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Case:
    """A sentence, and the pieces that must be in its translation: each a choice of texts."""

    en: str
    needed: tuple[frozenset[str], ...]


@functools.cache
def cases() -> tuple[Case, ...]:
    """The sentences, the same every time: each pattern of `held_out.toml` about equally often."""
    rng = np.random.default_rng(SEED)
    patterns = lists.words("held_out.toml", "sentences")
    return tuple(case(patterns[i % len(patterns)], rng) for i in range(COUNT))


def case(pattern: str, rng: Generator) -> Case:
    """A pattern with its slots filled."""
    needed: list[frozenset[str]] = []

    def fill(match: re.Match[str]) -> str:
        en, *accepted = _DRAW[match[1].rstrip("0123456789")](rng)
        needed.append(frozenset(accepted))
        return en

    return Case(_SLOT.sub(fill, pattern), tuple(needed))


def arrived(case: Case, german: str) -> list[bool]:
    """For each needed piece whether it stands in the translation, as whole words."""
    return [any(_stands(piece, german) for piece in choice) for choice in case.needed]


def share(found: Sequence[Case], translate: Callable[[list[str]], list[str]]) -> tuple[float, float]:
    """Share of sentences in which everything arrives, and share of pieces that arrive."""
    german = translate([case.en for case in found])
    hits = [arrived(case, text) for case, text in zip(found, german, strict=True)]
    return sum(map(all, hits)) / len(hits), sum(map(sum, hits)) / sum(map(len, hits))


def _stands(piece: str, text: str) -> bool:
    """A name may have the s of the genitive; a number may not stand inside a larger one."""
    return re.search(rf"(?<![\w]){re.escape(piece)}s?(?![\w]|[.,:]\d)", text) is not None


def _held(key: str) -> Callable[[Generator], tuple[str, ...]]:
    return lambda rng: (names.pick(lists.words("held_out.toml", key), rng),) * 2


def _both(n: int, rng: Generator) -> tuple[str, ...]:
    """A number in words or digits; either is right in the translation."""
    return (counting.english(n) if rng.random() < 0.6 else str(n)), counting.german(n), str(n)


def _time(rng: Generator) -> tuple[str, ...]:
    """A time in words or digits, and the ways to write it in German."""
    hour, minute = int(rng.integers(1, 13)), int(rng.integers(0, 12)) * 5
    en, de = counting.clock_words(hour, minute)
    digits = f"{hour}:{minute:02d}"
    if rng.random() < 0.5:
        en = digits
    short = [de.removesuffix(" Uhr")] if minute else [de, f"{hour} Uhr"]
    return en, *short, digits, digits.replace(":", "."), f"{hour} Uhr {minute}"


def _price(rng: Generator) -> Words:
    return counting.decimal(int(rng.integers(1, 60)), f"{int(rng.integers(2, 20)) * 5:02d}")


def _day(rng: Generator) -> Words:
    day, (en, de) = int(rng.integers(2, 31)), names.entry("months", rng)
    return f"{en} {counting.nth(day)}" if rng.random() < 0.5 else f"{day} {en}", f"{day}. {de}"


_DRAW: dict[str, Callable[[Generator], tuple[str, ...]]] = {
    "female": _held("female"),
    "male": _held("male"),
    "surname": _held("surnames"),
    "place": _held("places"),
    "small": lambda rng: _both(int(rng.integers(2, 13)), rng),
    "number": lambda rng: _both(int(rng.integers(13, 100)), rng),
    "long": lambda rng: (str(int(rng.integers(100, 100_000))),) * 2,
    "year": lambda rng: (str(int(rng.integers(1900, 2030))),) * 2,
    "time": _time,
    "price": _price,
    "day": _day,
}
