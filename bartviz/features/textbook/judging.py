"""Statements of the textbook: a claim of the articles in our words, and the numbers that judge it.

Verdicts are always computed from the numbers of a claim (``Verdict.word``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Literal, get_args

from bartviz.families.catalogue import EMBEDDED
from bartviz.language import _, later, mark
from bartviz.record.record import Record, open_record
from bartviz.teaching import prose

HOME = Path(__file__).parent
Word = Literal["holds", "caveat", "fails", "undecided"]
WORDS: tuple[Word, ...] = get_args(Word)
NAMES: Mapping[Word, str] = {
    "holds": mark("True"),
    "caveat": mark("It depends"),
    "fails": mark("False"),
    "undecided": mark("Cannot be tested here"),
}
SIGNS: Mapping[Word, str] = {"holds": "✓", "caveat": "~", "fails": "✗", "undecided": "?"}

Chapter = Literal["sizes", "masks", "arithmetic", "inputs", "generation", "pretraining", "cost", "heads"]
CHAPTERS: Mapping[Chapter, str] = {
    "sizes": mark("Sizes and parameters"),
    "masks": mark("Masks"),
    "arithmetic": mark("Attention arithmetic"),
    "inputs": mark("Input representation"),
    "generation": mark("Generation"),
    "pretraining": mark("Pre-training"),
    "cost": mark("Cost"),
    "heads": mark("What heads do"),
}

# What many people believe, of several chapters, with the terms of the glossary that each needs: with these a visitor
# begins, the plainest first, as they need no formula. Their verdicts are computed as all others are.
BELIEVED: Mapping[str, tuple[str, ...]] = {
    "31d": ("token", "encoder"),
    "35e": ("cross-attention", "alignment"),
    "35c": ("token", "head", "weight"),
    "22d": ("decoder", "cross-attention"),
    "24": ("decoder", "special token"),
    "17b": ("decoder", "causal"),
    "29b": ("decoder",),
    "4": ("encoder", "decoder", "embedding", "parameters"),
}

Source = Literal["bart chapter", "bert chapter", "seq", "korean", "notes", "none"]
SOURCES: Mapping[Source, str] = {
    "bart chapter": mark("handbook chapter “BART Architecture: Encoder-Decoder Design for NLP”"),
    "bert chapter": mark("handbook chapter “BERT Architecture”"),
    "seq": mark("notebook “Transformer-based Encoder-Decoder Models”"),
    "korean": mark("Korean blog post “AI 아키텍쳐 2. BART”"),
    "notes": mark("study notes “BART as De-noising Auto-encoder”"),
    "none": mark("a common rule of thumb, not from the articles"),
}

About = Literal["arithmetic", "any network", "trained"]
ABOUT: Mapping[About, str] = {
    "arithmetic": mark("configurations, formulas and code: it is checked by counting"),
    "any network": mark("any trained network: one run is enough to judge it"),
    "trained": mark("what large networks learn: only a run of a large one can judge it"),
}

Value = int | float | str


class Share(float):
    """A part of a whole, written in percent."""


START, PAIR, WORDS_RECORD = "start", "mask", "words"  # records that ship with the package
BERT_RUN = {"model": "bert-tiny-en", "text": "The cat did not cross the street because it was too tired."}
PAIR_RUN = {"model": "bert-tiny-en", "text": "I want to buy a [MASK].", "pair": "It is very old.", "special": "true"}
MODEL = "bart-tiny-en-de"  # what the lines without a check of their own are run on
NEARLY = Share(0.02)  # "about 110 million": within 2%
ROUNDING = 1e-4  # how far two runs of the same numbers in other shapes may be apart
MOST_TOKENS = 128  # of a visitor's own run, so that a line is judged at once
DEEP = 6  # layers of a network that can represent those that claims are about: the smallest distilled ones have 6
SMALL = later(
    "The statement is about large trained networks, and a network this small neither supports nor refutes it."
)
RUN_ONE = later("Run a trained model of {layers} layers or more to have it judged.", layers=DEEP)


@dataclass(frozen=True, slots=True)
class Bound:
    """A claimed number that is not one value: more than, at most, ..."""

    sign: Literal["<", "≤", ">", "≥"]
    than: int | float

    def holds(self, found: int | float) -> bool:
        """Whether the found number keeps to it."""
        return bool({"<": lt, "≤": le, ">": gt, "≥": ge}[self.sign](found, self.than))


@dataclass(frozen=True, slots=True)
class Between:
    """A claimed number of which only the ends are given."""

    low: int | float
    high: int | float

    def holds(self, found: int | float) -> bool:
        """Whether the computed number is between the ends, or equal to one."""
        return self.low <= found <= self.high


@dataclass(frozen=True, slots=True)
class Number:
    """A claimed number and the computed one. Whether they agree follows from what is written, and from nothing else.

    ``within``: how far the found one may be from the claimed one, a ``Share`` of it or a number; 0: they are equal.
    ``core``: the claim fails if it does not agree. Other numbers are details or additions: if one of them does not
    agree, the claim holds with a caveat.
    """

    label: str
    claimed: Value | Bound | Between
    found: Value
    core: bool = True
    within: float = 0

    @property
    def agrees(self) -> bool:
        """Whether the claim holds for this number."""
        if isinstance(self.claimed, str) or isinstance(self.found, str):
            return self.claimed == self.found
        if isinstance(self.claimed, Bound | Between):
            return self.claimed.holds(self.found)
        away = self.within * abs(self.claimed) if isinstance(self.within, Share) else self.within
        return abs(self.found - self.claimed) <= away

    @property
    def stated(self) -> str:
        """The claimed number with how far the found one may be from it, in the reader's language."""
        if isinstance(self.claimed, Bound):
            return f"{self.claimed.sign} {text(self.claimed.than)}"
        if isinstance(self.claimed, Between):
            return f"{text(self.claimed.low)} – {text(self.claimed.high)}"
        return f"{text(self.claimed)} ± {text(self.within)}" if self.within else text(self.claimed)


def above(than: int | float) -> Bound:
    """More than that."""
    return Bound(">", than)


def below(than: int | float) -> Bound:
    """Less than that."""
    return Bound("<", than)


def at_least(than: int | float) -> Bound:
    """That or more."""
    return Bound("≥", than)


def at_most(than: int | float) -> Bound:
    """That or less."""
    return Bound("≤", than)


def yes(true: bool) -> str:
    """Yes or no, as a claimed or found value."""
    return later("yes") if true else later("no")


@dataclass(frozen=True)
class Verdict:
    """The numbers of a claim, one sentence why, and the model or record they are computed on.

    ``decides``: False if the numbers cannot decide the claim: ``Claim.judged`` sets it.
    ``large``: whether they are of a large trained network; None if no run of a visitor could give them.
    """

    numbers: tuple[Number, ...]
    why: str
    basis: str
    decides: bool = True
    large: bool | None = None

    def __post_init__(self) -> None:
        if not any(number.core for number in self.numbers):
            raise ValueError("a verdict needs a number that the claim stands or falls with")

    @property
    def word(self) -> Word:
        """holds, caveat or fails by the numbers; undecided if they cannot decide it."""
        if not self.decides:
            return "undecided"
        if not all(number.agrees for number in self.numbers if number.core):
            return "fails"
        return "holds" if all(number.agrees for number in self.numbers) else "caveat"


@dataclass(frozen=True)
class Evidence:
    """The run that claims are judged by: the visitor's own if it fits, else a shipped one."""

    own: Record | None = None

    def shipped(self, name: str) -> tuple[Record, str]:
        """A record of the package, and its name in words."""
        record = _shipped(name)
        return record, later("a saved run of {model} on “{text}”", model=record.model.name, text=record.source_text)

    def read(self) -> tuple[Record, str, bool]:
        """A run of a BERT: the visitor's if it is a trained one of at least ``DEEP`` layers, and whether it is."""
        own = self._trained()
        if own is None or own.model.kind != "encoder" or own.model.encoder_layers < DEEP:
            return *self.shipped(WORDS_RECORD), False
        attention = own.attention("encoder")
        if not 4 <= len(attention.query) <= MOST_TOKENS or not attention.mask.all():
            return *self.shipped(WORDS_RECORD), False
        return own, later("your run of {model}", model=own.model.name), True

    def written(self) -> tuple[Record, str, bool]:
        """A run of a trained encoder-decoder with steps, and whether it has at least ``DEEP`` layers in each stack.

        The visitor's if it is neither long nor a single token, and has no padding.
        """
        own = self._trained()
        if own is None or own.cross is None or own.encoder is None or not own.steps:
            return *self.shipped(START), False
        sizes = own.cross.shape[2:]
        if not 2 <= min(sizes) <= max(sizes) <= MOST_TOKENS or not own.encoder.mask.all():
            return *self.shipped(START), False
        deep = min(own.model.encoder_layers, own.model.decoder_layers) >= DEEP
        return own, later("your run of {model}", model=own.model.name), deep

    def _trained(self) -> Record | None:
        """The visitor's run, if it is of a trained network and computed from queries and keys."""
        own = self.own
        return None if own is None or own.from_weights or not own.model.trained else own


class AsksForRun(Exception):
    """A check wants to know what the visitor has run."""


@dataclass(frozen=True)
class NoRun(Evidence):
    """Evidence for the checks that no run of a visitor changes; the others raise AsksForRun."""

    def _trained(self) -> Record | None:
        raise AsksForRun


@lru_cache
def _shipped(name: str) -> Record:
    return open_record(EMBEDDED / "records" / f"{name}.safetensors")


Check = Callable[[Evidence], Verdict]


@dataclass(frozen=True)
class Claim:
    """One line. Its two paragraphs in ``claims.en.md``, and in the file of each other language, are its ``title`` and
    the claim in our words. ``page`` and ``query`` show it.

    A query with a ``model`` runs it on its ``text``, in a new visit.

    ``check`` judges it without torch; if it is None, the claim needs runs of a model (``textbook.measured``).
    ``about``: what it is about, and so what can decide it.
    """

    number: str
    chapter: Chapter
    sources: tuple[Source, ...]
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    check: Check | None = None
    about: About = "arithmetic"

    def judged(self, verdict: Verdict) -> Verdict:
        """The verdict; undecided where a small network is measured for a claim about large ones."""
        if self.about != "trained" or verdict.large:
            return verdict
        why = later("{why} {small}", why=verdict.why, small=SMALL)
        if verdict.large is False:
            why = later("{why} {small}", why=why, small=RUN_ONE)
        return replace(verdict, why=why, decides=False)

    @property
    def title(self) -> str:
        """Its subject, in the reader's language."""
        return prose.paragraphs(HOME, "claims", self.number)[0]

    @property
    def said(self) -> str:
        """The claim, in the reader's language."""
        return prose.paragraphs(HOME, "claims", self.number)[1]

    @property
    def source(self) -> str:
        """The articles with this claim, in the reader's language."""
        return "; ".join(_(SOURCES[name]) for name in self.sources)


def text(value: Value) -> str:
    """The text of a value: a formatted number, or a translated message."""
    if isinstance(value, str):
        return value if type(value) is str else _(value)
    if isinstance(value, Share):
        return f"{100 * value:.4g}%"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if abs(value) >= 1e-3 or value == 0 else f"{value:.1e}"


CONFIGURATION = mark("configurations of the catalogue, counted in closed form")
