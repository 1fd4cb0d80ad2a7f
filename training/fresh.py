"""Fresh sentences such as a class types, translated and judged in two readings: for measuring, never for training.

`training/data/fresh.txt` has lines `English | German | first | second`: what the model that ships makes of a sentence,
and whether each reading calls it right (1) or wrong (0), by the criteria in `fresh.md`. The criteria were written
before anything was translated, the sentences before the training data was looked at (`training.known` counts what it
has).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bartviz.text.capitals import fewer, sentence_case
from training import lists

FILE = "fresh.txt"
OPEN = "?"  # a judgement that is not made yet


@dataclass(frozen=True)
class Case:
    """A sentence of a kind, a model's German for it, and two judgements: `1`, `0` or `?`."""

    kind: str
    en: str
    de: str = ""
    judged: tuple[str, str] = (OPEN, OPEN)

    @property
    def right(self) -> bool:
        """Whether both readings call the German right."""
        return self.judged == ("1", "1")


def cases() -> list[Case]:
    """All sentences, in the order of the file."""
    found = []
    for kind, lines in lists.sections(FILE).items():
        for en, *rest in map(lists.fields, lines):
            de, first, second = rest or ("", OPEN, OPEN)
            found.append(Case(kind, en, de, (first, second)))
    return found


def read(text: str, length: Callable[[str], int]) -> str:
    """The text as the app reads it: one in capitals that falls apart, in lower case (`bartviz.text.capitals`).

    `length` counts the tokens of a text.
    """
    return text if fewer(text, length(text), length) is None else sentence_case(text)


def translated(found: Sequence[Case], translate: Callable[[list[str]], list[str]]) -> list[Case]:
    """The sentences with the German of another model; judgements stay where the German does."""
    german = translate([case.en for case in found])
    return [
        case if text == case.de else replace(case, de=text, judged=(OPEN, OPEN))
        for case, text in zip(found, german, strict=True)
    ]


def written(found: Iterable[Case]) -> str:
    """The sentences as lines of the file."""
    lines, kind = [], ""
    for case in found:
        if case.kind != kind:
            kind = case.kind
            lines.append(f"[{kind}]")
        lines.append(" | ".join((case.en, case.de, *case.judged)))
    return "\n".join(lines)


def rows(found: Sequence[Case]) -> list[list[str]]:
    """Kind, right in the first reading, in the second, in both, and sentences in all; the last row is of all kinds."""
    kinds = dict.fromkeys(case.kind for case in found)
    groups = [(kind, [case for case in found if case.kind == kind]) for kind in kinds]
    return [
        [
            name,
            *(str(sum(case.judged[i] == "1" for case in group)) for i in (0, 1)),
            str(sum(case.right for case in group)),
            str(len(group)),
        ]
        for name, group in (*groups, ("all of these", list(found)))
    ]


def agreed(found: Sequence[Case]) -> int:
    """How many sentences both readings judge alike."""
    return sum(case.judged[0] == case.judged[1] for case in found)
