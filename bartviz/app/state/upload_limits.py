"""Uploaded files: limited for each visitor and in total, and deleted once they have been read.

Streamlit limits the size of a file but not the number of files, and keeps them until the visit ends.
"""

from __future__ import annotations

from functools import partial

import streamlit as st
from starlette.exceptions import HTTPException

from bartviz.app import streamlit_internals
from bartviz.app.streamlit_internals import MemoryUploadedFileManager, UploadedFile, UploadedFileRec
from bartviz.language import _
from bartviz.serving.limits import Limits


def begin(limits: Limits) -> None:
    """Limit the uploads of this server: files over the limits are refused, with a message that names the numbers."""
    if manager := streamlit_internals.uploads():
        streamlit_internals.check_uploads(manager, partial(check, manager, limits))


def largest() -> int:
    """The largest upload that the server accepts, in megabytes."""
    return min(Limits.read().upload_mb, int(st.get_option("server.maxUploadSize")))


def check(manager: MemoryUploadedFileManager, limits: Limits, owner: str, file: UploadedFileRec) -> None:
    """Raise HTTPException for a file over the limits. Files of visitors who have left are removed first."""
    own, size = held(manager, owner), len(file.data)
    if own + size > limits.upload_mb * 1_000_000:
        raise HTTPException(
            413,
            _(
                "Your files use {held:.1f} MB here, and this one has {size:.1f} MB; the limit for each "
                "visitor is {limit} MB. Remove one first.",
                held=own / 1e6,
                size=size / 1e6,
                limit=limits.upload_mb,
            ),
        )
    for session_id in list(manager.file_storage):
        if session_id != owner and not streamlit_internals.is_alive(session_id):
            manager.remove_session_files(session_id)
    total = sum(held(manager, session_id) for session_id in list(manager.file_storage))
    if total + size > limits.uploads_mb * 1_000_000:
        raise HTTPException(
            413,
            _(
                "The files of all visitors use {held:.1f} MB here, and this one has {size:.1f} MB; the limit "
                "is {limit} MB. Try again later.",
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
    if manager := streamlit_internals.uploads():
        manager.remove_file(owner, file.file_id)
