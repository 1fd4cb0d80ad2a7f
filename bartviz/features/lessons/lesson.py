"""Lessons as data. Each step names a page and a view of it; its text is in one file per language.

The section ``lesson`` of ``heads.en.md`` has three paragraphs: the title, what the lesson is about, and the one
thing learned in it. Each of the
sections ``1``, ``2``, ... has three: what to look at, a question, its answer. They are plain text without Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from bartviz.language import fill
from bartviz.record.record import Record
from bartviz.serving import saved_records as records
from bartviz.teaching import prose

HOME = Path(__file__).parent
Value: TypeAlias = str | int | float | bool
View: TypeAlias = Mapping[str, Value]
Facts: TypeAlias = Callable[[Record], Mapping[str, object]]

# The default view of each page. A step sets all of these values, so that no step depends on another.
_MAP: View = {"layer": 0, "head": 0, "row": 0, "words": False, "view": "map", "range": "fixed", "reading": "predicts"}
DEFAULTS: Mapping[str, View] = {
    "start": {},
    "inputs": {"look": "pieces"},
    "masks": {"view": "pattern", "row": 0, "reading": "predicts"},
    "inside": {"layer": 0, "head": 0, "row": 0, "follow": True, "order": "dimension"},
    "heads": {**_MAP, "weights": "head", "small": "all", "hide": False},
    "compare": {"words": False, "view": "map", "range": "fixed"},
    "decoding": {"step_weights": "layer", "layer": 2, "step": 1, "reading": "predicts"},
    "denoising": {"noise": "infilling", "text_of": "sentence", "noise_seed": 1, "look": "tokens"},
    "experiments": {},
    "alignment": {"align": "best", "reading": "predicts"},
    "parameters": {"of": "facebook/bart-base", "part": "all"},
    "corpus": {"atlas": "bart-tiny-en-de", "kind": "cross", "by": "alignment", "layer": 0, "head": 0},
}
# The CSS selector of each page's own picture.
PICTURES: Mapping[str, str] = {
    "start": ".st-key-ribbons",
    "masks": ".st-key-squares",
    "inside": ".st-key-inside_row",
    "heads": "[class*='st-key-canvas_']",
    "compare": ".st-key-compare_all",
    "decoding": ".st-key-player",
    "denoising": ".st-key-denoising_lines",
    "alignment": ".st-key-alignment_lines",
    "parameters": ".st-key-parameters",
    "corpus": ".st-key-corpus_heads",
}
ADDRESS: Mapping[str, tuple[str, ...]] = {"decoding": ("step", "reading")}  # read from the address, not from a widget


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``view`` maps address words of the page to the values of its pickers, or finds them in the record.

    ``facts`` fills in the placeholders of its text from the step's record, so that numbers and tokens always match the
    model. ``focus`` is the key of the element that it is about, if that is not the page's picture.
    """

    page: str
    view: View | Callable[[Record], View] = field(default_factory=dict)
    facts: Facts | None = None
    record: str = "start"
    focus: str = ""

    @property
    def shown(self) -> View:
        """The view of the step's record."""
        return self.view(records.read(self.record)) if callable(self.view) else self.view

    @property
    def part(self) -> str:
        """The CSS selector of what the step is about: it is brought into sight."""
        return f".st-key-{self.focus}" if self.focus else PICTURES[self.page]

    @property
    def whole(self) -> View:
        """The view, completed with the defaults of the page."""
        return {**DEFAULTS[self.page], **self.shown}


@dataclass(frozen=True, slots=True)
class StepTexts:
    """The texts of a step in one language: what to look at, the question, the answer."""

    see: str
    ask: str
    answer: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """One tour. ``word`` is its name in the address and in the names of its text files."""

    word: str
    minutes: int
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        return prose.paragraphs(HOME, self.word, "lesson")[0]

    @property
    def about(self) -> str:
        return prose.paragraphs(HOME, self.word, "lesson")[1]

    @property
    def learned(self) -> str:
        """The one thing to take away, shown at its end."""
        return prose.paragraphs(HOME, self.word, "lesson")[2]

    def texts(self, at: int, record: Record) -> StepTexts:
        """The texts of step ``at`` (from 0), filled in from its record."""
        facts = self.steps[at].facts
        values = {} if facts is None else facts(record)
        see, ask, answer = prose.paragraphs(HOME, self.word, str(at + 1))
        return StepTexts(fill(see, values), fill(ask, values), fill(answer, values))
