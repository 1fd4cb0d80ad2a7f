"""Sentence patterns with slots: `I need {thing.a}. | Ich brauche {thing.ein.acc}.` filled on both sides alike.

A slot is a kind of word, a digit where a kind comes twice (`{name1}`), and the form: in English `a`, `sg` or `pl`, in
German a determiner and a case, with the name of an adjective's slot at the end (`{thing.ein.acc.adj}`). Everything else
(names, numbers, times) is the same text in all forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from numpy.random import Generator

from training import counting, lists, names, nouns
from training.corpus import Pair

Words = tuple[str, str]  # English, German
_SLOT = re.compile(r"\{([a-z]+\d?)((?:\.[\w-]+)*)\}")
_AN = re.compile(r"\b([Aa]) (?=[aeiou]|8\b|11\b|18\b|hour|honest)(?!uni|use|usu|one\b|eu|u[- ])")
_SHORT = {
    "zu dem": "zum", "zu der": "zur", "in dem": "im", "in das": "ins", "an dem": "am", "an das": "ans",
    "von dem": "vom", "bei dem": "beim",
}  # fmt: skip
_SHORTENED = re.compile(rf"(?<!, )\b({'|'.join(_SHORT)})\b", re.IGNORECASE)  # after a comma it is a relative pronoun


class Binding:
    """What the slots of one row stand for; drawn when it is first asked for."""

    def __init__(self, rng: Generator) -> None:
        self.rng = rng
        self.drawn: dict[str, nouns.Noun | Words] = {}

    def value(self, slot: str) -> nouns.Noun | Words:
        """What a slot stands for; slots of one kind differ."""
        if slot not in self.drawn:
            new = self._draw(slot.rstrip("0123456789"))
            while new in self.drawn.values():
                new = self._draw(slot.rstrip("0123456789"))
            self.drawn[slot] = new
        return self.drawn[slot]

    def _draw(self, kind: str) -> nouns.Noun | Words:
        return WORDS[kind](self.rng) if kind in WORDS else names.pick(nouns.of(kind), self.rng)

    def english(self, slot: str, forms: list[str]) -> str:
        """The English for a slot."""
        value = self.value(slot)
        return value.english(forms[0]) if isinstance(value, nouns.Noun) else value[0]

    def german(self, slot: str, forms: list[str]) -> str:
        """The German for a slot."""
        value = self.value(slot)
        if not isinstance(value, nouns.Noun):
            if forms == ["s"]:  # every week: montags
                return f"{value[1].lower()}s"
            return names.genitive(value[1]) if forms == ["gen"] else value[1]
        adjective = self.value(forms[2]) if len(forms) > 2 else ("", "")
        assert not isinstance(adjective, nouns.Noun)
        return value.german(forms[0], forms[1] if len(forms) > 1 else "nom", adjective[1])

    def fill(self, pattern: str, language: Callable[[str, list[str]], str]) -> str:
        """A pattern with its slots filled in one of the two languages."""
        return _SLOT.sub(lambda m: language(m[1], m[2].split(".")[1:]), pattern)


def filled(en: str, de: str, rng: Generator) -> Pair:
    """Both sides of a pattern, filled alike."""
    binding = Binding(rng)
    return finished(binding.fill(en, binding.english), binding.fill(de, binding.german))


def finished(en: str, de: str) -> Pair:
    """`a` before a vowel, German prepositions and articles run together, capitals at the beginning, one space."""
    english = re.sub(r"\s+(?=[,.!?])", "", _AN.sub(r"\1n ", " ".join(en.split()))).replace("m..", "m.")
    german = _SHORTENED.sub(lambda m: _like(m[1], _SHORT[m[1].lower()]), " ".join(de.split()))
    german = re.sub(r"\s+(?=[,.!?])", "", german)
    return Pair(english[:1].upper() + english[1:], german[:1].upper() + german[1:])


def _like(old: str, new: str) -> str:
    return new.capitalize() if old[0].isupper() else new


def _same(text: str) -> Words:
    return text, text


def _number(n: int, rng: Generator, digits: float) -> Words:
    return _same(str(n)) if rng.random() < digits else (counting.english(n), counting.german(n))


def _count(rng: Generator) -> Words:
    return _number(int(rng.integers(2, 13 if rng.random() < 0.4 else 100)), rng, 0.3)


def _age(rng: Generator) -> Words:
    return _number(int(rng.integers(2, 100 if rng.random() < 0.4 else 20)), rng, 0.3)


def _hundreds(rng: Generator) -> Words:
    n = int(rng.integers(100, 1000))
    return _number(n if rng.random() < 0.6 else n // 100 * 100, rng, 0.7)


def _large(rng: Generator) -> Words:
    n = int(rng.integers(1, 1000)) * int(10 ** rng.integers(1, 5)) + (int(rng.integers(0, 1000)))
    return counting.grouped(n) if rng.random() < 0.6 else _same(str(n))


def _decimal(rng: Generator) -> Words:
    whole = int(rng.integers(0, 100 if rng.random() < 0.5 else 10))
    return counting.decimal(whole, str(int(rng.integers(1, 10))))


def _price(rng: Generator) -> Words:
    whole = int(rng.integers(1, 100 if rng.random() < 0.6 else 10))
    return counting.decimal(whole, f"{int(rng.integers(1, 20)) * 5:02d}")


def _clock(rng: Generator) -> Words:
    return counting.clock_words(
        int(rng.integers(1, 13)), int(rng.choice([0, 0, 0, 30, 30, 15, 45, 5, 10, 20, 40, 50, 55]))
    )


def _time(rng: Generator) -> Words:
    kind = rng.random()
    if kind < 0.5:
        return _clock(rng)
    if kind < 0.8:
        return counting.clock_digits(int(rng.integers(1, 24)), int(rng.integers(0, 60)))
    minute = int(rng.choice([0, 0, 15, 30, 45, int(rng.integers(0, 60))]))
    return counting.clock_halves(int(rng.integers(1, 24)), minute)


def _date(rng: Generator) -> Words:
    day, (en, de) = int(rng.integers(1, 32)), names.entry("months", rng)
    form = names.pick(
        (f"{day} {en}", f"{en} {day}", f"{en} {counting.nth(day)}", f"the {counting.nth(day)} of {en}"), rng
    )
    return form, f"{day}. {de}"


def _ordinal(rng: Generator) -> Words:
    n = int(rng.integers(1, 13 if rng.random() < 0.6 else 100))
    return counting.english_ordinal(n), counting.german_ordinal(n)


def _person(rng: Generator) -> Words:
    return _same(names.given("female" if rng.random() < 0.5 else "male", rng))


def _code(rng: Generator) -> Words:
    """Digits to copy: `4711`, `0176 4432`, `5 5 3 8 2`, `12-406`."""
    groups, mark = names.pick(((1, ""), (2, " "), (3, " "), (2, "-"), (int(rng.integers(3, 8)), "")), rng)
    longest = {1: 11, 2: 6, 3: 5}.get(groups, 1)
    sizes = rng.integers(1 if longest == 1 else 2, longest + 1, groups)
    parts = ["".join(str(digit) for digit in rng.integers(0, 10, int(size))) for size in sizes]
    return _same((mark or " ").join(parts))


def _adjective(section: str) -> Callable[[Generator], Words]:
    def draw(rng: Generator) -> Words:
        en, de = names.pick(lists.sections(nouns.FILE)[section], rng).split(" | ")
        return en, de

    return draw


WORDS: dict[str, Callable[[Generator], Words]] = {
    "female": lambda rng: _same(names.given("female", rng)),
    "male": lambda rng: _same(names.given("male", rng)),
    "name": _person,
    "surname": lambda rng: _same(names.surname(rng)),
    "place": names.place,
    "country": lambda rng: names.entry("countries", rng),
    "language": lambda rng: names.entry("languages", rng),
    "weekday": lambda rng: names.entry("weekdays", rng),
    "month": lambda rng: names.entry("months", rng),
    "season": lambda rng: names.entry("seasons", rng),
    "small": lambda rng: _number(int(rng.integers(2, 13)), rng, 0.15),
    "count": _count,
    "age": _age,
    "percent": lambda rng: _same(str(int(rng.integers(2, 100)))),
    "hundreds": _hundreds,
    "large": _large,
    "decimal": _decimal,
    "price": _price,
    "year": lambda rng: _same(str(int(rng.integers(1900, 2031)))),
    "digits": lambda rng: _same(str(int(rng.integers(1, 10 ** int(rng.integers(1, 7)))))),
    "code": _code,
    "clock": _clock,
    "time": _time,
    "date": _date,
    "ordinal": _ordinal,
    "adj": _adjective("adj"),
    "mood": _adjective("mood"),
    "taste": _adjective("taste"),
    "subject": _adjective("subject"),
    "colour": _adjective("colour"),
    "sport": _adjective("sport"),
    "instrument": _adjective("instrument"),
}
