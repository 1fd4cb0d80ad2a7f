"""The texts of a step: what to look at, a question, its answer, options, and what is said of a wrong answer.

A section has three paragraphs, then one for each of these: ``+ an option that is right``, ``- a wrong one => what is
said of it``, ``name: what is said of an answer of that case``.

``[name? one sentence | another]`` in a paragraph is the first where the fact ``name`` is true, else the second: what is
said of numbers is said only where it is so. The second may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bartviz.language import fill

CONDITION = re.compile(r"\[(\w+)\? ([^\]|]*?)(?: \| ([^\]]*?))?\]")
_EXTRA = re.compile(r"^(⟦?)(?:([+-]) |(\w+): )(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Option:
    """A choice, and what is said of it if it is not right."""

    text: str
    right: bool
    reply: str


@dataclass(frozen=True, slots=True)
class StepTexts:
    """The texts of a step in one language."""

    see: str
    ask: str
    answer: str
    options: tuple[Option, ...] = ()
    replies: Mapping[str, str] = field(default_factory=dict)  # by the case of an answer, to be filled in


def read(paragraphs: Sequence[str], values: Mapping[str, object]) -> StepTexts:
    """The texts in the paragraphs of a section, filled in with facts."""
    see, ask, answer, *extra = paragraphs
    options: list[Option] = []
    replies: dict[str, str] = {}
    for paragraph in extra:
        found = _EXTRA.match(paragraph)
        if found is None:
            raise ValueError(f"Neither an option nor a reply: {paragraph}")
        bracket, sign, case, text = found.groups()
        if sign:
            label, _arrow, reply = (filled(bracket + text, values)).partition(" => ")
            options.append(Option(label, sign == "+", reply))
        else:
            replies[case] = bracket + text
    return StepTexts(filled(see, values), filled(ask, values), filled(answer, values), tuple(options), replies)


def filled(text: str, values: Mapping[str, object]) -> str:
    """A paragraph with its conditions decided and its placeholders filled. Raises KeyError for an unknown fact."""
    decided = CONDITION.sub(lambda found: found[2] if values[found[1]] else found[3] or "", text)
    return fill(" ".join(decided.split(" ")).strip(), values) if values else decided
