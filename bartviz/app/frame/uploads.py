"""The file that is opened: a saved record or an atlas, which is shown at once, or texts: their encoding, and the column
and the text of a table, read when Run is pressed. It comes from the sidebar, or is dropped anywhere on a page."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from bartviz.app.controls import expander, show, upload_form
from bartviz.app.controls.upload_form import LARGEST, UploadForm
from bartviz.app.frame import page_hooks, page_list
from bartviz.app.state import own_atlas, own_receipt, own_replay, session, upload_limits
from bartviz.app.streamlit_internals import UploadedFile
from bartviz.errors import BartvizError, TooLong, without_stack
from bartviz.language import _, later, mark
from bartviz.reading.encodings import check_size
from bartviz.reading.uploads import FORMATS, MAX_ROWS, Table, Upload, check_file, is_table, read_upload
from bartviz.record import store
from bartviz.record.record import ENDING
from bartviz.text.clean import safe_name

if TYPE_CHECKING:
    from bartviz.record.record import Record

CHOICES = ("file", "encoding")
ATLAS, RECEIPT = ".zip", ".json"  # the endings of an atlas in one file or a replay, and of a receipt of heads
HERE = "here"
LISTED = 100  # a table of more texts offers them by number
_TEXTS, _TAKEN, _NOTICES = "_file_texts", "_file", "_file_said"
_GO, _REFUSED = "_file_go", "_file_refused"  # the page to show a file on that has just come; why it is not opened


class Choice(NamedTuple):
    """The choices for a file; a text file has no column and no row."""

    file: str
    encoding: str
    header: bool | None = None
    column: int | None = None
    row: int | None = None


def draw(on_record: Callable[[Record, str], None], *, page: str) -> None:
    """The folded section of the sidebar. on_record: called with a record that was opened, and the name of its file;
    page: where it is shown, ``HERE`` for the open one."""
    with expander.section(_("From a file"), key="file") as opened:
        file = st.file_uploader(  # also in a closed section: what is dropped on a page comes here
            _("A text file, a saved record, or an atlas"),
            key="file",
            on_change=_open,
            args=(on_record, page),
            max_upload_size=upload_limits.largest(),  # other files are refused in the visitor's language
            label_visibility="collapsed",
        )
        if word := st.session_state.pop(_GO, ""):
            _go(word)
        if not (opened or expander.requested("file", CHOICES)):
            return
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
                    "A record saved by “Save to open again” under Share or Download ({ending}, up to {size} MB) is "
                    "shown immediately, without a run.",
                    ending=ENDING,
                    size=upload_limits.largest(),
                )
            )
            show.note(
                _("So is an atlas saved on the page Corpus, or the replay of a training ({ending}).", ending=ATLAS)
            )
        upload_form.draw_encoding("encoding", persist="session")
        if refused() is not None:
            return  # the page says why
        try:
            _choose(file)
        except BartvizError as error:
            st.error(show.plain(str(error)))
        else:
            show.note(_status(file))


def refused() -> BartvizError | None:
    """Why the file was not opened, until another one comes."""
    error: BartvizError | None = st.session_state.get(_REFUSED)
    return error


def refuse_size(name: str, size: float) -> None:
    """The browser has kept back a file that is too large: a callback."""
    limit = upload_limits.largest()
    st.session_state[_REFUSED] = TooLong(
        later(
            "{name} has {size:,.1f} MB; at most {limit} MB are opened here. Records of shorter texts are smaller; for "
            "large ones there is bartviz.open, and bartviz corpus for many texts.",
            name=safe_name(name),
            size=size / 1e6,
            limit=limit,
        ),
        int(size),
        limit * 1_000_000,
    )


def forgive() -> None:
    """Dismiss the error: a callback."""
    st.session_state[_REFUSED] = None


def waiting() -> str:
    """The name of a file of texts that came while the sidebar's section is closed, until it is read; or empty."""
    file: UploadedFile | None = st.session_state.get("file")
    if file is None or st.session_state.get("folded_file") or refused() is not None or _is_saved(file):
        return ""
    try:
        return "" if _taken(file) else safe_name(_name(file))
    except BartvizError:  # its rows cannot be read as they are: Run says why
        return safe_name(_name(file))


def text() -> str | None:
    """The chosen text of the file; None if there is no file, or if this text was read before. Raises TextError."""
    file: UploadedFile | None = st.session_state.get("file")
    if file is None or refused() is not None or _is_saved(file) or _taken(file):
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


def _is_saved(file: UploadedFile) -> bool:
    """Whether it is a record or an atlas, by its name, or a receipt."""
    return PurePath(_name(file)).suffix.lower() in (ENDING, ATLAS) or _is_receipt(file)


def _is_receipt(file: UploadedFile) -> bool:
    """Whether it is a receipt of heads, which is JSON like files of texts."""
    if PurePath(_name(file)).suffix.lower() != RECEIPT:
        return False
    from bartviz.corpus import receipt  # with pandas, which the first picture does without

    return receipt.is_one(file.getvalue())


def _is_replay(file: UploadedFile) -> bool:
    """Whether it is a replay of a training, which is a .zip like an atlas."""
    if PurePath(_name(file)).suffix.lower() != ATLAS:
        return False
    from bartviz.corpus import replay  # late: the first picture does without

    return replay.is_one(file.getvalue())


def _name(file: UploadedFile) -> str:
    """The name of a file; for one that was read and deleted Streamlit keeps only the identifier."""
    return getattr(file, "name", "")


def _open(on_record: Callable[[Record, str], None], page: str) -> None:
    """Open what was saved as soon as its file has arrived: a callback."""
    file: UploadedFile | None = st.session_state.get("file")
    if file is not None and not _name(file):
        return  # it was read and deleted, which Streamlit takes for a change
    st.session_state[_REFUSED], st.session_state[_GO] = None, page
    if file is None:
        return
    try:
        if PurePath(file.name).suffix.lower() == ENDING:
            word, record = store.note(file.getvalue(), page_hooks.LED), session.opened(file)
            if word and page_hooks.current().lead(word, record):
                st.session_state[_GO] = HERE  # from any page it goes to that of its first step
                notice = later("This is the lesson saved in {name}.", name=file.name)
            else:
                on_record(record, safe_name(file.name))
                notice = later("This is the run saved in {name}.", name=file.name)
        elif _is_replay(file):
            own_replay.keep(safe_name(file.name), file.getvalue())
            notice = later("The training in {name} is on the page How heads are born.", name=safe_name(file.name))
            st.session_state[_GO] = "born"
        elif PurePath(file.name).suffix.lower() == ATLAS:
            data, name = file.getvalue(), safe_name(file.name)
            own_atlas.keep(name, sha256(data).hexdigest(), session.opened_atlas(file))
            notice = later("The atlas in {name} is on the page Corpus.", name=name)
            st.session_state[_GO] = "corpus"
        elif _is_receipt(file):
            own_receipt.keep(safe_name(file.name), file.getvalue())
            notice = later("The receipt in {name} is on the page Corpus.", name=safe_name(file.name))
            st.session_state[_GO] = "corpus"
        else:
            check_file(file.name, file.getvalue())
            check_size(file.size, LARGEST << 20)
            st.session_state[_GO] = HERE
            return
    except BartvizError as error:
        st.session_state[_REFUSED], st.session_state[_GO] = without_stack(error), HERE
        return
    st.session_state[_TAKEN], st.session_state[_NOTICES] = _choice(file), (notice,)


def _go(word: str) -> None:
    """Draw another page, or all of this one: the sidebar is a fragment."""
    if word != HERE and page_list.has(word):
        st.switch_page(page_list.page(word).file)
    st.rerun()


def _choose(file: UploadedFile | None) -> None:
    """The column and the text of a table. Raises TextError."""
    if file is None or _is_saved(file):
        return
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
