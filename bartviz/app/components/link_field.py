"""A link in a field, and a button that copies it. Streamlit's block of code would load 0.5 MB for it."""

from __future__ import annotations

from pathlib import Path

from bartviz.app.components.served import Served
from bartviz.language import _

COMPONENT = Served.of(Path(__file__).parent / "link_field")


def link_field(link: str, *, key: str) -> None:
    """Draw the link."""
    words = {"named": _("Link to this page"), "copy": _("Copy"), "copied": _("Link copied")}
    COMPONENT(data={"link": link, **words}, key=key)
