"""A training that is over, moment by moment: the replay that ships, that of a setting, or a visitor's own file."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import streamlit as st

from bartviz.app.components import served
from bartviz.app.controls import export, show
from bartviz.app.frame import levels
from bartviz.app.state import own_replay
from bartviz.browser import BROWSER, PANEL
from bartviz.browser.replay import messages
from bartviz.corpus.replay import SETTING, SHIPPED, Replay, open_replay
from bartviz.errors import BartvizError
from bartviz.language import _

_COMPONENT = served.Served.of(BROWSER / "replay", PANEL)


def draw() -> None:
    """The replay, if there is one; that which ships is folded for beginners, outside a lesson."""
    found = _found()
    if found is None:
        return
    if taught() or own_replay.own() is not None or os.environ.get(SETTING):
        _draw(found)
        return
    with levels.aside(_("More: how a translator learned, moment by moment"), key="moments") as opened:
        if opened:
            _draw(found)


def taught() -> bool:
    """Whether the page is shown by a lesson, which is about the replay that ships."""
    return "lesson" in st.query_params


def _draw(found: Replay) -> None:
    st.subheader(_("Moment by moment"), anchor=False)
    said = messages.said(found.about)
    show.lead(said["lead"])
    if said["unfinished"]:
        show.note(f"{said['unfinished']} {_('The other pages show another translator.')}")
    with st.container(key="moments"):
        _COMPONENT(data=payload(found), key="replay")
    if said["source"]:
        show.note(said["source"])
    export.offer("training", said["title"], _files(found))


def _files(found: Replay) -> list[export.File]:
    """The training as a page for any browser, and to open it here again."""
    from bartviz.explorer.replayed import page

    return [
        export.File(_("Page to explore it"), "bartviz-training.html", "text/html", partial(page, found)),
        export.File(_("Save to open again"), "bartviz-training.zip", "application/zip", found.pack, True),
    ]


def _found() -> Replay | None:
    """The visitor's own, that of the setting, or the one that ships, which a lesson is about; None if there is none."""
    own = own_replay.own()
    if own is not None and not taught():
        return own
    path = SHIPPED if taught() else Path(os.environ.get(SETTING) or SHIPPED)
    if not path.is_file():
        return None
    try:
        return _read(path, path.stat().st_mtime_ns)
    except BartvizError as error:
        st.error(show.plain(str(error)))
        return None


@lru_cache(maxsize=2)
def _read(path: Path, _changed: int) -> Replay:
    """The replay of a file, read once for all visitors, and again when it has changed."""
    return open_replay(path)


def payload(found: Replay) -> bytes:
    """What the component is given: the replay, with the words of the reader's language and the colours."""
    return replace(found, about={**found.about, **messages.described(found.about["kinds"])}).payload()
