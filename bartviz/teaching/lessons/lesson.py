"""What a lesson is: data. Each step names a page and the view of it; its text lies in a file for each language.

The section ``lesson`` of ``heads.en.md`` has two paragraphs, the title and what the lesson is about. The sections
``1``, ``2``, ... have three for each step: what to look at, a question, its answer. They are plain text, no Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from bartviz.language import fill
from bartviz.record.record import Record
from bartviz.teaching import prose

HOME = Path(__file__).parent
Value: TypeAlias = str | int | float | bool
View: TypeAlias = Mapping[str, Value]
Facts: TypeAlias = Callable[[Record], Mapping[str, object]]

# What a page shows where a step does not say otherwise: a step sets all of it, so that no step depends on another.
_MAP: View = {"layer": 0, "head": 0, "row": 0, "words": False, "view": "map", "range": "fixed", "reading": "predicts"}
DEFAULTS: Mapping[str, View] = {
    "start": {},
    "inputs": {"look": "pieces"},
    "masks": {"view": "pattern"},
    "inside": {"layer": 0, "head": 0, "row": 0, "follow": True, "order": "dimension"},
    "heads": {**_MAP, "weights": "head", "small": "all", "hide": False},
    "compare": {"words": False, "view": "map", "range": "fixed"},
    "decoding": {"step_weights": "layer", "layer": 2, "step": 1, "reading": "predicts"},
    "denoising": {"noise": "infilling", "text_of": "sentence", "noise_seed": 1, "look": "tokens"},
    "experiments": {},
    "alignment": {"align": "best", "reading": "predicts"},
    "parameters": {"of": "facebook/bart-base", "part": "all"},
}
ADDRESS: Mapping[str, tuple[str, ...]] = {"decoding": ("step", "reading")}  # read from the address, not from a widget


@dataclass(frozen=True, slots=True)
class Step:
    """One step: ``view`` holds the page's own words of the address, with the values of its pickers.

    The names in braces in its text are filled by ``facts`` from the record that the step shows, so that a number or a
    token in it is never older than the model. ``focus``: the key of the element that is brought into sight where it is
    not at the top of the page.
    """

    page: str
    view: View = field(default_factory=dict)
    facts: Facts | None = None
    record: str = "start"
    focus: str = ""

    @property
    def whole(self) -> View:
        """The view with all that the page shows by default."""
        return {**DEFAULTS[self.page], **self.view}


@dataclass(frozen=True, slots=True)
class Told:
    """What a step says, in one language: what to look at, the question, the answer."""

    see: str
    ask: str
    answer: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """One tour: ``word`` is its name in the address, and that of its files of text."""

    word: str
    minutes: int
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        return prose.paragraphs(HOME, self.word, "lesson")[0]

    @property
    def about(self) -> str:
        return prose.paragraphs(HOME, self.word, "lesson")[1]

    def told(self, at: int, record: Record) -> Told:
        """What the step at ``at``, which counts from 0, says of the record that it shows."""
        facts = self.steps[at].facts
        values = {} if facts is None else facts(record)
        see, ask, answer = prose.paragraphs(HOME, self.word, str(at + 1))
        return Told(fill(see, values), fill(ask, values), fill(answer, values))
