"""The texts of a corpus, read as a stream: .txt, .csv, .tsv, .jsonl, .parquet, .conllu, also as .gz, or a folder.

A row that cannot be used comes out with its line and the reason, and does not affect the others.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from bartviz.corpus import conllu
from bartviz.corpus.conllu import Tree
from bartviz.errors import BartvizError, SettingError, TextError, choices, missing
from bartviz.text.clean import clean
from bartviz.text.labels import is_blank
from bartviz.text.rows import COLUMNS, Row, as_wide, delimiter_of, object_rows, separated_rows

FORMATS = (".txt", ".md", ".csv", ".tsv", ".jsonl", ".parquet", ".conllu")
Part = Literal["text", "pair", "target", "gold"]
Named = tuple[int, Mapping[str, str] | TextError]  # line, and the texts by column
_FIRST_LINES = 20  # from which the delimiter of a .csv is judged
_BROKEN = (OSError, EOFError, ValueError)  # of a file that is damaged


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns to read. ``text`` None: the usual one, else the first. The others are read if named."""

    text: str | None = None
    pair: str | None = None
    target: str | None = None
    gold: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A text of the corpus: its number among all rows, counted from 0, its file, its line, counted from 1.

    ``pair`` is a second sentence, ``target`` a given output, ``gold`` a manual alignment in Pharaoh's format, ``tree``
    the words of a CoNLL-U sentence.
    """

    number: int
    file: str
    line: int
    text: str
    pair: str | None = None
    target: str | None = None
    gold: str | None = None
    tree: Tree | None = None


@dataclass(frozen=True, slots=True)
class Bad:
    """A row that was left out, and why."""

    number: int
    file: str
    line: int
    reason: str


def lines(path: Path, columns: Columns | None = None, *, paragraphs: bool = False) -> Iterator[Line | Bad]:
    """Every row of the corpus, in order; of a folder file by file, sorted by path.

    A text is a line of a .txt or .md, or with ``paragraphs`` what stands between blank lines. Raises TextError for a
    path that holds no file in one of ``FORMATS`` or a file that cannot be opened, SettingError for a column that a
    file lacks.
    """
    number, columns = 0, columns or Columns()
    for name, file in files(path):
        for line, found in _rows(file, columns, paragraphs):
            yield _checked(number, name, line, found, columns)
            number += 1


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
        with _opened(file), file.open("rb") as stream:
            whole.update(f"{name}\n{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()[:32]


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _checked(number: int, file: str, line: int, found: Mapping[str, str] | TextError, columns: Columns) -> Line | Bad:
    """The row, cleaned, or why it cannot be used."""
    if isinstance(found, TextError):
        return Bad(number, file, line, str(found))
    try:
        text = _text(found.get("text"), "text")
        pair, target, gold = (
            _text(found.get(part), part) if getattr(columns, part) is not None else None
            for part in ("pair", "target", "gold")
        )
        tree = conllu.placed(text, found["tree"]) if "tree" in found else None
    except TextError as error:
        return Bad(number, file, line, str(error))
    return Line(number, file, line, text, pair, target, gold, tree)


def _text(text: str | None, part: str) -> str:
    """A cell as a model reads it. Raises TextError."""
    if not text or is_blank(text):
        raise TextError(f"It has no {part}.")
    if any("\udc80" <= sign <= "\udcff" for sign in text):
        raise TextError(f"Its {part} is not UTF-8.")
    return clean(text).text


def _rows(file: Path, columns: Columns, paragraphs: bool) -> Iterator[Named]:
    suffix = _suffix(file)
    with _opened(file):
        if suffix == ".parquet":
            yield from _parquet(file, columns)
            return
        with _stream(file) as stream:
            if suffix in (".txt", ".md", ".conllu"):
                if any((columns.text, columns.pair, columns.target, columns.gold)):
                    raise SettingError(f"{file.name} has no columns: leave the names of columns out.")
                if suffix == ".conllu":
                    yield from conllu.sentences(stream)
                else:
                    yield from _paragraphs(stream) if paragraphs else _plain(stream)
            elif suffix == ".jsonl":
                yield from _objects(stream, columns, file.name)
            else:
                yield from _separated(stream, "\t" if suffix == ".tsv" else None, columns, file.name)


@contextmanager
def _opened(file: Path) -> Iterator[None]:
    """Raise TextError for a file that cannot be read."""
    try:
        yield
    except BartvizError:
        raise
    except _BROKEN as error:
        raise TextError(f"{file.name} cannot be read: it is damaged, or not what its name says.") from error


@contextmanager
def _stream(file: Path) -> Iterator[io.TextIOBase]:
    """The text of a file, unpacked; bytes that are not UTF-8 become lone surrogates, which ``_text`` refuses."""
    packed = file.suffix.lower() == ".gz"
    with gzip.open(file) if packed else file.open("rb") as data:
        yield io.TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape", newline="")


def _plain(stream: Iterable[str]) -> Iterator[Named]:
    """Each line that is not blank."""
    return ((number, {"text": line.rstrip("\r\n")}) for number, line in enumerate(stream, start=1) if line.strip())


def _paragraphs(stream: Iterable[str]) -> Iterator[Named]:
    """What stands between blank lines, with the number of its first line."""
    first = 0
    held: list[str] = []
    for number, line in enumerate(chain(stream, [""]), start=1):
        if line.strip():
            first = first if held else number
            held.append(line.strip())
        elif held:
            yield first, {"text": " ".join(held)}
            held = []


def _objects(stream: Iterable[str], columns: Columns, file: str) -> Iterator[Named]:
    numbers: dict[str, int] = {}
    chosen: dict[str, str] | None = None
    for row in object_rows(stream, numbers):
        if isinstance(row.cells, TextError):
            yield row.first, row.cells
            continue
        if chosen is None:  # an object may lack a key: that is one bad row
            chosen = _chosen([*numbers, *_asked(columns)], columns, file)
        yield row.first, {part: row.cells.get(numbers.get(name, -1), "") for part, name in chosen.items()}


def _separated(stream: Iterable[str], delimiter: str | None, columns: Columns, file: str) -> Iterator[Named]:
    source = iter(stream)
    first = list(islice(source, _FIRST_LINES))
    rows = separated_rows(chain(first, source), delimiter or delimiter_of("".join(first)))
    head = next((row for row in rows if not isinstance(row.cells, TextError)), None)
    if head is None or isinstance(head.cells, TextError):
        return
    names = [cell.strip() for cell in head.cells.values()]
    named = bool(_asked(columns) & set(names)) or any(name.lower() in COLUMNS for name in names)
    titles = names if named else [str(place) for place in range(1, len(names) + 1)]
    chosen = {part: titles.index(name) for part, name in _chosen(titles, columns, file).items()}
    body: Iterable[Row] = rows if named else chain([head], rows)
    for row in body:
        cells = as_wide(row, len(names)).cells
        texts = cells if isinstance(cells, TextError) else {part: cells.get(at, "") for part, at in chosen.items()}
        yield row.first, texts


def _parquet(file: Path, columns: Columns) -> Iterator[Named]:
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise missing("pyarrow") from error
    table: Any = pq.ParquetFile(file)
    chosen = _chosen(list(table.schema_arrow.names), columns, file.name)
    number = 0
    for batch in table.iter_batches(columns=sorted(set(chosen.values()))):
        for row in batch.to_pylist():
            number += 1
            cells = {part: row[name] for part, name in chosen.items()}
            odd = [part for part, cell in cells.items() if not isinstance(cell, str | None)]
            yield number, TextError(f"Its {odd[0]} is no text.") if odd else {k: v or "" for k, v in cells.items()}


def _parts() -> tuple[Part, ...]:
    return "text", "pair", "target", "gold"


def _asked(columns: Columns) -> set[str]:
    return {name for part in _parts() if (name := getattr(columns, part)) is not None}


def _chosen(names: list[str], columns: Columns, file: str) -> dict[str, str]:
    """Part -> the name of its column. Raises SettingError for one that is not there."""
    usual = (name for name in names if name.lower() in COLUMNS)
    found = {"text": columns.text or next(usual, names[0] if names else "")}
    found |= {part: name for part in _parts()[1:] if (name := getattr(columns, part)) is not None}
    for name in found.values():
        if name not in names:
            raise SettingError(f"{file} has no column of the name {name!r}: choose {choices(names)}.")
    return found
