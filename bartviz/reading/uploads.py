"""The texts of an uploaded file: one of a plain text, one per row of a table, in the column that the visitor chooses.

A bad row is left out and listed, and does not affect the others.
"""

from __future__ import annotations

import io
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice

from bartviz.errors import TextError, TooLong, choices
from bartviz.language import later
from bartviz.reading import columns as shapes
from bartviz.reading import encodings
from bartviz.reading.rows import Row, joined, physical_lines
from bartviz.reading.tables import JSON, SEPARATED, table
from bartviz.text.clean import Cleaned, base_name, clean, safe_name
from bartviz.text.labels import is_blank

MAX_BYTES = 10 << 20  # of one file, both compressed and decompressed
MAX_ROWS = 10_000  # of one file
MAX_COLUMNS = 200  # of one file
TABLES = (*SEPARATED, *JSON)
FORMATS = (".txt", ".md", *TABLES)


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
    """The rows of a file, and the names of its columns, empty where a column has none. ``name`` is a safe file name.

    ``header``: whether the first row names the columns; None where columns are named otherwise.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    header: bool | None = None

    def usual(self) -> int:
        """The column that is usually meant, as ``columns.usual``."""
        first = (row.cells for row in self.rows[: shapes.SAMPLE])
        return shapes.usual(self.columns, [cells for cells in first if not isinstance(cells, TextError)])

    def notices(self) -> tuple[str, ...]:
        """Notices where the rows were read in a way that a reader may not expect."""
        if not (count := joined(self.rows)):
            return ()
        return (later("Rows of several lines, in quotation marks: {count:,}.", count=count),)

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
        return Upload(tuple(texts), self.name, (*self.notices(), *notices), tuple(errors))


def check_file(name: str, data: bytes) -> None:
    """Raise TextError for a file whose format is not in FORMATS."""
    if _format(name)[0] not in FORMATS:
        encodings.refuse_binary(data)
        raise TextError(
            later(
                "Files of this format are not read. Upload {formats}, or one of these as .gz.", formats=choices(FORMATS)
            )
        )


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


def read_table(
    name: str,
    data: bytes,
    *,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
    header: bool | None = None,
    quotes: bool | None = None,
) -> Table:
    """The rows of an uploaded file in one of TABLES, optionally compressed as .gz.

    header, quotes: whether the first row of a .csv or .tsv names the columns, and whether quotation marks enclose its
    cells; None: judged by the file. A line of a .jsonl, or
    a value of an array, is an object, whose keys are the columns (those of an object within it are joined by a dot), or
    a string, which is in the column "text".

    Raises the same errors as ``read_upload``, but not for rows that cannot be used.
    """
    text = _decoded(name, data, encoding, max_bytes)
    read = table(lambda: nullcontext(io.StringIO(text, newline="")), _format(name)[0], header=header, quotes=quotes)
    rows = tuple(islice(read, MAX_ROWS + 1))
    return _limited(Table(safe_name(name), read.names, rows, read.header))


def _limited(table: Table) -> Table:
    """The table. Raises TooLong for too many rows or columns."""
    if len(table.rows) > MAX_ROWS:
        message = later("The file has more than {limit:,} rows, which is the limit. Split it.", limit=MAX_ROWS)
        raise TooLong(message, len(table.rows), MAX_ROWS)
    if (width := len(table.columns)) > MAX_COLUMNS:
        message = later("The file has {count:,} columns; at most {limit:,} are read.", count=width, limit=MAX_COLUMNS)
        raise TooLong(message, width, MAX_COLUMNS)
    return table


def read_rows(
    name: str, data: bytes, *, encoding: str | None = None, header: bool | None = None, quotes: bool | None = None
) -> Table:
    """The rows of an uploaded file in one of FORMATS: as ``read_table``, and of a .txt or .md each line that is not
    blank, in one column without a name.

    Raises the same errors as ``read_table``.
    """
    if is_table(name):
        return read_table(name, data, encoding=encoding, header=header, quotes=quotes)
    lines = physical_lines(io.StringIO(_decoded(name, data, encoding, MAX_BYTES), newline=""))
    rows = (
        Row(number, number, line if isinstance(line, TextError) else {0: line.rstrip("\r\n")})
        for number, line in lines
        if isinstance(line, TextError) or line.strip()
    )
    return _limited(Table(safe_name(name), ("",), tuple(islice(rows, MAX_ROWS + 1))))


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
    _suffix, packed = _format(name)
    if not data:
        raise TextError(later("The file is empty."))
    if packed and data.startswith(b"\x1f\x8b"):
        data = encodings.unpack(data, max_bytes)
        if not data:
            raise TextError(later("The file is empty."))
    encodings.refuse_binary(data)
    check_file(name, data)
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
