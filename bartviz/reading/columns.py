"""The roles of the columns of a table, judged by their shape: whether the first row names them, and which has the
texts.

No language is assumed: a name differs from what is below it, whatever it means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from statistics import median

COLUMNS = ("text", "sentence", "source", "src", "input")  # usual names of the column with the texts
SAMPLE = 200  # rows that are judged
BEGINNING = 300  # characters of a cell that are judged
_COLUMNS = 500  # columns that are judged

Cells = Mapping[int, str]

_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"[-+]?(?=\D*\d)[\d., ]+(?:[eE][-+]?\d+)?\s*%?")
_END = re.compile(r"[.!?…。！？｡।؟۔։]['\"”’»)\]」』]*$")
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][A-Za-z]{2,4})?")
_UNSPACED = 8  # letters of a text that is written without spaces and full stop
_NAME = 40  # characters of a name, at most
_MOST = 0.8  # of the cells below


def usual(names: Sequence[str], rows: Sequence[Cells]) -> int:
    """The column that is usually meant: by its name, else the first of prose, else the first with letters, else 0.

    A column of prose counts if its texts are at least half as long as those of the longest such column: authors are not
    taken for what they write.
    """
    shapes = {column: _Shape.of(column, rows[:SAMPLE]) for column in range(min(len(names), _COLUMNS))}
    for known in COLUMNS:
        for column, name in zip(shapes, names, strict=False):
            if known in (name.lower(), name.lower().rpartition(".")[2]):
                # a column of this name may also say where a text is from
                other = any(shape.prose for shape in shapes.values())
                if known in ("text", "sentence") or shapes[column].prose or not other:
                    return column
    prose = {column: shape.length for column, shape in shapes.items() if shape.prose}
    if prose:
        return next(column for column, length in prose.items() if 2 * length >= max(prose.values()))
    letters = [column for column, shape in shapes.items() if shape.letters]
    return next((column for column in letters if not shapes[column].coded), letters[0] if letters else 0)


def has_header(first: Cells, rows: Sequence[Cells]) -> bool:
    """Whether the first row names the columns: it has a usual name, or differs in shape from the rows below it."""
    names = [cell[:BEGINNING].strip() for cell in islice(first.values(), _COLUMNS)]
    if any(name.lower() in COLUMNS for name in names):
        return True
    below = [[row.get(column, "")[:BEGINNING].strip() for row in rows[:SAMPLE]] for column in range(len(names))]
    if (
        len(names) > 1
        and all(map(_LANGUAGE.fullmatch, names))
        and any(len(cell) > 5 for cells in below for cell in cells)
    ):
        return True
    return sum(_vote(name, [cell for cell in cells if cell]) for name, cells in zip(names, below, strict=True)) > 0


class _Shape:
    """The common shape of the cells of a column."""

    def __init__(self, cells: Sequence[str]) -> None:
        self.letters = 2 * sum(map(bool, map(_LETTER.search, cells))) >= max(len(cells), 1)
        self.prose = bool(cells) and sum(map(_is_prose, cells)) >= len(cells) / 2
        self.length = median(map(len, cells)) if cells else 0.0
        # labels, which repeat, and identifiers, which all have digits
        self.coded = len(cells) > 2 and (len(set(cells)) <= len(cells) / 2 or all(map(_DIGIT.search, cells)))

    @classmethod
    def of(cls, column: int, rows: Sequence[Cells]) -> _Shape:
        return cls([cell for row in rows if (cell := row.get(column, "")[:BEGINNING].strip())])


def _vote(first: str, below: Sequence[str]) -> int:
    """Above 0 if the cell looks like a name of those below it, below 0 if it looks like one of them."""
    if not below:
        return 0
    if not first:  # the index of a data frame has no name
        return int(all(cell.isdecimal() for cell in below))
    prose = sum(map(_is_prose, below)) >= _MOST * len(below)
    if _NUMBER.fullmatch(first):  # a column without a name may have a number instead
        numbers = any(map(_NUMBER.fullmatch, below)) or len(first) > 3
        return -2 if numbers else int(prose)
    if all(map(_NUMBER.fullmatch, below)):
        return 2
    if prose:
        return _vote_of_prose(first, below)
    if first in below:
        return -1
    if all(map(_DIGIT.search, below)):
        return int(not _DIGIT.search(first))
    return int(len(below) > 2 and len(set(below)) <= len(below) / 2)


def _vote_of_prose(first: str, below: Sequence[str]) -> int:
    words = len(first.split())
    if _END.search(first) or words > 3 or len(first) > _NAME or first in below:
        return -1
    if words == 1 and _is_prose(first):  # long, without spaces
        return -1
    ended = sum(map(bool, map(_END.search, below))) >= len(below) / 2
    longer = median(map(len, below)) >= 4 * len(first)
    alone = words == 1 and len(below) > 2 and all(len(cell.split()) > 1 for cell in below)
    return int(ended or longer or alone)


def _is_prose(cell: str) -> bool:
    """Whether the cell is of several words, or one that is written as a sentence."""
    words = cell.split()
    worded = sum(map(bool, map(_LETTER.search, words)))
    if worded >= 2 and 2 * worded > len(words):
        return True
    letters = len(_LETTER.findall(cell))
    if letters < 2 or "://" in cell or "@" in cell:
        return False
    return bool(_END.search(cell)) or (letters >= _UNSPACED and any(char >= "\u0e00" for char in cell))
