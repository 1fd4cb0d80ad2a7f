"""Own texts: a visitor's file is measured in the background, and its atlas is shown like others, to that visitor."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app.controls import show, tasks, upload_form
from bartviz.app.controls.upload_form import LARGEST, UploadForm
from bartviz.app.frame import sidebar
from bartviz.app.state import own_atlas, upload_limits
from bartviz.app.state.result_cache import cached
from bartviz.app.streamlit_internals import UploadedFile
from bartviz.corpus import folders, shipped, uploaded
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.read import Bad, Line
from bartviz.errors import BartvizError, BudgetError, SettingError, TextError
from bartviz.language import _, later, plural
from bartviz.reading.uploads import FORMATS, check_file

if TYPE_CHECKING:
    from bartviz.corpus.workers import Progress
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

TASK, _ROWS = "corpus_own", "_corpus_rows"
MOST, LARGE, MOST_LARGE = 500, 50_000_000, 50  # texts; parameters of a model that is given fewer
_PART = 8  # texts between two lines of progress


def names() -> tuple[str, ...]:
    """Every atlas that this visitor can see, the own one first. Raises SettingError, as ``folders.names``."""
    own = own_atlas.own()
    return tuple(dict.fromkeys([*([] if own is None else [own.name]), *folders.names()]))


def readable() -> tuple[tuple[str, ...], dict[str, str]]:
    """The atlases that can be read, and of each other one why it cannot. Raises SettingError, as ``folders.names``.

    Those that ship were checked by the tests: reading all of their tables would take most of the page's first second.
    """
    reasons = {name: reason for name in names() if not _ships(name) and (reason := damage(name))}
    return tuple(name for name in names() if name not in reasons), reasons


def damage(name: str) -> str:
    """Why an atlas cannot be read; empty if it can. All of its tables are read."""
    return cached(partial(_damage, name, _version_of(name)))


def _ships(name: str) -> bool:
    """Whether the atlas of this name is one of the package's, and not of the visitor's own texts."""
    own = own_atlas.own()
    return name in shipped.NAMES and (own is None or own.name != name)


def _version_of(name: str) -> int:
    """The version, 0 for an atlas that is gone."""
    try:
        return version(name)
    except (OSError, KeyError):
        return 0


def _damage(name: str, _version: int) -> str:
    """Why an atlas cannot be read; empty if it can."""
    try:
        atlas(name).check()
    except (SettingError, BudgetError) as error:
        return str(error)
    except OSError:
        return _("It is missing now.")
    return ""


def atlas(name: str) -> Atlas:
    """The atlas of this name. Raises SettingError, as ``folders.atlas``."""
    own = own_atlas.own()
    return own.atlas if own is not None and own.name == name else folders.atlas(name)


def version(name: str) -> int:
    """A number that changes when the atlas of this name does."""
    own = own_atlas.own()
    return own.version if own is not None and own.name == name else folders.version(name)


def section() -> None:
    """The field for a file, and once there is one the model and the columns, and the run with its progress."""
    hint = _(
        "{formats}, up to {size} MB. At most {most} texts are measured here, {few} by a model with more than "
        "{large:,} parameters; the command bartviz corpus has no limit. The texts stay in this server's memory "
        "until you leave.",
        formats=", ".join(FORMATS),
        size=LARGEST,
        most=MOST,
        few=MOST_LARGE,
        large=LARGE,
    )
    st.subheader(_("Your own texts"), anchor=False)
    file = st.file_uploader(
        _("A file with one text per line or row ({formats})", formats=", ".join(FORMATS)),
        key="corpus_file",
        help=hint,
        max_upload_size=upload_limits.largest(),  # other files are refused in the visitor's language
    )
    if file is not None:
        try:
            _choose(file)
        except BartvizError as error:
            st.error(show.plain(str(error)))
    _take(tasks.show(TASK))


def _choose(file: UploadedFile) -> None:
    """How the file is written, the model and the columns, and the button. Raises TextError for a file that cannot be
    read."""
    check_file(file.name, file.getvalue())
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        encoding = upload_form.draw_encoding(f"corpus_encoding_{file.file_id}")
    form = UploadForm(file, "corpus_", encoding)
    table = form.table()
    with right:
        form.draw_header(table)
    if not table.rows:
        raise TextError(later("There are no rows."))
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    models = sidebar.models()
    current = st.session_state.get("model")
    with left:
        model = st.selectbox(_("Model"), models, models.index(current) if current in models else 0, key="corpus_model")
    column, second = table.usual(), None
    if len(table.columns) > 1:
        with middle:
            column = form.draw_column(table, "text")
        with right:
            second = _second(file, model, upload_form.column_names(table))
    rows = uploaded.rows(table, column, second)
    usable = sum(isinstance(row, Line) for row in rows)
    measured = min(MOST, usable)
    st.button(
        plural("Measure {count:,} text", "Measure {count:,} texts", measured),
        key="corpus_measure",
        type="primary",
        disabled=not usable,
        on_click=_begin,
        args=(table.name, model, _first(rows, MOST), usable),
    )
    bad = [row for row in rows if isinstance(row, Bad)]
    for notice in table.notices():
        show.note(_(notice))
    if bad:
        show.note(_left_out(bad))
    if usable > MOST:
        show.note(_("The file has {count:,} texts: the first {most} are measured.", count=usable, most=MOST))


def _second(file: UploadedFile, model: str, titles: dict[int, str]) -> tuple[uploaded.Second, int] | None:
    """The column of outputs or of second sentences, if one is chosen."""
    kind = sidebar.kind_of(model)
    if kind == "decoder":
        return None
    part: uploaded.Second = "pair" if kind == "encoder" else "target"
    label = _("Column of second sentences") if part == "pair" else _("Column of outputs")
    nothing = _("none") if part == "pair" else _("none: the model writes them")
    names = {-1: nothing} | titles
    key = f"corpus_{part}_{file.file_id}"
    chosen = st.selectbox(label, list(names), 0, format_func=names.__getitem__, key=key)
    return None if chosen < 0 else (part, chosen)


def _begin(name: str, model: str, rows: Sequence[Line | Bad], usable: int) -> None:
    """Start measuring: a callback."""
    digest = hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()
    key = {"name": name, "rows": digest, "usable": usable}
    st.session_state[_ROWS] = digest, tuple(rows)
    tasks.begin(TASK, model, key, partial(_measure, name, rows))


def _measure(name: str, rows: Sequence[Line | Bad], model: Model, ticket: Ticket[Atlas]) -> Atlas:
    from bartviz.corpus.run import of_lines

    said: tuple[str, float] = (later("Text {done:,} of {all:,}", done=0, all=len(rows)), 0.0)

    def report(progress: Progress) -> None:
        nonlocal said
        note = later("Text {done:,} of {all:,}", done=progress.rows, all=progress.all)
        minutes = round((progress.left or 0.0) / 60)
        if minutes:  # with the turns of others
            note = later("{text}, about {minutes} min left", text=note, minutes=minutes)
        said = note, progress.rows / progress.all

    def cancelled() -> bool:
        ticket.report(*said)  # others may come first here
        return ticket.cancelled()

    few = _first(rows, MOST_LARGE) if model.info.parameters > LARGE else rows
    return of_lines(model, few, name, size=_PART, values=True, report=report, cancelled=cancelled)


def _take(made: Atlas | None) -> None:
    """Keep the atlas, and show it at once when it is new."""
    key = tasks.begun(TASK)
    if made is None or key is None:
        return
    model = made.description["model"]
    content = f"{key['rows']} {made.description['corpus']['rows']} {model['fingerprint']}"
    digest, rows = st.session_state.get(_ROWS, ("", ()))
    if own_atlas.keep(f"{key['name']} ({model['name']})", content, made, rows if digest == key["rows"] else ()):
        st.rerun()
    counted = _(
        "{texts:,} of {count:,} texts were measured: their atlas can be chosen above.",
        texts=made.description["texts"],
        count=int(str(key["usable"])),
    )
    bad = [Bad(*line) for line in made.bad.itertuples(index=False)]
    show.note(f"{counted} {_left_out(bad)}" if bad else counted)


def _first(rows: Sequence[Line | Bad], most: int) -> tuple[Line | Bad, ...]:
    """The rows up to the last of the first ``most`` texts."""
    found: list[Line | Bad] = []
    texts = 0
    for row in rows:
        texts += isinstance(row, Line)
        if texts > most:
            break
        found.append(row)
    return tuple(found)


def _left_out(bad: Sequence[Bad]) -> str:
    """How many rows cannot be used, and why the first of them cannot."""
    return upload_form.left_out([_("Line {line:,}: {reason}", line=row.line, reason=_(row.reason)) for row in bad])
