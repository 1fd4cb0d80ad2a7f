"""What this visitor has chosen and what came of it: the request from the sidebar, and the record of the last run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.ui import saved

if TYPE_CHECKING:
    from bartviz.record import Record

RECORD = "_record"


@dataclass(frozen=True, slots=True)
class Request:
    """What the sidebar asks for: one model, one text, and how to decode.

    ``pair`` is the second sentence of an encoder model; ``target`` the given translation (teacher forcing) of an
    encoder-decoder. ``max_new_tokens`` None leaves the checkpoint's own limit; ``top_k`` candidates are kept per step.
    """

    model: str
    text: str
    pair: str | None = None
    target: str | None = None
    max_new_tokens: int | None = None
    top_k: int = 10


def current_record() -> Record | None:
    """The record that the pages show: of the last finished run, else the saved one that the app starts with, else None."""
    record: Record | None = st.session_state.get(RECORD)
    return record or saved.record()
