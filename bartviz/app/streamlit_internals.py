"""Everything that the app uses of Streamlit beyond its public interface: no other module imports or touches such parts.

A minor release of Streamlit may change them, so pyproject.toml admits one only, and
``tests/app/test_streamlit_internals.py`` tests each part for what is relied on here. Run it before admitting another.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs

import streamlit
from streamlit import delta_generator
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime import Runtime, exists
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

# Classes of values that the public interface returns or accepts, and the exception of ``st.stop``: it names none of
# them.
__all__ = [
    "DeltaGenerator",
    "MemoryUploadedFileManager",
    "SafeSessionState",
    "ScriptRequest",
    "ScriptRequests",
    "StopException",
    "StreamlitPage",
    "UploadedFile",
    "UploadedFileRec",
]

# The script run and its address.


def session_id() -> str | None:
    """The session of this script run, under which results are stored outside the session state; None outside a run."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.session_id


def open_page() -> tuple[str, bool]:
    """The page of this script run, and whether the browser's Back or Forward requested it: then the address overrides
    what the widgets hold."""
    context = get_script_run_ctx(suppress_warning=True)
    return ("", False) if context is None else (context.page_script_hash, context.is_history_navigation)


def in_fragment() -> bool:
    """Whether a fragment alone runs, so that the frame's own steps at the end of a run do not follow."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and bool(context.fragment_ids_this_run)


def write_query(words: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Change words of the address in one message; a key without words leaves it. Returns the words of before.

    ``st.query_params`` sends a message for each key, and the browser's Back then undoes one at a time. It also refuses
    the keys of bound widgets, which must be written when their value comes from another page.
    """
    context = get_script_run_ctx()
    if context is None:
        return {}
    with context.session_state.query_params() as query:
        before = {key: tuple(query.get_all(key)) for key in words}
        for key, chosen in words.items():
            if chosen:
                query.set_with_no_forward_msg(key, list(chosen) if len(chosen) > 1 else chosen[0])
            else:
                query.discard_param_no_forward_msg(key)
        query._send_query_param_msg()
    return before


def first_words(key: str) -> tuple[str, ...]:
    """The words that a widget bound to ``key`` begins with: those of the address when the page was opened."""
    context = get_script_run_ctx()
    if context is None:
        return ()
    with context.session_state.query_params() as query:
        return tuple(query._initial_query_params.get(key, ()))


def begin_with_address(key: str) -> None:
    """Let a widget bound to ``key`` begin with the address of this run.

    After Back to another page Streamlit does so only for keys to which no widget of the page before was bound.
    """
    context = get_script_run_ctx()
    words = parse_qs(context.query_string).get(key) if context is not None else None
    if context is not None and words:
        with context.session_state.query_params() as query:
            query._initial_query_params.setdefault(key, words)


def drop_from_address(key: str) -> None:
    """Remove words that a widget bound to ``key`` would fail to begin with; ``del st.query_params[key]`` leaves them
    where the widget reads them."""
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as query:
            del query._initial_query_params[key]
            query.remove_param(key)


def switch_page(page: Path, words: Mapping[str, str | Sequence[str]]) -> None:
    """Go on with another page and these words in its address, also those to which a widget of this page is bound:
    ``st.switch_page`` refuses them, though that widget is then gone."""
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as query:
            for key in words:
                if (bound := query.get_binding_for_param(key)) is not None:
                    query.unbind_widget(bound.widget_id)
    streamlit.switch_page(page, query_params=words)


# Methods that ``state/clicks.py`` replaces: where Streamlit lets a newer message of the browser interrupt a click.
apply_message, register_widget = SafeSessionState.on_script_will_rerun, SafeSessionState.register_widget
newer_message = ScriptRequests.on_scriptrunner_yield


def replace_methods(
    apply_message: Callable[..., None],
    register_widget: Callable[..., Any],
    newer_message: Callable[[ScriptRequests], ScriptRequest | None],
) -> None:
    """Replace the three methods in all sessions of this process. Nothing public is called at these moments."""
    SafeSessionState.on_script_will_rerun = apply_message  # type: ignore[method-assign]
    SafeSessionState.register_widget = register_widget  # type: ignore[method-assign]
    ScriptRequests.on_scriptrunner_yield = newer_message  # type: ignore[method-assign, assignment]


# Sessions and uploads of the server. The public interface shows a script its own session only.


def is_alive(session: str) -> bool:
    """Whether a session still exists; none does where there is no server, as between the runs of a test of a page."""
    return exists() and Runtime.instance().is_active_session(session)


def is_ready() -> Awaitable[tuple[bool, str]]:
    """Whether visitors can come, and the message: Streamlit answers this itself only below the path of the app."""
    return Runtime.instance().is_ready_for_browser_connection


def close(session: str) -> None:
    """Close a session that its visitor has left, and free its memory; call it in any thread.

    Streamlit keeps the last 128 sessions for two minutes, and longer if nobody comes or goes meanwhile.
    """
    if exists():
        Runtime.instance()._get_async_objs().eventloop.call_soon_threadsafe(_close, session)


def _close(session: str) -> None:
    if is_alive(session):  # it has reconnected
        return
    runtime = Runtime.instance()
    manager: Any = runtime._session_mgr  # of the kind that servers use
    left = manager.get_session_info(session)
    if left is not None:
        left.session.session_state.clear()  # free it now: a session is part of reference cycles
        runtime.close_session(session)
    else:  # an expired session is not found, but kept until another visitor leaves
        with suppress(KeyError):
            manager._session_storage.delete(session)


def uploads() -> MemoryUploadedFileManager | None:
    """The files of all visitors; None where there is no server."""
    return cast("MemoryUploadedFileManager", Runtime.instance().uploaded_file_mgr) if exists() else None


def check_uploads(manager: MemoryUploadedFileManager, check: Callable[[str, UploadedFileRec], None]) -> None:
    """Call ``check`` with the session and the file before each upload is accepted; what it raises is the answer to the
    browser. Streamlit's settings limit the size of one file only."""
    add, lock = manager.add_file, threading.Lock()

    def checked(session_id: str, file: UploadedFileRec) -> None:  # by these names Streamlit's route passes them
        with lock:
            check(session_id, file)
            add(session_id, file)

    manager.add_file = checked  # type: ignore[method-assign]


# What the server sends, and its start.
SCRIPTS = Path(streamlit.__file__).parent / "static" / "static" / "js"  # of the elements, by name


def serve_files(package: str, version: str, name: str, folder: Path) -> str:
    """Let the browser fetch the files of a folder, and return the folder's address, relative to the pages. Streamlit
    offers that only to components that are installed as packages."""
    whole, manager = f"{package}.{name}", get_bidi_component_manager()
    if manager.get_component_asset_root(whole) is None:
        manifest = ComponentManifest(package, version, [ComponentConfig(name, asset_dir=folder.name)])
        manager.register_from_manifest(manifest, folder.parent)
    return f"_stcore/bidi-components/{whole}"


def run(arguments: Sequence[str]) -> None:
    """``streamlit run`` in this process, until it ends."""
    from streamlit.web.cli import main

    main(["run", *arguments], standalone_mode=False)


def skip_prompt_check() -> None:
    """Let the first element not check whether it is drawn at a Python prompt: that reads the file of every module."""
    delta_generator._use_warning_has_been_displayed = True


def silence_failed_scripts() -> None:
    """Keep Streamlit from logging the exception of a script, whose message may contain a visitor's text."""
    logging.getLogger("streamlit.error_util").addFilter(lambda record: record.msg != "Uncaught app execution")
