"""The frame of the app and of each page: navigation, guard, title, status line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

import streamlit as st

from bartviz import plugins
from bartviz.app import streamlit_internals
from bartviz.app.controls import export, progress, show
from bartviz.app.frame import (
    checks,
    display,
    languages,
    opened,
    page_hooks,
    page_list,
    sampled,
    scroll_to,
    share,
    sidebar,
    theme,
    way_back,
)
from bartviz.app.frame.examples import examples
from bartviz.app.frame.status import status
from bartviz.app.state import clicks, display_fields, session, url_state
from bartviz.app.streamlit_internals import StopException, StreamlitPage
from bartviz.errors import BartvizError, SettingError, WeightsOnlyError
from bartviz.language import _, current
from bartviz.models.roots import default_roots
from bartviz.safety import logs
from bartviz.serving import first_record, framing, torch_import

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator
    from bartviz.record.record import Record

_HERE = Path(__file__).parent
ICON = str(_HERE / "icon.png")
_FRAME, _PAGES = "_frame", "_pages"
PATIENCE = 5.0  # seconds that a page waits for the record of its link in the same script run


class Frame:
    """Runs the open page, and then writes its choices to the address."""

    def __init__(self, navigation: StreamlitPage) -> None:
        self._navigation = navigation
        self.shows_run = all(entry.run for entry in page_list.PAGES if entry.word == navigation.url_path)
        label = page_list.section(navigation.url_path).label
        self.section = _(label) if label else ""

    def run(self) -> None:
        if self._navigation.url_path:  # the first page has none, and needs no further imports
            torch_import.pages()
        export.begin()
        button, notices = share.place(), st.container()
        with button:
            display.draw(self._navigation.url_path)
        if not page_hooks.current().leads():  # the steps of a lesson scroll to their own part
            with button:
                scroll_to.begin(self._navigation.url_path or page_list.PAGES[0].word)
        try:
            self._navigation.run()
        except WeightsOnlyError as error:  # the rest of the page needs more than this record has
            show.missing(error)
        except StopException:  # but not on a rerun, which may be for another page
            self._end(button)
            raise
        self._end(button)
        with notices:
            share.missing()

    def _end(self, button: DeltaGenerator) -> None:
        export.draw()
        url_state.write()
        share.draw(button)


def frame() -> Frame:
    """Set up the app and its navigation. Every script run calls this first and runs what it returns."""
    clicks.keep()
    display_fields.begin()
    languages.begin()
    navigation = _navigation()
    if moved := page_list.MOVED.get(navigation.url_path):
        word, choices = moved
        kept = {key: st.query_params.get_all(key) for key in st.query_params}
        streamlit_internals.switch_page(page_list.page(word).file, {**kept, **choices})
    st.set_page_config(page_title=f"{navigation.title} · bartviz")
    st.session_state[_FRAME] = True
    st.logo(ICON, size="large")
    _check_settings()
    url_state.begin()
    session.begin()
    word = navigation.url_path or page_list.PAGES[0].word
    sidebar.come_back(word)
    page_hooks.current().prepare(word)
    opens = word in page_list.OPEN and not page_hooks.current().leads()
    st.set_page_config(initial_sidebar_state="auto" if opens else "collapsed")
    return Frame(navigation)


def _check_settings() -> None:
    """Stop with an error message that names any invalid setting of the environment."""
    try:
        default_roots()
        plugins.check()
        framing.sites()
        logs.level()
        session.engine()
    except SettingError as error:
        st.error(show.plain(str(error)))
        st.stop()


def _navigation() -> StreamlitPage:
    st.set_page_config(
        page_title="bartviz", page_icon=ICON, layout="wide"
    )  # before the pages, whose icons would be remote
    wanted = current()
    made, sections = st.session_state.get(_PAGES, (None, {}))
    if made != wanted:
        sections = _sections()
        st.session_state[_PAGES] = wanted, sections
    return st.navigation(sections, position="top", expanded=True)  # expanded: for phones, where it is in the sidebar


def _sections() -> dict[str, list[StreamlitPage]]:
    """The pages by section, in the visitor's language; the session keeps them, as building them looks up every file.

    Streamlit itself handles an unknown address: it says so and shows the first page.
    """
    sections = {
        _(section.label) if section.label else "": [
            st.Page(
                entry.file,
                title=_(entry.label),
                url_path="home" if entry is page_list.PAGES[0] else entry.word,
                default=entry is page_list.PAGES[0],
            )
            for entry in section.pages
        ]
        for section in page_list.SECTIONS
    }
    sections[""] += [
        st.Page(lambda: None, title=word, url_path=word, visibility="hidden")
        for word, (to, _choices) in page_list.MOVED.items()
        if page_list.has(to)
    ]
    return sections


def _guard() -> None:
    """Rerun through the frame if Streamlit ran this page alone.

    A script next to a folder named ``pages``, such as ``app.py`` in a test, starts in the old multipage mode until
    ``st.navigation`` has run once: a deep link as the first request would show one page without sidebar and state.
    """
    if not st.session_state.pop(_FRAME, False):
        _navigation()
        st.rerun()


@overload
def begin(word: str) -> Record: ...
@overload
def begin(word: str, *, needs_record: Literal[True]) -> Record: ...
@overload
def begin(word: str, *, needs_record: Literal[False]) -> Record | None: ...
def begin(word: str, *, needs_record: bool = True) -> Record | None:
    """Every page calls this first: it draws the page's title (a question) and the status line.

    Returns the current Record. Without one, a page that needs it draws the empty state (with the next action) and stops
    here; with ``needs_record=False`` the page continues with None, a page that shows a run also after a refused
    request: the record is of another text. Reports the error of a refused request. While the run of the visit's link is
    in progress, no other record is drawn: that would clamp the link's choices to it.
    """
    _guard()
    page_hooks.current().strip(word)
    entry = page_list.page(word)
    st.title(_(entry.title), anchor=False)
    line = st.container(key="status")
    if entry.run and session.awaits_link() and session.engine().ready:
        watched = line.empty()  # what follows is drawn below it: messages about one place may be sent out of order
        with watched:
            progress.watch(session.running, key="cancel_link", seconds=PATIENCE)
        watched.empty()
        session.begin()
    record, error = session.current_record(), session.error()
    refused = (
        (needs_record or entry.run) and error is not None and error is not first_record.error()
    )  # an error at the start is not about a request
    with line:
        way_back.begin(word)
        shown = None if refused else record
        if session.running() is not None:
            st.html("<i class='bv-waits'></i>")
            progress.follow(session.running, key="cancel")
        elif shown is not None and entry.run:
            opened_now = sidebar.opened()
            is_file = opened_now is not None and bool(opened_now.file)
            status(shown, older_target=sidebar.has_older_target(), refused=error is not None, opened=is_file)
            _buttons(sidebar.offers(shown) if error is None and not is_file else {})
        opened.draw(run=entry.run)
    if shown is not None and entry.run and session.running() is None:
        if not page_hooks.current().leads():
            sampled.draw(shown)
        checks.draw(shown)
    if error is not None:
        _report(error, record)
    if refused and not needs_record:
        return None
    if refused or (needs_record and record is None):
        if record is None:
            _empty()
        st.stop()
    if needs_record and session.awaits_link():
        st.stop()
    if record is not None and record.from_weights and not entry.weights:
        with show.or_missing():
            record.expect_model()
        st.stop()
    return record


def dark() -> bool:
    """Whether the visitor uses the dark theme; pass it to every figure."""
    return theme.dark()


def link(
    word: str,
    label: str,
    query: Mapping[str, str] | None = None,
    *,
    icon: str | None = None,
    width: Literal["content", "stretch"] = "content",
) -> None:
    """A link to another page, with its own label; ``query`` are the words of the address that choose there.

    Draws nothing if the menu does not have that page.
    """
    if page_list.has(word):
        words = way_back.from_here(word, query)
        st.page_link(page_list.page(word).file, label=label, query_params=words or None, icon=icon, width=width)


def _report(error: BartvizError, record: Record | None) -> None:
    """The error of the last request: one sentence, and a button for each remedy."""
    st.error(show.plain(str(error)))
    with st.container(horizontal=True, gap="small"):
        _buttons(sidebar.remedies(error))
        if error is first_record.error():
            st.button(_("Close"), on_click=session.forgive)
        elif record is not None:
            st.button(_("Back to the last result"), on_click=session.forgive)


def _buttons(remedies: Mapping[str, Callable[[], None]]) -> None:
    for label, remedy in remedies.items():
        st.button(label, on_click=remedy)


def _empty() -> None:
    if session.running() is None and session.error() is None:
        st.info(_("Type a text in the sidebar (on a phone: Menu) and press Run, or start with an example."))
        example = examples(st.session_state["model"], st.session_state["_kind"])[0]
        st.button(show.plain(example.text), on_click=sidebar.take, args=(example,))
