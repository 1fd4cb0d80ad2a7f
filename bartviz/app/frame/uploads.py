"""The sidebar's file: a saved record, which is shown at once, or texts: their encoding, and the column and the text of
a table, read when Run is pressed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from bartviz.app.controls import expander, show, upload_form
from bartviz.app.controls.upload_form import LARGEST, UploadForm
from bartviz.app.state import session, upload_limits
from bartviz.app.streamlit_internals import UploadedFile
from bartviz.errors import BartvizError, without_stack
from bartviz.language import _, later, mark
from bartviz.reading.encodings import check_size
from bartviz.reading.uploads import FORMATS, MAX_ROWS, Table, Upload, check_file, is_table, read_upload
from bartviz.record.record import ENDING

if TYPE_CHECKING:
    from bartviz.record.record import Record

CHOICES = ("file", "encoding")
LISTED = 100  # a table of more texts offers them by number
_TEXTS, _TAKEN, _NOTICES = "_file_texts", "_file", "_file_said"
_OPENED, _REFUSED = "_file_opened", "_file_refused"  # whether the file was just opened, and why it was not


class Choice(NamedTuple):
    """The choices for a file; a text file has no column and no row."""

    file: str
    encoding: str
    header: bool | None = None
    column: int | None = None
    row: int | None = None


def draw(on_record: Callable[[Record], None]) -> None:
    """The folded section of the sidebar. on_record: called with a record that was opened."""
    with expander.section(_("From a file"), key="file") as opened:
        if not (opened or expander.requested("file", CHOICES)):
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
        upload_form.draw_encoding("encoding", persist="session")
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
            read_upload(file.name, file.getvalue(), encoding=upload_form.given(_encoding()), max_bytes=LARGEST << 20),
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
    """A note for a file with a text in each line."""
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
    """The name of a file; for one that was read and deleted Streamlit keeps only the identifier."""
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
    form = _form(file)
    table = form.table()
    form.draw_header(table)
    if len(table.columns) > 1:
        form.draw_column(table, "column")
    upload = _upload(file)
    count, key, label = len(upload.texts), _row_key(file), _("Text in the file")
    if 1 < count <= LISTED:
        st.selectbox(
            label,
            range(count),
            format_func=lambda row: f"{row + 1}: {upload_form.beginning(upload.texts[row])}",
            key=key,
            on_change=_forget,
        )
    elif count > LISTED:
        st.number_input(f"{label} (1–{count:,})", 1, count, key=key, on_change=_forget)
    if not 1 < count <= LISTED:
        show.note(upload_form.beginning(upload.texts[_chosen(file).row or 0], 200))
    if upload.errors:
        show.note(upload_form.left_out([_(reason) for reason in upload.errors]))


def _status(file: UploadedFile | None) -> str:
    if file is not None and not _taken(file):
        return _("It becomes the text when you press Run.")
    notices = st.session_state.get(_NOTICES, (mark("It becomes the text when you press Run."),))
    return " ".join(map(_, notices))


def _form(file: UploadedFile) -> UploadForm:
    return UploadForm(file, "", _encoding(), _forget)


def _upload(file: UploadedFile) -> Upload:
    """The texts of the chosen column, cleaned once. Raises TextError."""
    table, column = _form(file).table(), _column(file)
    kept: tuple[Table, int, Upload] | None = st.session_state.get(_TEXTS)
    if kept is None or kept[0] is not table or kept[1] != column:
        kept = st.session_state[_TEXTS] = table, column, table.texts(column)
    return kept[2]


def _column(file: UploadedFile) -> int:
    form = _form(file)
    column = st.session_state.get(form.key("column"))
    return form.table().usual() if column is None else int(column)


def _chosen(file: UploadedFile) -> Choice:
    """The choice of a table, checked: the browser may still send that of an earlier column. Raises TextError."""
    count, row = len(_upload(file).texts), st.session_state.get(_row_key(file))
    row = 0 if row is None else int(row) - (1 if count > LISTED else 0)
    choice = _choice(file)._replace(header=_form(file).table().header)
    return choice._replace(column=_column(file), row=min(max(row, 0), count - 1))


def _choice(file: UploadedFile) -> Choice:
    return Choice(file.file_id, _encoding())


def _taken(file: UploadedFile) -> bool:
    """Whether the choice is that of the last reading. The encoding of a text file counts until it was read."""
    taken: Choice | None = st.session_state.get(_TAKEN)
    if taken is None or taken.file != file.file_id:
        return False
    return not is_table(_name(file)) or taken == _chosen(file)


def _forget() -> None:
    """Read the text again even if the same one is chosen in the end: a callback."""
    st.session_state[_TAKEN] = None


def _encoding() -> str:
    return str(st.session_state.get("encoding", "utf-8"))


def _row_key(file: UploadedFile) -> str:
    return f"row_{file.file_id}_{_column(file)}"
