"""A visitor's text -> a text that can be run: cleaned with a notice, counted before it is tokenized, or refused.

What is changed is said; what is not named here stays as it was typed. Nothing is composed or decomposed: ``e`` with a
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
MAX_BYTES = 10 << 20  # of one file, packed and unpacked
MAX_ROWS = 10_000  # of one file
MAX_NAME = 80  # characters of a file's name
FORMATS = (".txt", ".md", ".csv", ".tsv", ".jsonl")
COLUMNS = ("text", "source", "sentence", "input")  # the column, or JSON key, that holds the text

Truncate = Literal["first", "last"]  # the part that is kept of a text that is too long

_LINE_ENDS = re.compile("[\u2028\u2029\u0085]")
_UNSAFE = re.compile(r"[^\w .()+-]+")
_SUFFIX = re.compile(r"(?:\.\w{1,10}){1,2}$")


@dataclass(frozen=True)
class Cleaned:
    """A text that can be tokenized, and one sentence for each thing that was changed in it."""

    text: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Upload:
    """The texts of a file, in order: one of a .txt or .md, one a row of the others.

    ``name`` is safe to show and to save under; ``errors`` name the rows that were left out, and why.
    """

    texts: tuple[str, ...]
    name: str
    notices: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def clean(text: str) -> Cleaned:
    """The text without what breaks tokenizers. Raises TextError where nothing visible is left, TooLong over
    MAX_CHARACTERS; a long text is refused before any work."""
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
    """The text with surrogates joined where two make a character, and U+FFFD for each that has lost the other."""
    if not re.search("[\ud800-\udfff]", text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def check_length(count: int, limit: int, *, can_cut: bool = True) -> None:
    """Raise TooLong where a text has more tokens than the model reads: the exact number, and what can be done.

    ``can_cut``: whether the caller offers to read only the first or the last part.
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
    """The texts of an uploaded file: FORMATS, each also packed as .gz.

    A .txt or .md is one text. A .csv or .tsv has one a row, in the column that is called one of COLUMNS, else the
    first; a .jsonl has one a line, a string or the value of such a key. Rows that cannot be used are left out and named
    in ``errors``. ``encoding`` is one of ``files.ENCODINGS``; None means UTF-8, or what the file's mark says.

    Raises TooLong, ``files.EncodingError`` (offset, and the encodings to choose from), SettingError, and TextError for
    what is empty, no text, of another format, or has no row that can be used.
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
    """The suffix that says what is in a file, and whether it is packed."""
    parts = _last(name).lower().split(".")
    packed = parts[-1] == "gz"
    inside = parts[:-1] if packed else parts
    return (f".{inside[-1]}" if len(inside) > 1 else ""), packed


Row = tuple[int, str | TextError]  # the line it begins in, and its text, or why it has none


def _rows(name: str, rows: Iterable[Row], notices: tuple[str, ...]) -> Upload:
    """Every row cleaned on its own: one bad row does not cost the others."""
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
    said = (
        later("In {count:,} of {all:,} rows: {notice}", count=count, all=len(texts), notice=notice)
        for notice, count in changes.items()
    )
    return Upload(tuple(texts), safe_name(name), (*notices, *said), tuple(errors))


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
    """The rows of one column, and a notice that says which."""
    delimiter = "\t" if suffix == ".tsv" else _delimiter(text)
    table = list(islice(_cells(text, delimiter), MAX_ROWS + 2))  # the names, the rows, and one too many
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
    """The sign that stands most often in every one of the first lines; a comma where there is none."""
    lines = [line for line in text[:MAX_CHARACTERS].split("\n", 20)[:20] if line.strip()]
    return max(",;\t", key=lambda sign: min((line.count(sign) for line in lines), default=0))


def _cells(text: str, delimiter: str) -> Iterator[tuple[int, list[str] | TextError]]:
    """The line that each row begins in, and its cells, or what is wrong with it. Raises TooLong for a huge field."""
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
    """The last part of a file name, of letters, digits and `` .()+-`` alone, 80 characters at most, its suffix kept."""
    whole = _UNSAFE.sub("_", unicodedata.normalize("NFC", _last(name))).strip(" .") or "upload"
    suffix = _SUFFIX.search(whole)
    kept = "" if suffix is None else suffix[0]
    return whole if len(whole) <= MAX_NAME else whole[: MAX_NAME - len(kept)].rstrip(" .") + kept


def _last(name: str) -> str:
    """What stands after the last slash of either kind."""
    return re.split(r"[/\\]", name)[-1].strip()
