"""The ledger: claims of the source articles, line by line, with the computed numbers and the verdict.

    from bartviz.features.textbook import ledger

    ledger()                       # one line per claim, as a pandas DataFrame; a second and no torch
    ledger(numbers=True)           # one line per number
    verdict("14").word             # "fails"

Claims that need a run of a model have no verdict here: ``textbook.measured`` has them as they are saved, and
``textbook.run_measured`` computes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache

import pandas as pd

from bartviz.errors import SettingError
from bartviz.features.textbook import chapter_arithmetic as arithmetic
from bartviz.features.textbook import chapter_cost as cost
from bartviz.features.textbook import chapter_generation as generation
from bartviz.features.textbook import chapter_heads as heads
from bartviz.features.textbook import chapter_inputs as inputs
from bartviz.features.textbook import chapter_masks as masks
from bartviz.features.textbook import chapter_parts
from bartviz.features.textbook import chapter_pretraining as pretraining
from bartviz.features.textbook import chapter_sizes as sizes
from bartviz.features.textbook.judging import (
    CHAPTERS,
    WORDS,
    AsksForRun,
    Claim,
    Evidence,
    NoRun,
    Number,
    Verdict,
    Word,
    text,
)
from bartviz.language import LANGUAGES, _, current
from bartviz.record.record import Record

_PARTS = (sizes, chapter_parts, masks, arithmetic, inputs, generation, pretraining, cost, heads)


def _order(line: Claim) -> tuple[int, str]:
    """1, 2, 2b, 3, ..., 35b."""
    return int(line.number.rstrip("bcdefg")), line.number


CLAIMS: tuple[Claim, ...] = tuple(sorted((line for part in _PARTS for line in part.CLAIMS), key=_order))
_BY_NUMBER = {line.number: line for line in CLAIMS}


def claim(number: str) -> Claim:
    """The line of that number, such as ``"6"`` or ``"3b"``; raises SettingError."""
    if number not in _BY_NUMBER:
        raise SettingError(f"There is no statement {number}: they go from 1 to 35, some with a letter.")
    return _BY_NUMBER[number]


def verdict(number: str, record: Record | None = None) -> Verdict | None:
    """The verdict of one line; None if it needs a run of a model (``textbook.measured``).

    ``record``: a run of your own; claims about runs are judged by it if it fits. Raises SettingError.
    """
    line = claim(number)
    return None if line.check is None else line.judged(line.check(Evidence(record)))


def verdicts(record: Record | None = None, more: Mapping[str, Verdict] | None = None) -> dict[str, Verdict]:
    """The verdicts of all lines that can be judged here, by number, and ``more`` from ``textbook.measured``."""
    evidence, known = Evidence(record), dict(more or {})
    found = {
        line.number: _fixed(line.number, current()) or line.judged(line.check(evidence))
        for line in CLAIMS
        if line.check is not None and line.number not in known
    }
    return found | known


@lru_cache(maxsize=len(LANGUAGES) * len(CLAIMS))
def _fixed(number: str, language: str) -> Verdict | None:
    """The verdict of a line if it is the same whatever a visitor has run, in the current language."""
    line = claim(number)
    with suppress(AsksForRun):
        return None if line.check is None else line.judged(line.check(NoRun()))
    return None


def tally(found: Mapping[str, Verdict]) -> dict[Word, int]:
    """How many claims hold, hold with a caveat, fail, or are not decided."""
    counts = Counter(one.word for one in found.values())
    return {word: counts[word] for word in WORDS}


def ledger(
    record: Record | None = None, *, more: Mapping[str, Verdict] | None = None, numbers: bool = False
) -> pd.DataFrame:
    """The whole ledger as a table, in the current language, one line per claim, or per number with ``numbers=True``.

    Columns: number, chapter, title, said, source, about (what it is about), verdict (holds, caveat, fails, undecided;
    missing where a model has to run), why, computed_on, page, query; and label, claimed (with how far the found number
    may be from it), found, agrees, core (whether the claim stands or falls with it).
    """
    found = verdicts(record, more)
    whole = [_line(line, found.get(line.number)) for line in CLAIMS]
    if not numbers:
        return pd.DataFrame(whole)
    kept = ("number", "chapter", "title", "verdict")
    return pd.DataFrame(
        [
            {name: line[name] for name in kept} | _number(one)
            for line in whole
            if line["verdict"] is not None
            for one in found[str(line["number"])].numbers
        ]
    )


def _number(one: Number) -> dict[str, object]:
    return {
        "label": _(one.label),
        "claimed": one.stated,
        "found": text(one.found),
        "agrees": one.agrees,
        "core": one.core,
    }


def _line(line: Claim, judged: Verdict | None) -> dict[str, object]:
    return {
        "number": line.number,
        "chapter": _(CHAPTERS[line.chapter]),
        "title": line.title,
        "said": line.said,
        "source": line.source,
        "about": line.about,
        "verdict": None if judged is None else judged.word,
        "why": None if judged is None else _(judged.why),
        "computed_on": None if judged is None else _(judged.basis),
        "page": line.page,
        "query": "&".join(f"{key}={value}" for key, value in line.query.items()),
    }
