"""The rows of an uploaded file, as a corpus."""

from __future__ import annotations

import pytest

from bartviz.corpus import uploaded
from bartviz.corpus.read import Bad, Line
from bartviz.errors import TextError, TooLong
from bartviz.reading.uploads import MAX_ROWS, read_rows


def test_each_line_of_a_text_is_a_row_and_keeps_its_number() -> None:
    rows = uploaded.rows(read_rows("a.txt", "One.\r\n\n둘.\rThree.".encode()), 0)
    assert rows == (Line(0, "a.txt", 1, "One."), Line(1, "a.txt", 3, "둘."), Line(2, "a.txt", 4, "Three."))


def test_a_row_without_its_output_is_left_out_with_the_reason() -> None:
    table = read_rows("a.csv", b"text,de\nA car.,Ein Auto.\nA house.,\n")
    assert uploaded.rows(table, 0, ("target", 1)) == (
        Line(0, "a.csv", 2, "A car.", target="Ein Auto."),
        Bad(1, "a.csv", 3, "It has no text in this column."),
    )
    assert all(isinstance(row, Line) for row in uploaded.rows(table, 0))


def test_a_file_that_is_no_text_or_too_long_is_refused() -> None:
    with pytest.raises(TextError, match="empty"):
        read_rows("a.txt", b"")
    with pytest.raises(TooLong, match="10,000"):
        read_rows("a.txt", b"x\n" * (MAX_ROWS + 1))
