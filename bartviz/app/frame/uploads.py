"""The sidebar's file: a saved record, which is shown at once, or texts: their encoding, and the column and the text of
a table, read when Run is pressed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from bartviz.app.controls import fold, show
from bartviz.app.state import session, upload_limits
from bartviz.app.streamlit_internals import UploadedFile
from bartviz.errors import BartvizError, without_stack
from bartviz.language import _, later, mark, plural
from bartviz.reading.encodings import ENCODINGS, check_size
from bartviz.reading.uploads import FORMATS, MAX_ROWS, Table, Upload, check_file, is_table, read_table, read_upload
from bartviz.record.record import ENDING

if TYPE_CHECKING:
    from bartviz.record.record import Record

CHOICES = ("file", "encoding")
LISTED = 100  # a table of more texts offers them by number
LARGEST = 1  # megabytes
_REASONS = 3  # rows that were left out and are named
_READ, _TAKEN, _NOTICES = "_file_read", "_file", "_file_said"
_OPENED, _REFUSED = "_file_opened", "_file_refused"  # whether the file was just opened, and why it was not


class Choice(NamedTuple):
    """What is chosen of a file; a text file has no column and no row."""

    file: str
    encoding: str
    header: bool | None = None
    column: int | None = None
    row: int | None = None


def draw(on_record: Callable[[Record], None]) -> None:
    """The folded section of the sidebar. on_record: called with a record that was opened."""
    with fold.folded(_("From a file"), key="file") as opened:
        if not (opened or fold.asked_for("file", CHOICES)):
            return
        file = st.file_uploader(
            _("A text file or a saved record"),
            key="file",
            on_change=_open,
            args=(on_record,),
            max_upload_size=upload_limits.largest(),  # other files are refused in the visitor's language
            label_visibility="collapsed",
        )
        if file is None:
            show.note(
                _(
                    "{formats}, up to {size} MB. A table (csv, tsv, json, jsonl) may have up to {limit:,} "
                    "rows, one text in each.",
                    formats=", ".join(FORMATS),
                    size=LARGEST,
                    limit=MAX_ROWS,
                )
            )
            show.note(
                _(
                    "A record saved by “Record” under a page's downloads ({ending}, up to {size} MB) is "
                    "shown immediately, without a run.",
                    ending=ENDING,
                    size=upload_limits.largest(),
                )
            )
        if st.session_state.pop(_OPENED, False):
            st.rerun()  # the whole page, not the sidebar's fragment alone
        st.selectbox(
            _("Its encoding"),
            list(ENCODINGS),
            format_func=lambda name: _(ENCODINGS[name]),
            key="encoding",
            persist_state="session",
        )
        try:
            if error := st.session_state.get(_REFUSED):
                raise error
            _choose(file)
        except BartvizError as error:
            st.error(show.plain(str(error)))
        else:
            show.note(_status(file))


def text() -> str | None:
    """The chosen text of the file; None if there is no file, or if this text was read before. Raises TextError."""
    file: UploadedFile | None = st.session_state.get("file")
    if file is None or _is_record(file) or _taken(file):
        return None
    if is_table(file.name):
        choice, upload = _chosen(file), _upload(file)
        number, count = (choice.row or 0) + 1, len(upload.texts)
        notice = later(
            "The text is now number {number:,} of {count:,} in {name}.", number=number, count=count, name=upload.name
        )
        st.session_state[_NOTICES] = (notice, *upload.notices)
    else:
        choice, upload = (
            _choice(file),
            read_upload(file.name, file.getvalue(), encoding=_encoding(), max_bytes=LARGEST << 20),
        )
        st.session_state[_NOTICES] = (
            later("The text is now from {name}.", name=upload.name),
            *_as_one(upload.texts[0]),
            *upload.notices,
        )
        session.release(file)
    st.session_state[_TAKEN] = choice
    return upload.texts[choice.row or 0]


def _as_one(text: str) -> tuple[str, ...]:
    """What a visitor should know whose file has a text in each line."""
    count = sum(bool(line.strip()) for line in text.split("\n"))
    if count < 2:
        return ()
    return (
        later(
            "Its {count:,} lines are read as one text. In a csv or jsonl file each line is a separate text.",
            count=count,
        ),
    )


def _is_record(file: UploadedFile) -> bool:
    return PurePath(_name(file)).suffix.lower() == ENDING


def _name(file: UploadedFile) -> str:
    """The name of a file; of one that was read and deleted Streamlit knows only the identifier."""
    return getattr(file, "name", "")


def _open(on_record: Callable[[Record], None]) -> None:
    """Open a record as soon as its file has arrived: a callback."""
    file: UploadedFile | None = st.session_state.get("file")
    st.session_state[_REFUSED] = None
    if file is None or not _is_record(file):
        return
    try:
        on_record(session.opened(file))
    except BartvizError as error:
        st.session_state[_REFUSED] = without_stack(error)
        return
    st.session_state[_OPENED], st.session_state[_TAKEN] = True, _choice(file)
    st.session_state[_NOTICES] = (later("This is the run saved in {name}.", name=file.name),)


def _choose(file: UploadedFile | None) -> None:
    """The column and the text of a table. Raises TextError, also for a file in no format that is read."""
    if file is None or _is_record(file):
        return
    check_file(file.name, file.getvalue())
    check_size(file.size, LARGEST << 20)
    if not is_table(file.name):
        return
    table = _table(file)
    if table.header is not None:
        st.checkbox(_("The first row is a header"), table.header, key=_header_key(file), on_change=_forget)
    if table.notices() or _quotes_key(file) in st.session_state:
        st.checkbox(_("Quotation marks enclose cells"), value=True, key=_quotes_key(file), on_change=_forget)
    if len(table.columns) > 1:
        st.selectbox(
            _("Column"),
            range(len(table.columns)),
            table.usual(),
            format_func=lambda column: _column_name(table, column),
            key=_column_key(file),
            on_change=_forget,
        )
    upload = _upload(file)
    count, key, label = len(upload.texts), _row_key(file), _("Text in the file")
    if 1 < count <= LISTED:
        st.selectbox(
            label,
            range(count),
            format_func=lambda row: f"{row + 1}: {_beginning(upload.texts[row])}",
            key=key,
            on_change=_forget,
        )
    elif count > LISTED:
        st.number_input(f"{label} (1–{count:,})", 1, count, key=key, on_change=_forget)
    if not 1 < count <= LISTED:
        show.note(_beginning(upload.texts[_chosen(file).row or 0], 200))
    if upload.errors:
        show.note(_left_out(upload))


def _status(file: UploadedFile | None) -> str:
    if file is not None and not _taken(file):
        return _("It becomes the text when you press Run.")
    notices = st.session_state.get(_NOTICES, (mark("It becomes the text when you press Run."),))
    return " ".join(map(_, notices))


def _left_out(upload: Upload) -> str:
    """How many rows of a file cannot be used, and why the first of them cannot."""
    count = len(upload.errors)
    return " ".join(
        [
            plural("{count:,} row cannot be used.", "{count:,} rows cannot be used.", count),
            *map(_, upload.errors[:_REASONS]),
            *(["…"] if count > _REASONS else []),
        ]
    )


def _column_name(table: Table, column: int) -> str:
    name = table.columns[column]
    return f"{column + 1}: {_beginning(name)}" if name else _("column {number}", number=column + 1)


def _beginning(text: str, most: int = 60) -> str:
    """The first characters of a text in one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[:most].rstrip()} …"


def _table(file: UploadedFile) -> Table:
    """The table of a file, parsed once. Raises TextError."""
    header, quotes = (st.session_state.get(key) for key in (_header_key(file), _quotes_key(file)))
    chosen, read = (_choice(file), header, quotes), st.session_state.get(_READ)
    if read is None or read[0] != chosen:
        table = read_table(
            file.name, file.getvalue(), encoding=_encoding(), max_bytes=LARGEST << 20, header=header, quotes=quotes
        )
        read = st.session_state[_READ] = (chosen, table, {})
    parsed: Table = read[1]
    return parsed


def _upload(file: UploadedFile) -> Upload:
    """The texts of the chosen column, cleaned once. Raises TextError."""
    table, column = _table(file), _column(file)
    kept: dict[int, Upload] = st.session_state[_READ][2]
    if column not in kept:
        texts = table.texts(column)
        kept.clear()
        kept[column] = texts
    return kept[column]


def _column(file: UploadedFile) -> int:
    table, column = _table(file), st.session_state.get(_column_key(file))
    return table.usual() if column is None else int(column)


def _chosen(file: UploadedFile) -> Choice:
    """The choice of a table, checked: the browser may still send that of an earlier column. Raises TextError."""
    count, row = len(_upload(file).texts), st.session_state.get(_row_key(file))
    row = 0 if row is None else int(row) - (1 if count > LISTED else 0)
    choice = _choice(file)._replace(header=_table(file).header)
    return choice._replace(column=_column(file), row=min(max(row, 0), count - 1))


def _choice(file: UploadedFile) -> Choice:
    return Choice(file.file_id, st.session_state.get("encoding", "utf-8"))


def _taken(file: UploadedFile) -> bool:
    """Whether the choice is that of the last reading. The encoding of a text file counts until it was read."""
    taken: Choice | None = st.session_state.get(_TAKEN)
    if taken is None or taken.file != file.file_id:
        return False
    return not is_table(_name(file)) or taken == _chosen(file)


def _forget() -> None:
    """Read the text again even if the same one is chosen in the end: a callback."""
    st.session_state[_TAKEN] = None


def _encoding() -> str | None:
    encoding = st.session_state.get("encoding", "utf-8")
    return None if encoding == "utf-8" else str(encoding)


def _header_key(file: UploadedFile) -> str:
    return f"header_{file.file_id}"


def _quotes_key(file: UploadedFile) -> str:
    return f"quotes_{file.file_id}"


def _column_key(file: UploadedFile) -> str:
    return f"column_{file.file_id}"  # a new file begins with its own usual column


def _row_key(file: UploadedFile) -> str:
    return f"row_{file.file_id}_{_column(file)}"
