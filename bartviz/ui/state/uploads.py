"""The files that visitors upload: bounded for each visitor and for all together, and kept no longer than they are used.

Streamlit bounds a file, not how many there are, and keeps them for as long as the visit.
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
    """Bound the files of this server."""
    if exists():
        manager: Any = get_instance().uploaded_file_mgr
        bound(manager, limits, is_alive)


def largest() -> int:
    """Megabytes of the largest file that the server takes: what an uploader may offer."""
    return min(Limits.read().upload_mb, int(st.get_option("server.maxUploadSize")))


def bound(manager: MemoryUploadedFileManager, limits: Limits, is_alive: Callable[[str], bool]) -> None:
    """From now on the manager of a server's files refuses what would be too much, with the number."""
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
    """Raise HTTPException for a file that is too much. What visitors have left behind makes room first."""
    mine, size = held(manager, owner), len(file.data)
    if mine + size > limits.upload_mb * 1_000_000:
        raise HTTPException(
            413,
            _(
                "Your files hold {held:.1f} MB here, and this one has {size:.1f} MB; at most {limit} MB are kept for a "
                "visitor. Remove one first.",
                held=mine / 1e6,
                size=size / 1e6,
                limit=limits.upload_mb,
            ),
        )
    for session_id in list(manager.file_storage):
        if session_id != owner and not is_alive(session_id):
            manager.remove_session_files(session_id)
    everything = sum(held(manager, session_id) for session_id in list(manager.file_storage))
    if everything + size > limits.uploads_mb * 1_000_000:
        raise HTTPException(
            413,
            _(
                "The files of all visitors hold {held:.1f} MB here, and this one has {size:.1f} MB; at most {limit} MB "
                "are kept. Try again later.",
                held=everything / 1e6,
                size=size / 1e6,
                limit=limits.uploads_mb,
            ),
        )


def held(manager: MemoryUploadedFileManager, owner: str) -> int:
    """Bytes of a visitor's files."""
    return sum(len(file.data) for file in list(manager.file_storage.get(owner, {}).values()))


def release(owner: str, file: UploadedFile) -> None:
    """Forget a file whose content has been taken."""
    manager: Any = get_instance().uploaded_file_mgr
    manager.remove_file(owner, file.file_id)
