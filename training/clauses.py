"""Clauses of everyday life: who (`subjects.txt`) does what (`verbs.txt`) in which kind of clause (`frames.txt`).

German puts the finite verb second, or last in a subordinate clause, and parts a prefix from it; `frames.txt` says
where each piece goes, and this file makes the pieces.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from numpy.random import Generator

from training import lists, names, nouns
from training.corpus import Pair
from training.slots import Binding, finished

ME, YOU, HE, SHE, WE, YE, THEY, SIE = range(8)
_ACC = ("mich", "dich", "sich", "sich", "uns", "euch", "sich", "sich")
_DAT = ("mir", "dir", "sich", "sich", "uns", "euch", "sich", "sich")
_MEIN = ("mein", "dein", "sein", "ihr", "unser", "euer", "ihr", "Ihr")
_MODALS = {
    "kann": "kann kannst kann können könnt", "muss": "muss musst muss müssen müsst",
    "will": "will willst will wollen wollt", "möchte": "möchte möchtest möchte möchten möchtet",
    "darf": "darf darfst darf dürfen dürft", "sollte": "sollte solltest sollte sollten solltet",
    "wird": "werde wirst wird werden werdet", "würde": "würde würdest würde würden würdet",
    "könnte": "könnte könntest könnte könnten könntet", "hat": "habe hast hat haben habt",
    "ist": "bin bist ist sind seid", "mag": "mag magst mag mögen mögt",
    "versucht": "versuche versuchst versucht versuchen versucht",
}  # fmt: skip
_DU = {"hält": "hältst", "lädt": "lädst", "tritt": "trittst", "hat": "hast", "mag": "magst"}
_DOUBLED = re.compile(r"^(swim|run|get|sit|put|cut|win|begin|forget|stop|plan|travel)$")
_PART = re.compile(r"\{([A-Za-zäöüß']+)(\d?)\}")
_LATE = re.compile(  # adverbs that come after a reflexive pronoun: `ruht sich gern aus`
    r"\b(immer|oft|nie|manchmal|gern|gestern|jetzt|schon|noch nie|morgen|seit \{small\} Jahren) (@acc|@dat)"
)
_FORCED = re.compile(r"\{B(\d)\}")


@dataclass(frozen=True)
class Subject:
    """Who does something."""

    en: str
    de: str
    person: int
    my: str

    @property
    def third(self) -> bool:
        """Whether the English verb takes an s."""
        return self.person in (HE, SHE)


@dataclass(frozen=True)
class Action:
    """What is done, in both languages."""

    base: str
    past: str
    participle: str
    rest: str
    infinitive: str  # with `_` after a separable prefix
    er: str  # third person, without the prefix
    ge: str
    auxiliary: str  # `hat` or `ist`
    object: str
    negated: str

    @property
    def prefix(self) -> str:
        """A separable prefix, or nothing."""
        return self.infinitive.rpartition("_")[0]


def drawn(rng: Generator) -> Pair:
    """A clause with everything in it drawn; "had" is no perfect in German (`hatte`), and left to the corpus."""
    frame, action = names.pick(frames(), rng), names.pick(actions(), rng)
    while action.ge == "gehabt" and "{g}" in frame[1]:
        frame = names.pick(frames(), rng)
    return clause(frame, action, rng)


def clause(frame: tuple[str, str], action: Action, rng: Generator) -> Pair:
    """A frame filled with an action and a subject that is drawn."""
    en, de = frame
    person = _FORCED.search(en)
    who = _of_person(int(person[1])) if person else names.pick(subjects(), rng)
    other = names.pick([s for s in subjects() if s.person != who.person], rng)
    binding = Binding(rng)
    english = _PART.sub(lambda m: _english_part(m[1], other if m[2] == "2" else who, action) or m[0], en)
    german = _PART.sub(lambda m: _german_part(m[1], other if m[2] == "2" else who, action, m[0]), de)
    english = english.replace("@my", who.my)
    german = _LATE.sub(r"\2 \1", german)
    german = _agreed(german, who, binding)
    return finished(binding.fill(english, binding.english), binding.fill(german, binding.german))


@functools.cache
def frames() -> tuple[tuple[str, str], ...]:
    """English and German of every frame, as often as its weight."""
    rows = [lists.fields(line) for line in lists.lines("frames.txt")]
    return tuple((en, de) for weight, en, de in rows for _ in range(int(weight)))


@functools.cache
def subjects() -> tuple[Subject, ...]:
    """All subjects."""
    rows = [lists.fields(line) for line in lists.lines("subjects.txt")]
    return tuple(Subject(en, de, int(person), my) for en, de, person, my in rows)


@functools.cache
def actions() -> tuple[Action, ...]:
    """All actions."""
    return tuple(parse(line) for line in lists.lines("verbs.txt"))


def parse(line: str) -> Action:
    """A line of `verbs.txt`."""
    verb, rest, german, *objects = lists.fields(line)
    base, *irregular = verb.split()
    past, participle = irregular or (regular_past(base),) * 2
    infinitive, er, ge, auxiliary = german.split()
    negated = objects[1] if len(objects) > 1 else f"{objects[0]} nicht"
    has = {"h": "hat", "s": "ist"}[auxiliary]
    return Action(base, past, participle, rest, infinitive, er, ge.replace("_", ""), has, objects[0], negated)


def regular_past(verb: str) -> str:
    """`plan` -> `planned`, `study` -> `studied`, `dance` -> `danced`."""
    if verb.endswith("e"):
        return verb + "d"
    if _DOUBLED.match(verb):
        return verb + verb[-1] + "ed"
    return re.sub(r"(?<=[^aeiou])y$", "i", verb) + "ed"


def with_s(verb: str) -> str:
    """The English third person: `goes`, `studies`, `buys`."""
    return {"have": "has"}.get(verb) or (verb + "es" if verb in ("do", "go") else nouns.english_plural(verb))


def ing(verb: str) -> str:
    """`running`, `dancing`, `seeing`."""
    if _DOUBLED.match(verb):
        return verb + verb[-1] + "ing"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith(("ee", "be")) else verb) + "ing"


def finite(infinitive: str, er: str, person: int) -> str:
    """The present of a German verb without its prefix, from its infinitive and its third person."""
    if er in ("hat", "mag"):
        return modal(er, person)
    if person in (HE, SHE):
        return er
    if person == YOU:
        if er in _DU:
            return _DU[er]
        return er if er[-2] in "sßzx" else er[:-1] + "st"
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    if person == ME:
        return (stem[:-2] + "l" if infinitive.endswith("eln") else stem) + "e"
    if person == YE:
        return stem + ("et" if stem[-1] in "td" or re.search(r"[^aeiouäöülrh][mn]$", stem) else "t")
    return infinitive


def modal(name: str, person: int) -> str:
    """The present (or subjunctive) of a modal verb or auxiliary, named by its third person."""
    return _MODALS[name].split()[(0, 1, 2, 2, 3, 4, 3, 3)[person]]


def _of_person(person: int) -> Subject:
    return next(s for s in subjects() if s.person == person)


def _english_part(name: str, who: Subject, action: Action) -> str | None:
    be = "am" if who.person == ME else "is" if who.third else "are"
    do, have = ("does", "has") if who.third else ("do", "have")
    forms: Mapping[str, str] = {
        "S": who.en, "V": f"{with_s(action.base) if who.third else action.base} {action.rest}",
        "B": f"{action.base} {action.rest}", "P": f"{action.past} {action.rest}",
        "X": f"{action.participle} {action.rest}", "G": f"{ing(action.base)} {action.rest}",
        "do": do, "Do": do.capitalize(), "don't": "doesn't" if who.third else "don't", "didn't": "didn't",
        "have": have, "Have": have.capitalize(), "be": be, "was": "was" if who.third or who.person == ME else "were",
        "must": "has to" if who.third else "have to", "want": "wants" if who.third else "want",
        "like": "likes" if who.third else "like", "try": "tries" if who.third else "try",
    }  # fmt: skip
    return forms.get(name)


def _german_part(name: str, who: Subject, action: Action, otherwise: str) -> str:
    if name in _MODALS:
        return modal(name, who.person)
    bare = action.infinitive.rpartition("_")[2]
    now = finite(bare, action.er, who.person)
    forms = {
        "S": who.de, "v": now, "p": action.prefix, "o": action.object, "n": action.negated,
        "e": action.prefix + now, "i": action.prefix + bare, "g": action.ge, "h": modal(action.auxiliary, who.person),
        "z": f"{action.prefix}zu{bare}" if action.prefix else f"zu {bare}",
    }  # fmt: skip
    return forms.get(name, otherwise)


def _agreed(german: str, who: Subject, binding: Binding) -> str:
    """What goes with the subject: `@acc`, `@dat`, `@meine`, and `@mein {kind}` or `@meindat {kind}` with the noun."""
    mein = _MEIN[who.person]
    german = re.sub(r"@mein(dat)? \{(\w+)\}", lambda m: binding.german(m[2], [mein, "dat" if m[1] else "acc"]), german)
    german = german.replace("@acc", _ACC[who.person]).replace("@dat", _DAT[who.person])
    return german.replace("@meine", f"{mein}e".replace("euere", "eure"))
