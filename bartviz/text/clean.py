"""Validate and clean a user's text before a run; refuse what cannot be run.

Every change is reported in a notice; everything else stays as typed. Nothing is composed or decomposed: ``e`` with a
combining accent stays two code points, as the model will see them, and has one span. Control, zero-width and direction
characters stay too and are shown by name (``labels.visible``).
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from bartviz.errors import TextError, choices
from bartviz.language import later
from bartviz.text import encodings
from bartviz.text.encodings import TooLong
from bartviz.text.labels import is_blank

MAX_CHARACTERS = 100_000  # of one text; the models read a few thousand at most
MAX_BYTES = 10 << 20  # of one file, both compressed and decompressed
MAX_ROWS = 10_000  # of one file
MAX_NAME = 80  # characters of a file's name
FORMATS = (".txt", ".md", ".csv", ".tsv", ".jsonl")
COLUMNS = ("text", "source", "sentence", "input")  # possible names of the column or JSON key with the text

Truncate = Literal["first", "last"]  # the part that is kept of a text that is too long

_LINE_ENDS = re.compile("[\u2028\u2029\u0085]")
_UNSAFE = re.compile(r"[^\w .()+-]+")
_SUFFIX = re.compile(r"(?:\.\w{1,10}){1,2}$")


@dataclass(frozen=True)
class Cleaned:
    """A text that can be tokenized, and one notice for each change."""

    text: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Upload:
    """The texts of a file, in order: one for a .txt or .md, one per row for the others.

    ``name`` is a safe file name; ``errors`` list the rows that were left out, and why.
    """

    texts: tuple[str, ...]
    name: str
    notices: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def clean(text: str) -> Cleaned:
    """The text without characters that break tokenizers. Raises TextError if nothing visible is left, and TooLong over
    MAX_CHARACTERS, before any other work."""
    if not isinstance(text, str):
        raise TextError(f"One text is expected, a str and not a {type(text).__name__}. Of several take each by itself.")
    if len(text) > MAX_CHARACTERS:
        raise TooLong(
            later(
                "The text has {count:,} characters; at most {limit:,} are read at once. Shorten or split it.",
                count=len(text),
                limit=MAX_CHARACTERS,
            ),
            len(text),
            MAX_CHARACTERS,
        )
    notices = []
    for change, notice in (
        (lambda t: t.lstrip("\ufeff"), later("The byte order mark before the text was removed.")),
        (lambda t: t.replace("\0", ""), later("NUL characters were removed.")),
        (_paired, later("Halves of characters (lone surrogates) were replaced by \ufffd.")),
        (lambda t: t.replace("\r\n", "\n").replace("\r", "\n"), later("Line ends were made the same (CR LF to LF).")),
        (lambda t: _LINE_ENDS.sub("\n", t), later("Unicode line separators were made line ends.")),
    ):
        changed = change(text)
        if changed != text:
            notices.append(notice)
        text = changed
    if not text or is_blank(text):
        raise TextError(later("There is no text: nothing, or only white space. Type a sentence, or choose an example."))
    return Cleaned(text, tuple(notices))


def _paired(text: str) -> str:
    """The text with surrogate pairs joined, and U+FFFD for each lone surrogate."""
    if not re.search("[\ud800-\udfff]", text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def check_length(count: int, limit: int, *, can_cut: bool = True) -> None:
    """Raise TooLong if a text has more tokens than the model reads, with the exact number and advice.

    ``can_cut``: whether the caller can read only the first or the last part.
    """
    if count > limit:
        advice = later("Shorten it by {count:,}.", count=count - limit)
        if can_cut:
            advice = later(
                "Shorten it by {count:,}, or have only its first or last {limit:,} tokens read.",
                count=count - limit,
                limit=limit,
            )
        raise TooLong(
            later(
                "The text has {count:,} tokens; this model reads at most {limit:,}. {advice}",
                count=count,
                limit=limit,
                advice=advice,
            ),
            count,
            limit,
            can_cut=can_cut,
        )


def read_upload(name: str, data: bytes, *, encoding: str | None = None, max_bytes: int = MAX_BYTES) -> Upload:
    """The texts of an uploaded file in one of FORMATS, optionally compressed as .gz.

    A .txt or .md is one text. A .csv or .tsv has one per row, in the first column named in COLUMNS, else in the first
    column; a .jsonl has one per line, a string or the value of such a key. Unusable rows are left out and listed in
    ``errors``. ``encoding`` is one of ``encodings.ENCODINGS``; None means UTF-8, or the encoding of the byte order
    mark.

    Raises TooLong, ``encodings.EncodingError`` (offset, and the encodings to choose from), SettingError, and TextError
    for a file that is empty, not text, of another format, or without a usable row.
    """
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
    text = encodings.decode(data, encoding)
    if suffix in (".txt", ".md"):
        cleaned = clean(text)
        return Upload((cleaned.text,), safe_name(name), cleaned.notices)
    if suffix == ".jsonl":
        return _rows(name, _json_rows(text), ())
    rows, notices = _table_rows(text, suffix)
    return _rows(name, rows, notices)


def _format(name: str) -> tuple[str, bool]:
    """The suffix of a file's format, and whether the file is compressed."""
    parts = _base_name(name).lower().split(".")
    packed = parts[-1] == "gz"
    inside = parts[:-1] if packed else parts
    return (f".{inside[-1]}" if len(inside) > 1 else ""), packed


Row = tuple[int, str | TextError]  # its first line, and its text or the reason why it has none


def _rows(name: str, rows: Iterable[Row], notices: tuple[str, ...]) -> Upload:
    """Clean every row separately, so that one bad row does not affect the others."""
    texts: list[str] = []
    errors: list[str] = []
    changes: Counter[str] = Counter()
    for count, (line, text) in enumerate(rows, start=1):
        if count > MAX_ROWS:
            raise TooLong(
                later("The file has more than {limit:,} rows, which is the limit. Split it.", limit=MAX_ROWS),
                count,
                MAX_ROWS,
            )
        try:
            if isinstance(text, TextError):
                raise text
            cleaned = clean(text)
        except TextError as error:
            errors.append(later("Line {line:,} was left out. {reason}", line=line, reason=error.args[0]))
            continue
        texts.append(cleaned.text)
        changes.update(cleaned.notices)
    if not texts:
        raise TextError(
            later("None of the {count:,} rows can be used. {reason}", count=len(errors), reason=errors[0])
            if errors
            else later("There are no rows.")
        )
    change_notices = (
        later("In {count:,} of {all:,} rows: {notice}", count=count, all=len(texts), notice=notice)
        for notice, count in changes.items()
    )
    return Upload(tuple(texts), safe_name(name), (*notices, *change_notices), tuple(errors))


def _json_rows(text: str) -> Iterator[Row]:
    for line, part in enumerate(text.split("\n"), start=1):
        if part.strip():
            yield line, _json_text(part)


def _json_text(part: str) -> str | TextError:
    try:
        value = json.loads(part)
    except (ValueError, RecursionError):
        return TextError(later("It is not valid JSON."))
    if isinstance(value, dict):
        value = next((value[key] for key in COLUMNS if key in value), None)
    return (
        value
        if isinstance(value, str)
        else TextError(later("It has no text under {columns}.", columns=choices(COLUMNS)))
    )


def _table_rows(text: str, suffix: str) -> tuple[list[Row], tuple[str, ...]]:
    """The rows of the text column, and a notice that names it."""
    delimiter = "\t" if suffix == ".tsv" else _delimiter(text)
    table = list(islice(_cells(text, delimiter), MAX_ROWS + 2))  # the header, the rows, and one more than allowed
    head = next((cells for _, cells in table if isinstance(cells, list)), [])
    names = [cell.strip().lower() for cell in head]
    column = next((names.index(name) for name in COLUMNS if name in names), None)
    if column is not None:
        table = [(line, cells) for line, cells in table if cells is not head]
        notice = later('The texts are those of the column "{name}".', name=names[column])
    else:
        notice = later(
            "The texts are those of the first of {count:,} columns: none is called {names}.",
            count=len(names),
            names=choices(COLUMNS),
        )
    return [
        (line, cells if isinstance(cells, TextError) else "".join(cells[column or 0 :][:1])) for line, cells in table
    ], (notice,)


def _delimiter(text: str) -> str:
    """The delimiter that is most frequent in every one of the first lines; a comma by default."""
    lines = [line for line in text[:MAX_CHARACTERS].split("\n", 20)[:20] if line.strip()]
    return max(",;\t", key=lambda sign: min((line.count(sign) for line in lines), default=0))


def _cells(text: str, delimiter: str) -> Iterator[tuple[int, list[str] | TextError]]:
    """The first line of each row, and its cells or its error. Raises TooLong for a huge field."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field limit" in str(error):
                limit = csv.field_size_limit()
                message = later(
                    "A field in line {line:,} has more than {limit:,} characters, which is the limit. Shorten it.",
                    line=line,
                    limit=limit,
                )
                raise TooLong(message, limit + 1, limit) from None
            yield line, TextError(later("A quotation mark in it is not closed, or stands within a field."))
        else:
            if any(cells):
                yield line, cells


def safe_name(name: str) -> str:
    """The last part of a file name, limited to letters, digits and `` .()+-`` and to 80 characters; keeps the
    suffix."""
    whole = _UNSAFE.sub("_", unicodedata.normalize("NFC", _base_name(name))).strip(" .") or "upload"
    suffix = _SUFFIX.search(whole)
    kept = "" if suffix is None else suffix[0]
    return whole if len(whole) <= MAX_NAME else whole[: MAX_NAME - len(kept)].rstrip(" .") + kept


def _base_name(name: str) -> str:
    """The part after the last slash or backslash."""
    return re.split(r"[/\\]", name)[-1].strip()
