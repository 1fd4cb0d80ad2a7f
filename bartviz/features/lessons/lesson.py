"""Lessons as data. Each step names a page and a view of it, and what answers it; its text is in one file per language.

The section ``lesson`` of ``heads.en.md`` has three paragraphs: the title, what the lesson is about, and the one
thing learned in it; a fourth says why it takes no text of a visitor's own, if it does not. ``texts.py`` describes the
sections ``1``, ``2``, ... They are plain text without Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from bartviz.features.lessons import texts
from bartviz.features.lessons.answers import RIGHT, Answer, Choice, Number, Painted, Spot, Touch, Touched
from bartviz.features.lessons.texts import StepTexts
from bartviz.language import _
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
    "denoising": {"noise": "infilling", "text_of": "sentence", "noise_seed": 2},
    "experiments": {},
    "why": {"method": "leave-one-out", "instead": "", "operator": "mask"},
    "alignment": {"align": "best", "reading": "predicts"},
    "born": {},
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
    "why": ".st-key-why_words",
    "born": ".st-key-moments",
}
ADDRESS: Mapping[str, tuple[str, ...]] = {"decoding": ("step", "reading")}  # read from the address, not from a widget


def any_record(_record: Record) -> str:
    """The ``own`` of a step that can be asked of any record."""
    return ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``view`` maps address words of the page to the values of its pickers, or finds them in the record.

    ``facts`` fills in the placeholders of its text from the step's record, so that numbers and tokens always match the
    model. ``answer`` is what answers its question; a step without one has nothing to do. ``focus`` is the key of the
    element that it is about, if that is not the page's picture. ``own`` says why the step cannot be asked of a
    visitor's own record, "" if it can; without it the step is about its saved record alone.
    """

    page: str
    view: View | Callable[[Record], View] = field(default_factory=dict)
    facts: Facts | None = None
    record: str = "start"
    focus: str = ""
    answer: Answer | None = None
    own: Callable[[Record], str] | None = None

    def shown_of(self, record: Record) -> View:
        """The view of a record."""
        return self.view(record) if callable(self.view) else self.view

    def whole_of(self, record: Record) -> View:
        """The view of a record, completed with the defaults of the page."""
        return {**DEFAULTS[self.page], **self.shown_of(record)}

    def missing(self, record: Record) -> str:
        """Why it cannot be asked of a visitor's own record; "" if it can."""
        return _("it is about another text") if self.own is None else self.own(record)

    @property
    def shown(self) -> View:
        """The view of the step's saved record."""
        return self.shown_of(records.read(self.record))

    @property
    def part(self) -> str:
        """The CSS selector of what the step is about: it is brought into sight."""
        return f".st-key-{self.focus}" if self.focus else PICTURES[self.page]

    @property
    def whole(self) -> View:
        """The view of the step's saved record, completed with the defaults of the page."""
        return self.whole_of(records.read(self.record))


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said of a visitor's answer. ``guess``: the shares (K,) of a painted one, which ends its question even if
    it is not right: what is painted is judged, not found."""

    right: bool
    text: str
    guess: tuple[float, ...] = ()

    @property
    def settles(self) -> bool:
        """Whether the question is answered by it."""
        return self.right or bool(self.guess)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One tour. ``word`` is its name in the address and in the names of its text files. ``numbers``: it asks about
    numbers that pages hide from beginners."""

    word: str
    minutes: int
    steps: tuple[Step, ...]
    numbers: bool = False

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
        return texts.read(prose.paragraphs(HOME, self.word, str(at + 1)), self.facts(at, record))

    def facts(self, at: int, record: Record) -> Mapping[str, object]:
        """What the texts of step ``at`` state of a record, by name; ``shipped``: whether that is the saved one."""
        step = self.steps[at]
        shipped = record is records.read(step.record)
        return {"shipped": shipped} if step.facts is None else {**step.facts(record), "shipped": shipped}

    @property
    def takes_own(self) -> bool:
        """Whether it can be walked with a visitor's own text."""
        return any(step.own is not None for step in self.steps)

    def reply(self, at: int, said: Touched | float, record: Record | None = None) -> Reply | str:
        """What is said of an answer: a touch, the number of an option or of a spot in the list, a typed number, or what
        was painted. ``record``: a visitor's own, instead of that of the step.

        A text names what is amiss with a touch that is no answer (``OTHER_HEAD``, ``OTHER_SIDE``).
        """
        step = self.steps[at]
        record, answer = record or records.read(step.record), step.answer
        told = self.texts(at, record)
        if isinstance(answer, Choice):
            option = told.options[int(said)]  # type: ignore[arg-type]
            return Reply(option.right, told.answer if option.right else option.reply)
        if isinstance(answer, Number):
            found: Spot | str = answer.judged(record, float(said))  # type: ignore[arg-type]
        elif isinstance(answer, Touch):
            spots = answer.spots(record)
            found = answer.found(record, said, step.whole_of(record)) if isinstance(said, Mapping) else spots[int(said)]
        elif isinstance(answer, Painted):
            guess = answer.shares(record, said)
            if isinstance(guess, str):
                return guess
            found = answer.judged(record, guess)
            values = {**self.facts(at, record), **found.values}
            return Reply(found.right, f"{texts.filled(told.replies[found.case], values)} {told.answer}", guess)
        else:
            raise ValueError("The step has nothing to answer.")
        if isinstance(found, str):
            return found
        values = {**self.facts(at, record), **found.values}
        text = told.replies.get(RIGHT, "") if found.right else told.replies[found.case]
        said_of = texts.filled(text, values)
        return Reply(found.right, f"{said_of} {told.answer}".strip() if found.right else said_of)
