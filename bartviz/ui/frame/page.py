"""The frame of the app and of each page: navigation, guard, title, status line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from bartviz.errors import BartvizError, SettingError
from bartviz.language import _, current
from bartviz.models.folders import default_roots
from bartviz.safety import logs
from bartviz.serving import first_record, torch_import
from bartviz.ui.controls import progress, show
from bartviz.ui.frame import checks, languages, scroll_to, sidebar, sitemap, theme, tour
from bartviz.ui.frame.examples import examples
from bartviz.ui.frame.status import status
from bartviz.ui.frame.tour import walk
from bartviz.ui.state import address, clicks, session

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

    from bartviz.record.record import Record

_HERE = Path(__file__).parent
ICON = str(_HERE / "icon.png")
_FRAME, _PAGES = "_frame", "_pages"


class Frame:
    """The page that is open, run so that what was chosen on it stands in its address at the end."""

    def __init__(self, navigation: StreamlitPage) -> None:
        self._navigation = navigation

    def run(self) -> None:
        if self._navigation.url_path:  # the first page has none, and needs no more than what is there
            torch_import.pages()
        try:
            self._navigation.run()
        except StopException:  # not where the page asks for another run: it may be that of another page
            address.write()
            raise
        address.write()


def frame() -> Frame:
    """Name the app and its pages; a visit calls this first and runs what it returns."""
    clicks.keep()
    languages.begin()
    navigation = _navigation()
    if navigation.url_path == sitemap.PAGES[0].word:
        st.switch_page(
            sitemap.PAGES[0].file, query_params={key: st.query_params.get_all(key) for key in st.query_params}
        )
    st.session_state[_FRAME] = True
    st.html(_HERE / "style.css")
    st.logo(ICON, size="large")
    _check_settings()
    address.begin()
    session.begin()
    tour.prepare(navigation.url_path or sitemap.PAGES[0].word)
    return Frame(navigation)


def _check_settings() -> None:
    """Refuse to work with a setting of the environment that makes no sense, and name it."""
    try:
        default_roots()
        logs.level()
        session.engine()
    except SettingError as error:
        st.error(show.plain(str(error)))
        st.stop()


def _navigation() -> StreamlitPage:
    st.set_page_config(page_title="bartviz", page_icon=ICON, layout="wide")  # before the pages: their icons are remote
    language, pages = st.session_state.get(_PAGES, ("", []))
    if language != current():
        pages = _pages()
        st.session_state[_PAGES] = current(), pages
    return st.navigation(pages, position="top", expanded=True)  # expanded: where it stands in the sidebar, on a phone


def _pages() -> list[StreamlitPage]:
    """The pages in the visitor's language: a session keeps them, for its files are looked for each time."""
    pages = [
        st.Page(entry.file, title=_(entry.label), url_path="home" if first else entry.word, default=first)
        for entry, first in ((entry, entry is sitemap.PAGES[0]) for entry in sitemap.PAGES)
    ]
    # The first page is at "/". Who writes its word, as all others have one in their address, is led there.
    pages.append(
        st.Page(lambda: None, title=_(sitemap.PAGES[0].label), url_path=sitemap.PAGES[0].word, visibility="hidden")
    )
    return pages


def _guard() -> None:
    """Go back through the frame when Streamlit ran this page alone.

    A script beside a folder named ``pages``, as ``app.py`` is in a test, starts in the old multipage mode until
    ``st.navigation`` has run once: a deep link that comes first would show one page without sidebar and state.
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
    """First call of each page: the guard, the page's title as a question, and the status line.

    Gives the current Record. Without one, a page that needs it draws the empty state (with the next action) and stops
    here; with ``needs_record=False`` the page goes on with None. A request that was refused is told here. While the
    run of the visit's link is on its way nothing is drawn of another record, within which its choices would be brought.
    """
    _guard()
    tour.strip(word)
    if walk.current().lesson is None:  # whose steps say themselves what is looked at
        scroll_to.begin(word)
    st.title(_(sitemap.page(word).title), anchor=False)
    record, error = session.current_record(), session.error()
    refused = needs_record and error is not None and error is not first_record.error()  # which is about no request
    with st.container(key="status"):
        shown = None if refused else record
        if session.running() is not None:
            progress.follow(session.running, key="cancel")
        elif shown is not None:
            status(shown)
    if shown is not None and session.running() is None:
        checks.draw(shown)
    if error is not None:
        _tell(error, record)
    if refused or (needs_record and record is None):
        if record is None:
            _empty()
        st.stop()
    if needs_record and session.awaits_link():
        st.stop()
    return record


def dark() -> bool:
    """Whether the visitor sees the dark theme: pass it to every figure."""
    return theme.dark()


def link(word: str, label: str) -> None:
    """A link to another page, in our own words."""
    st.page_link(sitemap.page(word).file, label=label)


def _tell(error: BartvizError, record: Record | None) -> None:
    """The error of the last request: one sentence, and a button for each way out."""
    st.error(show.plain(str(error)))
    with st.container(horizontal=True, gap="small"):
        for label, mend in sidebar.remedies(error).items():
            st.button(label, on_click=mend)
        if error is first_record.error():
            st.button(_("Close"), on_click=session.forgive)
        elif record is not None:
            st.button(_("Back to the last picture"), on_click=session.forgive)


def _empty() -> None:
    if session.running() is None and session.error() is None:
        st.info(_("Type a text in the sidebar and press Run, or begin with an example."))
        example = examples(st.session_state["model"], st.session_state["_kind"])[0]
        st.button(show.plain(example.text), on_click=sidebar.take, args=(example,))
