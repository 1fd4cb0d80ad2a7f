"""Nouns and adjectives of `training/data/nouns.txt`, with the endings that German gives them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from training import lists

FILE = "nouns.txt"
CASES = ("nom", "acc", "dat")
# endings of der-words, ein-words, and adjectives after each, by gender (m, f, n, p = plural) and case
_DER = {"m": ("er", "en", "em"), "f": ("e", "e", "er"), "n": ("es", "es", "em"), "p": ("e", "e", "en")}
_EIN = {"m": ("", "en", "em"), "f": ("e", "e", "er"), "n": ("", "", "em"), "p": ("e", "e", "en")}
_AFTER_DER = {"m": ("e", "en", "en"), "f": ("e", "e", "en"), "n": ("e", "e", "en"), "p": ("en", "en", "en")}
_AFTER_EIN = {"m": ("er", "en", "en"), "f": ("e", "e", "en"), "n": ("es", "es", "en"), "p": ("en", "en", "en")}
_ARTICLE = {"m": ("der", "den", "dem"), "f": ("die", "die", "der"), "n": ("das", "das", "dem"), "p": ("die",) * 3}
_GENDER = {"der": "m", "die": "f", "das": "n"}
_EIN_WORDS = frozenset(("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer", "Ihr"))


@dataclass(frozen=True)
class Noun:
    """A noun in both languages; `weak`: other cases than the nominative take the form of the plural."""

    en: str
    en_plural: str
    de: str
    de_plural: str
    gender: str
    weak: bool

    def english(self, form: str) -> str:
        """`a` (a book), `sg` (book) or `pl` (books)."""
        return {"a": f"a {self.en}", "sg": self.en, "pl": self.en_plural}[form]

    def german(self, word: str, case: str = "nom", adjective: str = "") -> str:
        """The noun after a determiner, an adjective between: `german("ein", "acc", "rot")` is `einen roten Apfel`.

        `sg` and `pl` as the word give the noun without determiner, `der-pl` and the like the plural, and `next` is
        `der nächste`.
        """
        if word == "next":
            word, adjective = "der", "nächst"
        word, _, number = word.partition("-")
        gender = "p" if number == "pl" or word == "pl" else self.gender
        place = CASES.index(case)
        noun = self._noun(gender == "p", place)
        if word in ("sg", "pl"):
            strong = adjective and adjective_form(adjective, _DER[gender][place])
            return f"{strong} {noun}".strip()
        after = _AFTER_EIN if word in _EIN_WORDS else _AFTER_DER
        middle = f"{adjective_form(adjective, after[gender][place])} " if adjective else ""
        return f"{determiner(word, gender, place)} {middle}{noun}"

    def _noun(self, plural: bool, place: int) -> str:
        if plural:
            return self.de_plural + ("n" if place == 2 and self.de_plural[-1] not in "nsa" else "")
        return self.de_plural if self.weak and place else self.de


def determiner(word: str, gender: str, place: int) -> str:
    """`der`, `dieser`, `welcher`, `ein`, `mein` ... with its ending."""
    if word == "der":
        return "den" if gender == "p" and place == 2 else _ARTICLE[gender][place]
    if word in _EIN_WORDS:
        ending = _EIN[gender][place]
        return ("eur" if word == "euer" and ending else word) + ending
    return word.removesuffix("er") + _DER[gender][place]  # dieser, welcher, jeder


def adjective_form(adjective: str, ending: str) -> str:
    """An adjective with its ending: `teuer`, `teure`; `hoch` is not in the lists."""
    stem = adjective[:-2] + "r" if adjective.endswith(("euer", "auer")) else adjective
    return stem + (ending[1:] if stem.endswith("e") else ending)


@functools.cache
def of(section: str) -> tuple[Noun, ...]:
    """The nouns of a section."""
    return tuple(parse(line) for line in lists.sections(FILE)[section])


def parse(line: str) -> Noun:
    """One line: `knife/knives | das Messer, Messer`."""
    english, german = lists.fields(line)
    en, _, plural = english.partition("/")
    singular, _, de_plural = german.partition(", ")
    article, de = singular.split(" ", 1)
    return Noun(
        en, plural or english_plural(en), de.removesuffix("*"), de_plural, _GENDER[article], singular.endswith("*")
    )


def english_plural(word: str) -> str:
    """The regular plural."""
    first, middle, rest = word.partition(" of ")
    if middle:
        return english_plural(first) + middle + rest
    if re.search(r"(s|sh|ch|x|[^aeiou]o)$", word) and word not in ("piano", "photo", "radio", "zoo"):
        return word + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", word) + "s"
