"""How an uploaded file of texts is written: its encoding, header, quotation marks and columns, wherever one is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from bartviz.app.streamlit_internals import UploadedFile
from bartviz.language import _, plural
from bartviz.reading.encodings import ENCODINGS, check_size
from bartviz.reading.uploads import Table, read_rows

LARGEST = 1  # megabytes
_REASONS = 3  # rows that were left out and are named


@dataclass(frozen=True, slots=True)
class UploadForm:
    """The form of one file. ``name`` begins the keys of its widgets, and ``changed`` is their callback."""

    file: UploadedFile
    name: str
    encoding: str
    changed: Callable[[], None] | None = None

    def key(self, part: str) -> str:
        """The key of a widget; a new file begins with its own usual choices."""
        return f"{self.name}{part}_{self.file.file_id}"

    def table(self) -> Table:
        """The rows of the file, read once for each choice. Raises TextError."""
        header, quotes = (st.session_state.get(self.key(part)) for part in ("header", "quotes"))
        chosen, key = (self.file.file_id, self.encoding, header, quotes), f"_{self.name}read"
        read: tuple[object, Table] | None = st.session_state.get(key)
        if read is None or read[0] != chosen:
            data = self.file.getvalue()
            check_size(len(data), LARGEST << 20)
            table = read_rows(self.file.name, data, encoding=given(self.encoding), header=header, quotes=quotes)
            read = st.session_state[key] = (chosen, table)
        return read[1]

    def draw_header(self, table: Table) -> None:
        """Whether the first row is a header, and whether quotation marks enclose cells, where that may be in doubt."""
        if table.header is None:
            return
        st.checkbox(_("The first row is a header"), table.header, key=self.key("header"), on_change=self.changed)
        if table.notices() or self.key("quotes") in st.session_state:
            label = _("Quotation marks enclose cells")
            st.checkbox(label, value=True, key=self.key("quotes"), on_change=self.changed)

    def draw_column(self, table: Table, part: str) -> int:
        """The column of the texts."""
        names, key = column_names(table), self.key(part)
        return st.selectbox(
            _("Column"), list(names), table.usual(), format_func=names.__getitem__, key=key, on_change=self.changed
        )


def draw_encoding(key: str, persist: Literal["session"] | None = None) -> str:
    """The encoding of a file."""
    return st.selectbox(
        _("Its encoding"), list(ENCODINGS), format_func=lambda name: _(ENCODINGS[name]), key=key, persist_state=persist
    )


def given(encoding: str) -> str | None:
    """The encoding as the readers accept it: None for UTF-8, which they expect."""
    return None if encoding == "utf-8" else encoding


def column_names(table: Table) -> dict[int, str]:
    """Each column by its number and its name, if it has one."""
    return {
        column: f"{column + 1}: {beginning(name)}" if name else _("column {number}", number=column + 1)
        for column, name in enumerate(table.columns)
    }


def beginning(text: str, most: int = 60) -> str:
    """The first characters of a text in one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[:most].rstrip()} …"


def left_out(reasons: Sequence[str]) -> str:
    """How many rows of a file cannot be used, and why the first of them cannot."""
    count = plural("{count:,} row cannot be used.", "{count:,} rows cannot be used.", len(reasons))
    return " ".join([count, *reasons[:_REASONS], *(["…"] if len(reasons) > _REASONS else [])])
