"""The rows of a table in a text, read line by line: of a .csv or .tsv, and of JSON in ``json_rows``.

A row that cannot be read comes out with the reason, and does not affect the others. Memory is bounded by ``MAX_LINE``,
however long a line or a row is.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from io import TextIOBase
from itertools import islice
from typing import NamedTuple

from bartviz.errors import TextError
from bartviz.language import later
from bartviz.reading.columns import COLUMNS

MAX_LINE = 10 << 20  # characters of one line, and of one row of several lines
MAX_SKIPPED = 8  # times as long a line may be before the file is refused
ONE = "\x1f"  # the delimiter of a table of one column: none
_SEPARATORS = ",;\t|"
_FIRST_LINES, _BEGINNING = 40, 10_000  # and their characters, from which the delimiter is judged
_ENCLOSED = re.compile(r'"(?:[^"]|"")*"')
_HINT = re.compile(r'"?sep=(.)"?\s*')  # the first line of a .csv of spreadsheets

csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))  # for the process: a huge cell is one bad row

Opened = Callable[[], AbstractContextManager[TextIOBase]]
"""Opens a text again from its beginning; its line ends are as they are in the file."""


class Row(NamedTuple):
    """One row of a table: column -> text, or the reason why it cannot be read; from its first line to its last."""

    first: int
    last: int
    cells: Mapping[int, str] | TextError


class Written(NamedTuple):
    """How a .csv or .tsv is written. ``quotes``: whether quotation marks enclose cells, or are letters."""

    delimiter: str
    quotes: bool
    spaced: bool = False  # a space after each delimiter is not of the text
    hint: bool = False  # the first line names the delimiter


def physical_lines(stream: TextIOBase) -> Iterator[tuple[int, str | TextError]]:
    """The lines with their ends, numbered from 1; the reason instead of a line of more than MAX_LINE characters.

    Raises TextError for a line that does not end within MAX_SKIPPED times as many.
    """
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) <= MAX_LINE or line[-1] in "\r\n":
            yield number, line
            continue
        del line
        _skip(stream)
        yield number, too_long()


def too_long() -> TextError:
    """The reason why a line, a row or a value is left out."""
    return TextError(later("It has more than {limit:,} characters.", limit=MAX_LINE))


def _skip(stream: TextIOBase) -> None:
    """Read to the end of a line without keeping it."""
    for _chunk in range(MAX_SKIPPED):
        part = stream.readline(MAX_LINE)
        if not part or part[-1] in "\r\n":
            return
    raise TextError(
        later(
            "The file has a line of more than {limit:,} characters: that is not text. Save it with a line "
            "ending after each text.",
            limit=MAX_LINE * MAX_SKIPPED,
        )
    )


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


def written(opened: Opened, delimiter: str | None, quotes: bool | None) -> Written:
    """How the table is written: what is not given is judged by its first lines.

    Next to tabs a quotation mark is a letter, unless the file proves otherwise (``_is_quoted``).
    """
    with opened() as stream:
        lines = islice(physical_lines(stream), _FIRST_LINES)
        first = [line[:_BEGINNING] for _number, line in lines if isinstance(line, str)]
    hint = _HINT.fullmatch(first[0]) if first and delimiter is None else None
    if hint is not None:
        delimiter = hint[1]
    elif delimiter is None:
        delimiter = delimiter_of(first)
    spaced = delimiter not in ("\t", ONE) and all(
        line.count(delimiter) == line.count(f"{delimiter} ") for line in first
    )
    if quotes is None:
        quotes = delimiter != "\t" or _is_quoted(opened, delimiter)
    return Written(delimiter, quotes, quotes and spaced, hint is not None)


def delimiter_of(first: Sequence[str]) -> str:
    """The delimiter next to a usual name in the first line, else the one that divides most of the first lines into
    equally many cells; ``ONE`` if there is none."""
    lines = [line.rstrip("\r\n") for line in first if line.strip()]
    if not lines or lines[0].strip(' "\t').lower() in COLUMNS:
        return ONE
    for separator in _SEPARATORS:
        names = [cell.strip(' "').lower() for cell in lines[0].split(separator)]
        if len(names) > 1 and set(names) & set(COLUMNS):
            return separator
    found = max(((*_evenness(lines, separator), separator) for separator in _SEPARATORS), key=lambda each: each[:2])
    return found[2] if found[0] >= 0.5 else ONE


def _evenness(lines: Sequence[str], separator: str) -> tuple[float, int]:
    """The share of rows that the separator divides into the same number of cells, and that number; 0 where it is prose:
    a
    space follows it, and no column has only numbers."""
    rows = [cells for cells in csv.reader(lines, delimiter=separator) if cells]
    widths = Counter(map(len, rows))
    width = max(widths, key=lambda each: (each > 1, widths[each]), default=1)
    share = widths[width] / len(rows) if width > 1 else 0.0
    spaces = sum(line.count(f"{separator} ") for line in lines)
    if 2 * spaces <= sum(line.count(separator) for line in lines) or any(f'{separator} "' in line for line in lines):
        return share, width
    below = [cells for cells in rows[1:] if len(cells) == width]
    numbers = any(all(cells[column].strip().isdecimal() for cells in below) for column in range(width))
    return (share, width) if share == 1 and below and numbers else (0.0, 0)


def _is_quoted(opened: Opened, delimiter: str) -> bool:
    """Whether the file proves that its quotation marks enclose cells.

    Either rows are equally long only when they do, or the lines are equally long anyway, and all marks enclose cells,
    of which one has doubled marks in it, or which are all that have letters.
    """
    widths: list[int] = []  # of the first row, and each other one of the others
    starts = enclosed = doubled = loose = bare = False
    rows = 0
    with opened() as stream:
        for _number, line in physical_lines(stream):
            if isinstance(line, TextError) or not line.strip():
                continue
            cells = line.rstrip("\r\n").split(delimiter)
            rows += 1
            if len(cells) not in widths[1:]:
                widths.append(len(cells))
            for cell in cells:
                if '"' not in cell:
                    bare = bare or any(map(str.isalpha, cell))
                elif _ENCLOSED.fullmatch(cell):
                    enclosed = True
                    doubled = doubled or '""' in cell[1:-1]
                else:
                    loose = True
                starts = starts or cell[:1] == '"'
    if not starts:
        return False
    if _even(widths):
        return enclosed and not loose and (doubled or (not bare and rows > 1 and widths[0] > 1))
    with opened() as stream:
        found: list[int] = []
        for row in separated_rows(stream, Written(delimiter, quotes=True)):
            if isinstance(row.cells, TextError):
                return False
            if len(row.cells) not in found[1:]:
                found.append(len(row.cells))
    return _even(found)


def _even(widths: Sequence[int]) -> bool:
    """Whether rows are equally long; R writes no name above the names of rows, so that its first row is shorter."""
    return len(widths) == 1 or (len(widths) == 2 and widths[1] - widths[0] in (0, 1))


def separated_rows(stream: TextIOBase, form: Written) -> Iterator[Row]:
    """The rows of a .csv or .tsv that are not empty."""
    lines = physical_lines(stream)
    if form.hint:
        next(lines)
    yield from _quoted(lines, form) if form.quotes else _unquoted(lines, form.delimiter)


def _unquoted(lines: Iterable[tuple[int, str | TextError]], delimiter: str) -> Iterator[Row]:
    for number, line in lines:
        if isinstance(line, TextError):
            yield Row(number, number, line)
        elif any(cells := line.rstrip("\r\n").split(delimiter)):
            yield Row(number, number, dict(enumerate(cells)))


class _Lines:
    """Lines for a csv.reader, which stops at one that is too long, and continues after it."""

    def __init__(self, lines: Iterator[tuple[int, str | TextError]]) -> None:
        self.lines = lines
        self.number = 0
        self.long: TextError | None = None
        self.taken = 0  # characters of this row

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        self.number, line = next(self.lines)
        if isinstance(line, TextError):
            self.long = line
            raise StopIteration
        self.taken += len(line)
        if self.taken > 2 * MAX_LINE:
            raise csv.Error
        return line


def _quoted(lines: Iterator[tuple[int, str | TextError]], form: Written) -> Iterator[Row]:
    source = _Lines(lines)
    source.number = int(form.hint)
    reader = csv.reader(source, delimiter=form.delimiter, strict=True, skipinitialspace=form.spaced)
    while True:
        first = source.number + 1
        source.long, source.taken = None, 0
        try:
            cells = next(reader)
        except (StopIteration, csv.Error) as error:
            if source.long is not None:
                yield Row(first, source.number, source.long)
            elif isinstance(error, StopIteration):
                return
            else:
                reason = TextError(later("A quotation mark in it is not closed, or is within a field."))
                yield Row(first, source.number, reason)
        else:
            if any(cells):
                yield Row(first, source.number, dict(enumerate(cells)))


def joined(rows: Iterable[Row]) -> int:
    """How many rows are of several lines, since quotation marks enclose line ends."""
    return sum(row.last > row.first and not isinstance(row.cells, TextError) for row in rows)
