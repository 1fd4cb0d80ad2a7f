"""A table in a text, for the sidebar, the page Corpus and the command alike: its columns, and its rows as a stream."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from bartviz.errors import SettingError, TextError, choices
from bartviz.reading import columns as shapes
from bartviz.reading.columns import BEGINNING, SAMPLE
from bartviz.reading.json_rows import object_rows
from bartviz.reading.rows import Opened, Row, as_wide, separated_rows, written
from bartviz.text.labels import visible

JSON = (".json", ".jsonl")
SEPARATED = (".csv", ".tsv")
_NAMED, _SHOWN = 12, 40  # columns that a message names, and characters of each


@dataclass
class Rows:
    """The rows of a table, and the names of its columns, empty where a column has none.

    ``header``: whether the first row names the columns; None where a file names them otherwise. ``first`` is that row.
    ``columns`` of objects grow as rows are read. ``usual`` is the column with the texts, by name or by shape.
    """

    columns: dict[str, int] | Sequence[str]
    header: bool | None
    usual: int
    read: Callable[[], Iterator[Row]]
    first: Sequence[str] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def __iter__(self) -> Iterator[Row]:
        return self.read()

    def column(self, name: str, file: str) -> int:
        """The column of this name, or of this number, counted from 1. Raises SettingError."""
        places = [place for place, known in enumerate(self.names) if known == name]
        if len(places) > 1:
            numbers = choices(place + 1 for place in places)
            raise SettingError(f"{file} has several columns named {_shown(name)!r}: choose {numbers}.")
        if places:
            return places[0]
        if self.header is not None and name.isdecimal() and len(name) < 9 and 1 <= int(name) <= len(self.names):
            return int(name) - 1
        raise SettingError(f"{file} has no column named {_shown(name)!r}: choose {choices(self.titles())}.")

    def title(self, column: int) -> str:
        """The name of a column; else its number, with the cell of the first row."""
        if name := _shown(self.names[column]):
            return name
        cell = self.first[column] if column < len(self.first) and not self.header else ""
        return f"{column + 1} ({_shown(cell)})" if cell else str(column + 1)

    def titles(self) -> tuple[str, ...]:
        """The columns that can be chosen, as a message names them: few, and visible."""
        names = tuple(self.title(place) for place in range(min(len(self.names), _NAMED)))
        more = len(self.names) - _NAMED
        return (*names, f"{more:,} others") if more > 0 else names


def _shown(name: str) -> str:
    """A name in visible characters, and not too long."""
    line = visible(name[: _SHOWN + 1].encode("utf-8", "replace").decode("utf-8")) if name else ""
    return line if len(name) <= _SHOWN else f"{line[:_SHOWN]}…"


def table(
    opened: Opened, suffix: str, *, header: bool | None = None, quotes: bool | None = None, wanted: Collection[str] = ()
) -> Rows:
    """The table of a .csv, .tsv, .json or .jsonl.

    header, quotes: whether the first row names the columns, and quotation marks enclose cells; None: judged by the
    file. ``wanted``: names of columns that are asked for.
    """
    if suffix in JSON:
        return of_objects(lambda known: object_rows(opened, known, wanted), wanted)
    form = written(opened, "\t" if suffix == ".tsv" else None, quotes)

    def rows() -> Iterator[Row]:
        with opened() as stream:
            yield from separated_rows(stream, form)

    readable = (row.cells for row in islice(rows(), 2 * SAMPLE) if not isinstance(row.cells, TextError))
    first = next(readable, None)
    if first is None:
        return Rows((), header or False, 0, rows)
    titles = [cell.strip() for cell in first.values()]
    below = [_beginnings(cells) for cells in islice(readable, SAMPLE)]
    if header is None:
        header = bool(set(wanted) & set(titles)) or shapes.has_header(first, below)
    if header and below and all(len(cells) == len(first) + 1 and cells[len(first)] for cells in below):
        titles.insert(0, "")  # R writes no name above the names of rows
    width = len(titles)
    names = titles if header else [""] * width
    usual = shapes.usual(names, below if header else [first, *below])

    def body() -> Iterator[Row]:
        yield from (as_wide(row, width) for row in _without_first(rows(), header))

    return Rows(names, header, usual, body, titles)


def _without_first(rows: Iterator[Row], header: bool) -> Iterator[Row]:
    """The rows without the header: the first that can be read."""
    for row in rows:
        if header and not isinstance(row.cells, TextError):
            header = False
        else:
            yield row


def of_objects(
    read: Callable[[dict[str, int]], Iterator[Row]], wanted: Collection[str] = (), known: dict[str, int] | None = None
) -> Rows:
    """The table of rows that name their columns themselves. ``read`` adds those of each row to the ``known`` ones."""
    known = {} if known is None else known
    rows = read(known)
    first = [_beginnings(row.cells) for row in islice(rows, SAMPLE) if not isinstance(row.cells, TextError)]
    if not set(wanted) <= set(known):
        for _row in rows:  # it may be further down
            if set(wanted) <= set(known):
                break
    return Rows(known, None, shapes.usual(tuple(known), first), lambda: read(known))


def _beginnings(cells: Mapping[int, str]) -> Mapping[int, str]:
    """The part of a row that is judged: its cells may be long, and many rows are in memory."""
    return {column: cell[:BEGINNING] for column, cell in cells.items()}
