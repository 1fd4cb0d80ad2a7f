"""A receipt of heads that the visitor has opened: shown on the page Corpus, to that visitor alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

_OWN = "_own_receipt"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The name of the file, its bytes, and what it holds."""

    name: str
    data: bytes
    content: dict[str, Any]


def keep(name: str, data: bytes) -> None:
    """Keep a receipt in place of the one before. Raises SettingError for one that was altered."""
    from bartviz.corpus import receipt  # with pandas, which the first picture does without

    st.session_state[_OWN] = Receipt(name, data, receipt.opened(name, data))


def own() -> Receipt | None:
    """The receipt, if there is one."""
    held: Receipt | None = st.session_state.get(_OWN)
    return held


def close() -> None:
    """Forget it: a callback."""
    st.session_state.pop(_OWN, None)
