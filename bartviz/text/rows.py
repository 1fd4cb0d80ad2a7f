"""The rows of a table in a text: of a .csv or .tsv, and of a .jsonl, read line by line.

A row that cannot be read comes out with the reason, and does not affect the others.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bartviz.errors import TextError
from bartviz.language import later
from bartviz.text.clean import MAX_CHARACTERS

MAX_DEPTH = 3  # keys to a text in an object, such as translation.en
MAX_CELL = 10 << 20  # characters of one cell
COLUMNS = ("text", "source", "sentence", "src", "input")  # usual names of the column with the texts

csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))  # for the process: a huge cell is one bad row


class Row(NamedTuple):
    """One row of a table: column -> text, or the reason why it cannot be read; from its first line to its last."""

    first: int
    last: int
    cells: Mapping[int, str] | TextError


def object_rows(lines: Iterable[str], columns: dict[str, int]) -> Iterator[Row]:
    """The rows of a .jsonl, blank lines left out.

    ``columns`` grows: the path of a value -> its column.
    """
    for line, part in enumerate(lines, start=1):
        if not part.strip():
            continue
        cells: Mapping[int, str] | TextError
        try:
            found = dict(_values(json.loads(part)))
            cells = {columns.setdefault(path, len(columns)): value for path, value in found.items()}
        except (ValueError, RecursionError):
            cells = TextError(later("It is not valid JSON."))
        yield Row(line, line, cells)


def _values(value: object, *keys: str) -> Iterator[tuple[str, str]]:
    """The strings of an object by their keys, joined by dots where objects are in objects."""
    if isinstance(value, str):
        yield ".".join(keys) or COLUMNS[0], value
    elif isinstance(value, dict) and len(keys) < MAX_DEPTH:
        for key, inner in value.items():
            yield from _values(inner, *keys, key)


def as_wide(row: Row, width: int) -> Row:
    """The row, or an error if it has more cells than the first: a part of its text would be lost."""
    if isinstance(row.cells, TextError) or not any(row.cells[column] for column in range(width, len(row.cells))):
        return row
    reason = later(
        "It has {count:,} cells, the first row {width:,}: a text with the separator in it needs quotation marks.",
        count=len(row.cells),
        width=width,
    )
    return row._replace(cells=TextError(reason))


def delimiter_of(text: str) -> str:
    """The delimiter next to a usual name in the first line, else the one that is most frequent in every one of the
    first lines; a comma by default."""
    lines = [line for line in text[:MAX_CHARACTERS].split("\n", 20)[:20] if line.strip()]
    for sign in ",;\t":
        names = [cell.strip(' "\r').lower() for cell in (lines or [""])[0].split(sign)]
        if len(names) > 1 and set(names) & set(COLUMNS):
            return sign
    return max(",;\t", key=lambda sign: min((line.count(sign) for line in lines), default=0))


def separated_rows(lines: Iterable[str], delimiter: str) -> Iterator[Row]:
    """The rows of a .csv or .tsv that are not empty. ``lines`` keep their line ends."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            reason = TextError(later("A quotation mark in it is not closed, or stands within a field."))
            yield Row(first, reader.line_num, reason)
        else:
            if any(cells):
                yield Row(first, reader.line_num, dict(enumerate(cells)))
