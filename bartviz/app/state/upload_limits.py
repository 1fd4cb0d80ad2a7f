"""Uploaded files: limited for each visitor and in total, and deleted once they have been read.

Streamlit limits the size of a file but not the number of files, and keeps them until the visit ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st
from starlette.exceptions import HTTPException
from streamlit.runtime import exists, get_instance

from bartviz.language import _
from bartviz.serving.limits import Limits

if TYPE_CHECKING:
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

_LOCK = threading.Lock()


def begin(limits: Limits, is_alive: Callable[[str], bool]) -> None:
    """Limit the uploads of this server."""
    if exists():
        manager: Any = get_instance().uploaded_file_mgr
        bound(manager, limits, is_alive)


def largest() -> int:
    """The largest upload that the server accepts, in megabytes."""
    return min(Limits.read().upload_mb, int(st.get_option("server.maxUploadSize")))


def bound(manager: MemoryUploadedFileManager, limits: Limits, is_alive: Callable[[str], bool]) -> None:
    """Make the server's file manager refuse uploads over the limits, with a message that names the numbers."""
    add = manager.add_file

    def bounded(session_id: str, file: UploadedFileRec) -> None:
        with _LOCK:
            _check(manager, limits, is_alive, session_id, file)
            add(session_id, file)

    manager.add_file = bounded  # type: ignore[method-assign]


def _check(
    manager: MemoryUploadedFileManager,
    limits: Limits,
    is_alive: Callable[[str], bool],
    owner: str,
    file: UploadedFileRec,
) -> None:
    """Raise HTTPException for a file over the limits. Files of visitors who have left are removed first."""
    own, size = held(manager, owner), len(file.data)
    if own + size > limits.upload_mb * 1_000_000:
        raise HTTPException(
            413,
            _(
                "Your files hold {held:.1f} MB here, and this one has {size:.1f} MB; at most {limit} MB are kept for a "
                "visitor. Remove one first.",
                held=own / 1e6,
                size=size / 1e6,
                limit=limits.upload_mb,
            ),
        )
    for session_id in list(manager.file_storage):
        if session_id != owner and not is_alive(session_id):
            manager.remove_session_files(session_id)
    total = sum(held(manager, session_id) for session_id in list(manager.file_storage))
    if total + size > limits.uploads_mb * 1_000_000:
        raise HTTPException(
            413,
            _(
                "The files of all visitors hold {held:.1f} MB here, and this one has {size:.1f} MB; at most {limit} MB "
                "are kept. Try again later.",
                held=total / 1e6,
                size=size / 1e6,
                limit=limits.uploads_mb,
            ),
        )


def held(manager: MemoryUploadedFileManager, owner: str) -> int:
    """Bytes of a visitor's files."""
    return sum(len(file.data) for file in list(manager.file_storage.get(owner, {}).values()))


def release(owner: str, file: UploadedFile) -> None:
    """Delete a file whose content was read."""
    manager: Any = get_instance().uploaded_file_mgr
    manager.remove_file(owner, file.file_id)
