"""What a lesson is: data. Each step names a page, the view of it, what to look at, a question and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from bartviz.language import _
from bartviz.record.record import Record

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

    ``see`` (what to look at), ``ask`` and ``answer`` are messages that are marked; the names in braces are filled by
    ``facts`` from the record that the step shows, so that a number or a token in them is never older than the model.
    ``focus``: the key of the element that is brought into sight where it is not at the top of the page.
    """

    page: str
    see: str
    ask: str
    answer: str
    view: View = field(default_factory=dict)
    facts: Facts | None = None
    record: str = "start"
    focus: str = ""

    @property
    def whole(self) -> View:
        """The view with all that the page shows by default."""
        return {**DEFAULTS[self.page], **self.view}

    def say(self, message: str, record: Record) -> str:
        """One of the step's messages in the visitor's language, filled from the record."""
        return _(message, **(self.facts(record) if self.facts is not None else {}))


@dataclass(frozen=True, slots=True)
class Lesson:
    """One tour: ``word`` is its name in the address; ``title`` and ``about`` are marked messages."""

    word: str
    title: str
    about: str
    minutes: int
    steps: tuple[Step, ...]
