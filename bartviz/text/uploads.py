"""The texts of an uploaded file: one of a plain text, one per row of a table, in the column that the visitor chooses.

A bad row is left out and listed, and does not affect the others.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain, islice

from bartviz.errors import TextError, choices
from bartviz.language import later
from bartviz.text import encodings
from bartviz.text.clean import Cleaned, base_name, clean, safe_name
from bartviz.text.encodings import TooLong
from bartviz.text.labels import is_blank
from bartviz.text.rows import COLUMNS, Row, as_wide, delimiter_of, object_rows, separated_rows

MAX_BYTES = 10 << 20  # of one file, both compressed and decompressed
MAX_ROWS = 10_000  # of one file
MAX_COLUMNS = 200  # of one file
TABLES = (".csv", ".tsv", ".jsonl")
FORMATS = (".txt", ".md", *TABLES)

_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Upload:
    """The texts of a file, in order: one for a .txt or .md, one per row for the others.

    ``name`` is a safe file name; ``errors`` list the rows that were left out, and why.
    """

    texts: tuple[str, ...]
    name: str
    notices: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """The rows of a file, and the names of its columns, empty where a column has none. ``name`` is a safe file name."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def usual(self) -> int:
        """The column that is usually meant: by its name, else the first with letters below its first row."""
        names = [name.lower() for name in self.columns]
        rows = [row.cells for row in self.rows if not isinstance(row.cells, TextError)]
        with_letters = (
            column
            for column in range(len(names))
            if any(_LETTER.search(cells.get(column, "")) for cells in rows[1:] or rows)
        )
        return next(chain((names.index(name) for name in COLUMNS if name in names), with_letters), 0)

    def texts(self, column: int) -> Upload:
        """The texts of a column. Each row is cleaned by itself, so that a bad one does not affect the others.

        Raises TextError without that column, or without a usable row.
        """
        if self.columns and not 0 <= column < len(self.columns):
            count = len(self.columns)
            raise TextError(later("The file has {count:,} columns. Choose one of them.", count=count))
        texts: list[str] = []
        errors: list[str] = []
        changes: Counter[str] = Counter()
        for row in self.rows:
            try:
                cleaned = cell(row, column)
            except TextError as error:
                errors.append(_left_out(row, error.args[0]))
                continue
            texts.append(cleaned.text)
            changes.update(cleaned.notices)
        if not texts:
            raise TextError(
                later("None of the {count:,} rows can be used. {reason}", count=len(errors), reason=errors[0])
                if errors
                else later("There are no rows.")
            )
        notices = (
            later("In {count:,} of {all:,} rows: {notice}", count=count, all=len(texts), notice=notice)
            for notice, count in changes.items()
        )
        return Upload(tuple(texts), self.name, tuple(notices), tuple(errors))


def is_table(name: str) -> bool:
    """Whether a file of this name has columns to choose from."""
    return _format(name)[0] in TABLES


def read_upload(name: str, data: bytes, *, encoding: str | None = None, max_bytes: int = MAX_BYTES) -> Upload:
    """The texts of an uploaded file in one of FORMATS, optionally compressed as .gz.

    A .txt or .md is one text. Other files have one per row, in the usual column of ``read_table``; rows that cannot be
    used are left out and listed in ``errors``. ``encoding`` is one of ``encodings.ENCODINGS``; None means UTF-8, or the
    encoding of the byte order mark.

    Raises TooLong, ``encodings.EncodingError`` (offset, and the encodings to choose from), SettingError, and TextError
    for a file that is empty, not text, of another format, or without a usable row.
    """
    if is_table(name):
        table = read_table(name, data, encoding=encoding, max_bytes=max_bytes)
        return table.texts(table.usual())
    cleaned = clean(_decoded(name, data, encoding, max_bytes))
    return Upload((cleaned.text,), safe_name(name), cleaned.notices)


def read_table(name: str, data: bytes, *, encoding: str | None = None, max_bytes: int = MAX_BYTES) -> Table:
    """The rows of an uploaded file in one of TABLES, optionally compressed as .gz.

    The first row of a .csv or .tsv names the columns if one of these names is in COLUMNS, and is a row like the others
    if not. A line of a .jsonl is an object, whose keys are the columns (those of an object within it are joined by a
    dot), or a string, which is in the column "text".

    Raises the same errors as ``read_upload``, but not for rows that cannot be used.
    """
    text = _decoded(name, data, encoding, max_bytes)
    suffix = _format(name)[0]
    columns, rows = _json_lines(text) if suffix == ".jsonl" else _separated(text, "\t" if suffix == ".tsv" else None)
    return _limited(Table(safe_name(name), columns, tuple(rows)))


def _limited(table: Table) -> Table:
    """The table. Raises TooLong for too many rows or columns."""
    if len(table.rows) > MAX_ROWS:
        message = later("The file has more than {limit:,} rows, which is the limit. Split it.", limit=MAX_ROWS)
        raise TooLong(message, len(table.rows), MAX_ROWS)
    if (width := len(table.columns)) > MAX_COLUMNS:
        message = later("The file has {count:,} columns; at most {limit:,} are read.", count=width, limit=MAX_COLUMNS)
        raise TooLong(message, width, MAX_COLUMNS)
    return table


def read_rows(name: str, data: bytes) -> Table:
    """The rows of an uploaded file in one of FORMATS: as ``read_table``, and of a .txt or .md each line that is not
    blank, in one column without a name.

    Raises the same errors as ``read_table``.
    """
    if is_table(name):
        return read_table(name, data)
    lines = enumerate(io.StringIO(_decoded(name, data, None, MAX_BYTES), newline=None), start=1)
    rows = list(islice((Row(line, line, {0: text.rstrip("\n")}) for line, text in lines if text.strip()), MAX_ROWS + 1))
    return _limited(Table(safe_name(name), ("",), tuple(rows)))


def cell(row: Row, column: int) -> Cleaned:
    """The text of a row in a column, cleaned. Raises TextError for a row that cannot be read, or has no text there."""
    if isinstance(row.cells, TextError):
        raise row.cells
    text = row.cells.get(column, "")
    if not text or is_blank(text):
        raise TextError(later("It has no text in this column."))
    return clean(text)


def _decoded(name: str, data: bytes, encoding: str | None, max_bytes: int) -> str:
    encodings.check_size(len(data), max_bytes)
    suffix, packed = _format(name)
    if not data:
        raise TextError(later("The file is empty."))
    if packed and data.startswith(b"\x1f\x8b"):
        data = encodings.unpack(data, max_bytes)
        if not data:
            raise TextError(later("The file is empty."))
    encodings.refuse_binary(data)
    if suffix not in FORMATS:
        raise TextError(
            later(
                "Files of this format are not read. Upload {formats}, or one of these as .gz.", formats=choices(FORMATS)
            )
        )
    return encodings.decode(data, encoding)


def _format(name: str) -> tuple[str, bool]:
    """The suffix of a file's format, and whether the file is compressed."""
    parts = base_name(name).lower().split(".")
    packed = parts[-1] == "gz"
    inside = parts[:-1] if packed else parts
    return (f".{inside[-1]}" if len(inside) > 1 else ""), packed


def _left_out(row: Row, reason: str) -> str:
    """The message about a row that was left out."""
    if row.first == row.last:
        return later("Line {line:,} was left out. {reason}", line=row.first, reason=reason)
    return later("Lines {first:,} to {last:,} were left out. {reason}", first=row.first, last=row.last, reason=reason)


def _json_lines(text: str) -> tuple[tuple[str, ...], list[Row]]:
    numbers: dict[str, int] = {}  # path of a value -> its column
    rows = list(islice(object_rows(text.split("\n"), numbers), MAX_ROWS + 1))
    return tuple(numbers), rows


def _separated(text: str, delimiter: str | None) -> tuple[tuple[str, ...], list[Row]]:
    lines = io.StringIO(text, newline="")
    rows = list(
        islice(separated_rows(lines, delimiter or delimiter_of(text)), MAX_ROWS + 2)
    )  # with a header and one too many
    head = next((row for row in rows if not isinstance(row.cells, TextError)), None)
    if head is None or isinstance(head.cells, TextError):
        return (), rows
    names = tuple(cell.strip() for cell in head.cells.values())
    named = any(name.lower() in COLUMNS for name in names)
    below = [as_wide(row, len(names)) for row in rows if row is not head or not named]
    return names if named else ("",) * len(names), below
