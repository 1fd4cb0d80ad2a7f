"""The rows of a .json or .jsonl: an object in each line, an array of objects, or an object that holds one.

Which of these a file is, it shows itself: its name does not decide. Values are read one by one, so that the size of an
array does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from io import TextIOBase
from typing import NamedTuple

from bartviz.errors import TextError
from bartviz.language import later
from bartviz.reading.columns import COLUMNS
from bartviz.reading.rows import MAX_LINE, MAX_SKIPPED, Opened, Row, physical_lines, too_long

MAX_DEPTH = 3  # keys to a text in an object, such as translation.en
MAX_WHOLE = MAX_SKIPPED * MAX_LINE  # characters of a file that is one object
MAX_CELLS = 20  # of a row that is an array
_CHUNK = 1 << 16
_SPACE = " \t\r\n\ufeff"
_DECODER = json.JSONDecoder()


class Value(NamedTuple):
    """A value, or why it cannot be read, and its line (its number, where a file is one object)."""

    line: int
    value: object | TextError


def object_rows(opened: Opened, columns: dict[str, int], wanted: Iterable[str] = ()) -> Iterator[Row]:
    """The rows of the values of a file. ``columns`` grows: the path of a text -> its column.

    ``wanted``: paths that may go into arrays, too, such as ``captions.0``.
    """
    for line, value in values(opened):
        yield Row(line, line, value if isinstance(value, TextError) else cells_of(value, columns, wanted))


def cells_of(value: object, columns: dict[str, int], wanted: Iterable[str] = ()) -> Mapping[int, str]:
    """The texts of an object, by column."""
    found = dict(_texts(value))
    for path in wanted:
        if path not in found and isinstance(text := _at(value, path), str):
            found[path] = text
    return {columns.setdefault(path, len(columns)): text for path, text in found.items()}


def _texts(value: object, *keys: str) -> Iterator[tuple[str, str]]:
    """The strings of an object by their keys, joined by dots where objects are in objects."""
    if isinstance(value, str):
        yield ".".join(keys) or COLUMNS[0], value
    elif isinstance(value, dict) and len(keys) < MAX_DEPTH:
        for key, inner in value.items():
            yield from _texts(inner, *keys, key)
    elif isinstance(value, list) and not keys and len(value) <= MAX_CELLS:
        yield from ((str(place), cell) for place, cell in enumerate(value) if isinstance(cell, str))


def _at(value: object, path: str) -> object:
    """The value at a path of keys and positions."""
    for key in path.split("."):
        if isinstance(value, list) and key.isdecimal() and len(key) < 9 and int(key) < len(value):
            value = value[int(key)]
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def values(opened: Opened) -> Iterator[Value]:
    """The values of a file, blank lines left out."""
    with opened() as stream:
        first, more = _first(stream)
    if not first:
        return
    whole = len(first) <= MAX_LINE  # else a line of many values, such as an array
    parsed = _parsed(first) if whole else None
    if whole and not isinstance(parsed, TextError):
        yield from _lines(opened) if more else _within(parsed)
        return
    start = first.lstrip(_SPACE)[:1]
    with opened() as stream:
        found = _Values(stream, array=start == "[")
        value = next(found, None) if start in ("[", "{") else None
        # an object of one line is one of many, of which the first is not JSON
        several = (
            value is not None and not isinstance(value.value, TextError) and (found.line > value.line or not whole)
        )
        if value is not None and (start == "[" or several):
            second = next(found, None)
            if second is None and start == "{":
                yield from _within(value.value)
                return
            yield value
            if second is not None:
                yield second
                yield from found
            return
    yield from _lines(opened)


def _first(stream: TextIOBase) -> tuple[str, bool]:
    """The first line that is not blank, or its beginning if it is long, and whether there is another."""
    first = ""
    while line := stream.readline(MAX_LINE + 1):
        if line.strip(_SPACE):
            if first:
                return first, True
            first = line
            if len(line) > MAX_LINE:
                break
    return first, False


def _lines(opened: Opened) -> Iterator[Value]:
    with opened() as stream:
        for number, line in physical_lines(stream):
            if isinstance(line, TextError):
                yield Value(number, line)
            elif line.strip(_SPACE):
                yield Value(number, _parsed(line))


def _parsed(text: str) -> object | TextError:
    try:
        value: object = json.loads(text.strip(_SPACE).removesuffix(","))
    except (ValueError, RecursionError):
        return _invalid()
    return value


def _invalid() -> TextError:
    return TextError(later("It is not valid JSON."))


def _broken() -> TextError:
    return TextError(later("From here on it is not valid JSON, and was not read."))


class _Values(Iterator[Value]):
    """The values of an array, or values one after the other, read piece by piece."""

    def __init__(self, stream: TextIOBase, *, array: bool) -> None:
        self.stream = stream
        self.text = ""
        self.at = 0
        self.line = 1
        self.ended = False
        self.array = array
        if array:
            self._to_next("")
            self.at += 1  # the bracket

    def __next__(self) -> Value:
        if self.ended and self.at >= len(self.text):
            raise StopIteration
        self._to_next(",")
        if self.at >= len(self.text):
            if self.array:  # it was not closed
                self.array = False
                return Value(self.line, _broken())
            raise StopIteration
        if self.array and self.text[self.at] == "]":
            self.at += 1
            self.array = False
            return next(self)
        line = self.line
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                unfinished = isinstance(error, json.JSONDecodeError)
                long = len(self.text) - self.at > (MAX_LINE if self.array else MAX_WHOLE)
                if unfinished and not long and self._more():
                    continue
                self.text, self.at, self.ended, self.array = "", 0, True, False  # where the next begins is unknown
                return Value(line, _broken())
            if end == len(self.text) and self._more():
                continue  # a number may continue
            long = self.array and end - self.at > MAX_LINE
            self._pass(end)
            return Value(line, too_long() if long else value)

    def _to_next(self, separators: str) -> None:
        """Pass white space and separators."""
        while True:
            rest = self.text[self.at : self.at + _CHUNK]
            skipped = len(rest) - len(rest.lstrip(_SPACE + separators))
            self._pass(self.at + skipped)
            if skipped < len(rest) or (self.at >= len(self.text) and not self._more()):
                return

    def _pass(self, end: int) -> None:
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def _more(self) -> bool:
        """Read on; what is passed is dropped."""
        rest = self.text[self.at :]
        part = self.stream.read(max(_CHUNK, len(rest)))
        self.ended = not part
        self.text, self.at = rest + part, 0
        return bool(part)


def _within(value: object) -> Iterator[Value]:
    """The rows of a file that is one value."""
    for number, row in enumerate(_rows(value), start=1):
        yield Value(number, row)


def _rows(value: object) -> Iterable[object]:
    """An array's values; the rows of a table that is written by columns; of an object with one array of rows, these."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or not value:
        return [value]
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, names), row, strict=False)) for row in data]
    inner = list(value.values())
    scalars = all(isinstance(column, list) and not _of_rows(column) for column in inner)
    if scalars and len({len(column) for column in inner}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]
    if all(isinstance(column, dict) and column and all(map(str.isdecimal, column)) for column in inner):
        places = dict.fromkeys(place for column in inner for place in column)
        return [{name: column.get(place) for name, column in value.items()} for place in places]
    if all(map(str.isdecimal, value)) and all(isinstance(row, dict) for row in inner):
        return inner
    if isinstance(data, list):
        return data
    arrays = {name: rows for name, rows in value.items() if _of_rows(rows)}
    if len(arrays) > 1:
        return [TextError(later("It has several arrays of rows. Save the rows of one of them as a file."))]
    return next(iter(arrays.values()), [value])


def _of_rows(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(row, dict) for row in value)
