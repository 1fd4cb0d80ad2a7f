"""The texts of a corpus, read as a stream: .txt, .csv, .tsv, .json, .jsonl, .parquet, .conllu, also as .gz, or a
folder.

A row that cannot be used comes out with its line and the reason, and does not affect the others.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from bartviz.corpus import conllu
from bartviz.corpus.conllu import Tree
from bartviz.errors import BartvizError, SettingError, TextError, choices, missing
from bartviz.reading.columns import COLUMNS
from bartviz.reading.encodings import ENCODINGS, known_encoding, marked
from bartviz.reading.json_rows import MAX_DEPTH, cells_of
from bartviz.reading.rows import MAX_LINE, Row, joined, physical_lines, too_long
from bartviz.reading.tables import JSON, SEPARATED, Rows, of_objects, table
from bartviz.text.clean import clean
from bartviz.text.labels import is_blank

TABLES = (*SEPARATED, *JSON, ".parquet")
FORMATS = (".txt", ".md", *TABLES, ".conllu")
Part = Literal["text", "pair", "target", "gold"]
Named = tuple[int, Mapping[str, str] | TextError]  # line, and the texts by column
_START = 4_096  # bytes that show the encoding
_BATCH = 1_024  # rows of a .parquet that are in memory
_BROKEN = (OSError, EOFError, ValueError, MemoryError)  # of a file that is damaged


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns to read, or their numbers, counted from 1. ``text`` None: the usual one, by name or
    shape. The others are read if named."""

    text: str | None = None
    pair: str | None = None
    target: str | None = None
    gold: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """How the files of a corpus are written.

    header, quotes: whether the first row of a .csv or .tsv names the columns, and whether quotation marks enclose its
    cells; None: judged by the file. encoding: one of ``encodings.ENCODINGS``; None: that of the byte order mark, else
    UTF-8.
    """

    header: bool | None = None
    quotes: bool | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", known_encoding(self.encoding))


@dataclass(frozen=True, slots=True)
class Line:
    """A text of the corpus: its number among all rows, counted from 0, its file, its line, counted from 1.

    ``pair`` is a second sentence, ``target`` a given output, ``gold`` a manual alignment in Pharaoh's format, ``tree``
    the words of a CoNLL-U sentence. ``columns``: others that were asked for, by name, a value for each word.
    """

    number: int
    file: str
    line: int
    text: str
    pair: str | None = None
    target: str | None = None
    gold: str | None = None
    tree: Tree | None = None
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Bad:
    """A row that was left out, and why."""

    number: int
    file: str
    line: int
    reason: str


def lines(
    path: Path,
    columns: Columns | None = None,
    form: Form | None = None,
    *,
    paragraphs: bool = False,
    more: Collection[str] = (),
) -> Iterator[Line | Bad]:
    """Every row of the corpus, in order; of a folder file by file, sorted by path.

    A text is a line of a .txt or .md, or with ``paragraphs`` what stands between blank lines. ``more``: other columns
    to read, whose cells have a value for each word, between spaces; in a .conllu some of ``conllu.VALUES``.

    Raises TextError for a path that holds no file in one of ``FORMATS`` or a file that cannot be opened, SettingError
    for a column that a file lacks.
    """
    number, columns, form = 0, columns or Columns(), form or Form()
    for name, file in files(path):
        for line, found in _rows(file, columns, form, paragraphs, more):
            yield checked(number, name, line, found, columns, form, more)
            number += 1


def check(path: Path, columns: Columns | None = None, form: Form | None = None, more: Collection[str] = ()) -> None:
    """Read the beginning of every file. Raises what ``lines`` raises."""
    for _name, file in files(path):
        next(_rows(file, columns or Columns(), form or Form(), False, more), None)


def notices(path: Path, columns: Columns | None = None, form: Form | None = None) -> tuple[str, ...]:
    """How the tables in a corpus were read: the column of the texts, the header, rows of several lines.

    Raises what ``lines`` raises.
    """
    columns, form = columns or Columns(), form or Form()
    return tuple(
        notice for name, file in files(path) if _suffix(file) in TABLES for notice in _judged(name, file, columns, form)
    )


def _judged(name: str, file: Path, columns: Columns, form: Form) -> Iterator[str]:
    with opened(file):
        read = _table(file, columns, form)
        if not read.names:
            return
        known = {name.lower() for name in read.names} & set(COLUMNS)
        usual = read.names[read.usual].lower() in known and len(set(read.names)) == len(read.names)
        if columns.text is None and len(read.names) > 1 and not usual:
            title = read.title(read.usual)
            place = f"{read.usual + 1} ({title})" if read.names[read.usual] else title
            yield f"{name}: the texts are those of column {place}; --column names another."
        if read.header and form.header is None and not known | (set(read.names) & _asked(columns)):
            names = ", ".join(read.titles())
            yield f"{name}: the first row is a header ({names}); --no-header reads it as a text."
        if read.header is False and form.header is None:
            yield f"{name}: the first row is a text; --header says that it names the columns."
        if read.header is not None and (count := joined(read)):
            yield (
                f"{name}: rows of several lines, in quotation marks: {count:,}; --no-quotes reads each line as a row."
            )


def files(path: Path) -> list[tuple[str, Path]]:
    """The files of a corpus: name within the folder, path. Raises TextError."""
    if path.is_file():
        if _suffix(path) not in FORMATS:
            raise TextError(f"A corpus is a file in one of {choices(FORMATS)}, also as .gz, or a folder of these.")
        return [(path.name, path)]
    inside = sorted(file for file in path.rglob("*") if file.is_file() and _suffix(file) in FORMATS)
    if not inside:
        raise TextError(f"There is no file in one of {choices(FORMATS)} at that path.")
    return [(file.relative_to(path).as_posix(), file) for file in inside]


def digest(path: Path) -> str:
    """The digest of a corpus: of the names and the bytes of its files. Raises TextError."""
    whole = hashlib.sha256()
    for name, file in files(path):
        with opened(file), file.open("rb") as stream:
            whole.update(f"{name}\n{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()[:32]


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def checked(
    number: int,
    file: str,
    line: int,
    found: Mapping[str, str] | TextError,
    columns: Columns,
    form: Form,
    more: Collection[str] = (),
) -> Line | Bad:
    """The row, cleaned, or why it cannot be used."""
    if isinstance(found, TextError):
        return Bad(number, file, line, found.args[0])
    try:
        text = _text(found.get("text"), "text", form)
        pair, target, gold = (
            _text(found.get(part), part, form) if getattr(columns, part) is not None else None
            for part in ("pair", "target", "gold")
        )
        tree = conllu.placed(text, found["tree"]) if "tree" in found else None
    except TextError as error:
        return Bad(number, file, line, error.args[0])
    separator = conllu.SIGN if "tree" in found else None
    named = tuple((name, tuple(found.get(f"={name}", "").split(separator))) for name in sorted(more))
    return Line(number, file, line, text, pair, target, gold, tree, named)


def row(number: int, file: str, text: str, pair: str | None = None, target: str | None = None) -> Line | Bad:
    """The row of a text in memory."""
    found = {name: value for name, value in (("text", text), ("pair", pair), ("target", target)) if value is not None}
    given = Columns(**{name: name for name in found})
    return checked(number, file, number + 1, found, given, Form())


def _text(text: str | None, part: str, form: Form) -> str:
    """A cell as a model reads it. Raises TextError."""
    if not text or is_blank(text):
        raise TextError(f"It has no {part}.")
    if any("\udc80" <= char <= "\udcff" for char in text):
        if form.encoding not in (None, "utf-8"):
            raise TextError(f"Its {part} is not {ENCODINGS[form.encoding]}.")
        raise TextError(f"Its {part} is not UTF-8. Name its encoding: {choices(ENCODINGS)}.")
    return clean(text).text


def _rows(file: Path, columns: Columns, form: Form, paragraphs: bool, more: Collection[str] = ()) -> Iterator[Named]:
    suffix = _suffix(file)
    with opened(file):
        if suffix in TABLES:
            yield from _named(_table(file, columns, form, more), columns, file.name, more)
            return
        if suffix == ".conllu" and (unknown := sorted(set(more) - set(conllu.VALUES))):
            raise SettingError(f"{file.name} has no column {unknown[0]!r}: choose {choices(conllu.VALUES)}.")
        if _asked(columns) or (more and suffix != ".conllu"):
            raise SettingError(f"{file.name} has no columns: leave the names of columns out.")
        with stream(file, form) as text:
            if suffix == ".conllu":
                yield from conllu.sentences(line for _number, line in physical_lines(text))
            else:
                yield from _paragraphs(text) if paragraphs else _plain(text)


@contextmanager
def opened(file: Path) -> Iterator[None]:
    """Raise TextError for a file that cannot be read."""
    try:
        yield
    except BartvizError:
        raise
    except _BROKEN as error:
        raise TextError(f"{file.name} cannot be read: it is damaged, or not what its name says.") from error


@contextmanager
def stream(file: Path, form: Form) -> Iterator[io.TextIOBase]:
    """The text of a file, unpacked; bytes that are not of its encoding become lone surrogates, which ``_text``
    refuses."""
    packed = file.suffix.lower() == ".gz"
    with gzip.open(file) if packed else file.open("rb") as data:
        start = data.read(_START)
        data.seek(0)
        mark = marked(start, form.encoding)
        if mark is None and form.encoding is None and 5 * start.count(0) > len(start):
            raise TextError(f"{file.name} is not UTF-8. Name its encoding, such as utf-16, or save it as text.")
        encoding = mark or ("utf-16-le" if form.encoding == "utf-16" else form.encoding) or "utf-8"
        yield io.TextIOWrapper(data, encoding=encoding, errors="surrogateescape", newline="")


def _plain(stream: io.TextIOBase) -> Iterator[Named]:
    """Each line that is not blank."""
    for number, line in physical_lines(stream):
        if isinstance(line, TextError):
            yield number, line
        elif line.strip():
            yield number, {"text": line.rstrip("\r\n")}


def _paragraphs(stream: io.TextIOBase) -> Iterator[Named]:
    """Paragraphs between blank lines, each with the number of its first line."""
    first = length = 0
    held: list[str] = []
    for number, line in chain(physical_lines(stream), [(0, "")]):
        if isinstance(line, TextError):
            yield number, line
        elif line.strip():
            first = first if held else number
            length += len(line)
            if length <= MAX_LINE:
                held.append(line.strip())
        elif held:
            long = too_long()
            yield first, long if length > MAX_LINE else {"text": " ".join(held)}
            held, length = [], 0


def _table(file: Path, columns: Columns, form: Form, more: Collection[str] = ()) -> Rows:
    suffix, wanted = _suffix(file), _asked(columns) | set(more)
    if suffix == ".parquet":
        return _parquet(file, wanted)
    return table(lambda: stream(file, form), suffix, header=form.header, quotes=form.quotes, wanted=wanted)


def _named(read: Rows, columns: Columns, file: str, more: Collection[str] = ()) -> Iterator[Named]:
    """The texts of the chosen columns of each row. Raises SettingError for a column that is not there."""
    if not read.names:  # there is no row that can be read
        for row in read:
            yield row.first, row.cells if isinstance(row.cells, TextError) else {}
        return
    chosen = {f"={name}": read.column(name, file) for name in more}
    chosen |= {part: read.column(name, file) for part in _parts() if (name := getattr(columns, part)) is not None}
    chosen.setdefault("text", read.usual)
    for row in read:
        if isinstance(row.cells, TextError):
            yield row.first, _spanning(row, row.cells)
        else:
            yield row.first, {part: row.cells.get(place, "") for part, place in chosen.items()}


def _spanning(row: Row, reason: TextError) -> TextError:
    """The reason, with the lines where they are several: more than one text may be in them."""
    if row.first == row.last:
        return reason
    return TextError(f"Lines {row.first:,} to {row.last:,}: {reason}")


def _parquet(file: Path, wanted: set[str]) -> Rows:
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise missing("pyarrow") from error

    with pq.ParquetFile(file) as whole:
        fields = {name: tuple(_text_paths(name, kind)) for name, kind in _fields(whole.schema_arrow)}
    known = {path: place for place, path in enumerate(path for paths in fields.values() for path in paths)}
    asked = {name.partition(".")[0] for name in wanted}
    stored = [name for name, paths in fields.items() if paths or name in asked]

    def read(known: dict[str, int]) -> Iterator[Row]:
        number = 0
        with pq.ParquetFile(file) as whole:
            for batch in whole.iter_batches(_BATCH, columns=stored):
                for value in batch.to_pylist():
                    number += 1
                    yield Row(number, number, cells_of(value, known, wanted))

    return of_objects(read, wanted, known)


def _fields(schema: Any) -> list[tuple[str, Any]]:
    return [(field.name, field.type) for field in schema]


def _text_paths(path: str, kind: Any) -> Iterator[str]:
    """The paths of the texts in a column of a .parquet, which may hold structs."""
    from pyarrow import types

    if types.is_struct(kind) and path.count(".") < MAX_DEPTH - 1:
        for place in range(kind.num_fields):
            yield from _text_paths(f"{path}.{kind.field(place).name}", kind.field(place).type)
    elif types.is_dictionary(kind):
        yield from _text_paths(path, kind.value_type)
    elif types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        yield path


def _parts() -> tuple[Part, ...]:
    return "text", "pair", "target", "gold"


def _asked(columns: Columns) -> set[str]:
    return {name for part in _parts() if (name := getattr(columns, part)) is not None}
