"""Components that show nothing: a script that listens to keys, follows the theme, or scrolls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from bartviz.browser.scripts import bundle


def unseen(name: str, script: Path) -> Any:
    """The component that runs this script; it is busy until the script has run."""
    return st.components.v2.component(f"bartviz.{name}", html='<span aria-busy="true"></span>', js=bundle(script))
