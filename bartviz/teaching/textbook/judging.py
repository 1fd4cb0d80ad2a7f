"""Lines of the ledger: a claim of the articles in our words, and the numbers that judge it.

Verdicts are always computed from the numbers of a claim (``Verdict.word``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
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
    "holds": mark("holds"),
    "caveat": mark("holds, with a caveat"),
    "fails": mark("does not hold"),
    "undecided": mark("not decided here"),
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

Source = Literal["bart chapter", "bert chapter", "seq", "korean", "notes", "none"]
SOURCES: Mapping[Source, str] = {
    "bart chapter": mark("handbook chapter “BART Architecture: Encoder-Decoder Design for NLP”"),
    "bert chapter": mark("handbook chapter “BERT Architecture”"),
    "seq": mark("notebook “Transformer-based Encoder-Decoder Models”"),
    "korean": mark("Korean blog post “AI 아키텍쳐 2. BART”"),
    "notes": mark("study notes “BART as De-noising Auto-encoder”"),
    "none": mark("none of the articles: a rule of thumb that is often heard"),
}

Value = int | float | str
START, PAIR, WORDS_RECORD = "start", "mask", "words"  # records that ship with the package
BERT_RUN = {"model": "bert-tiny-en", "text": "The cat did not cross the street because it was too tired."}
PAIR_RUN = {"model": "bert-tiny-en", "text": "I want to buy a [MASK].", "pair": "It is very old.", "special": "true"}
MODEL = "bart-tiny-en-de"  # what the lines without a check of their own are run on
ABOUT = 0.02  # "about 110 million": within 2%
MOST_TOKENS = 128  # of a visitor's own run, so that a line is judged at once
DEEP = 6  # layers of a BERT that can speak for those that the claims are about: the smallest distilled ones have 6


@dataclass(frozen=True, slots=True)
class Number:
    """A claimed number and the computed one; ``agrees``: whether the claim holds for it.

    ``core``: the claim fails if it does not agree. Other numbers are details or additions: if one of them does not
    agree, the claim holds with a caveat.
    """

    label: str
    claimed: Value
    found: Value
    agrees: bool
    core: bool = True


@dataclass(frozen=True)
class Verdict:
    """The numbers of a claim, one sentence why, and the model or record they are computed on.

    ``decides``: False if the numbers cannot decide the claim, such as one about large trained models that was measured
    on a small one.
    """

    numbers: tuple[Number, ...]
    why: str
    basis: str
    decides: bool = True

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
        return record, later(
            "the run of {model} on “{text}” that ships", model=record.model.name, text=record.source_text
        )

    def read(self) -> tuple[Record, str, bool]:
        """A run of a BERT: the visitor's if it is a trained one of at least ``DEEP`` layers, and whether it is."""
        own = self.own
        if own is None or own.from_weights or not own.model.trained:
            return *self.shipped(WORDS_RECORD), False
        if own.model.kind != "encoder" or own.model.encoder_layers < DEEP:
            return *self.shipped(WORDS_RECORD), False
        attention = own.attention("encoder")
        if not 4 <= len(attention.query) <= MOST_TOKENS or not attention.mask.all():
            return *self.shipped(WORDS_RECORD), False
        return own, later("your run of {model}", model=own.model.name), True

    def written(self) -> tuple[Record, str]:
        """A run of an encoder-decoder with steps: the visitor's if it is neither long nor a single token, and has no
        padding."""
        own = self.own
        if own is None or own.cross is None or own.encoder is None or not own.steps:
            return self.shipped(START)
        sizes = own.cross.shape[2:]
        if not 2 <= min(sizes) <= max(sizes) <= MOST_TOKENS or not own.encoder.mask.all():
            return self.shipped(START)
        return own, later("your run of {model}", model=own.model.name)


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
    """

    number: str
    chapter: Chapter
    sources: tuple[Source, ...]
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    check: Check | None = None

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


def number(label: str, claimed: Value, found: Value, agrees: bool | None = None, *, core: bool = True) -> Number:
    """A ``Number``; by default it agrees if both are equal."""
    return Number(label, claimed, found, claimed == found if agrees is None else agrees, core)


def text(value: Value) -> str:
    """The text of a value: a formatted number, or a translated message."""
    if isinstance(value, str):
        return value if type(value) is str else _(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if abs(value) >= 1e-3 or value == 0 else f"{value:.1e}"


def near(claimed: float, found: float, share: float) -> bool:
    """Whether the found number is within a share of the claimed one."""
    return abs(found - claimed) <= share * abs(claimed)


CONFIGURATION = mark("configurations of the catalogue, counted in closed form")
