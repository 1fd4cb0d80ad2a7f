"""The rows of an uploaded file as a corpus: a text of each row, and a second one where a column of it is named."""

from __future__ import annotations

from typing import Literal

from bartviz.corpus.read import Bad, Line
from bartviz.errors import TextError
from bartviz.reading.uploads import Table, cell

Second = Literal["pair", "target"]


def rows(table: Table, column: int, second: tuple[Second, int] | None = None) -> tuple[Line | Bad, ...]:
    """Every row of the table, numbered from 0: the text of ``column``, and of another as second sentence or output.

    A row that lacks one of them comes out with the reason.
    """
    return tuple(_row(table, number, column, second) for number in range(len(table.rows)))


def _row(table: Table, number: int, column: int, second: tuple[Second, int] | None) -> Line | Bad:
    row = table.rows[number]
    try:
        text = cell(row, column).text
        other = {} if second is None else {second[0]: cell(row, second[1]).text}
    except TextError as error:
        return Bad(number, table.name, row.first, error.args[0])
    return Line(number, table.name, row.first, text, other.get("pair"), other.get("target"))
