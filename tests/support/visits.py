"""Pages as scripts: opened by a visitor with a record, and the texts of their HTML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streamlit.testing.v1 import AppTest

from bartviz.app.state import session
from bartviz.record.record import Record

APP = Path(__file__).parents[2] / "app.py"


def opened(word: str, record: Record, state: Mapping[str, object] | None = None, /, **query: str) -> AppTest:
    """The page with this record as the visitor's last run, what else the session holds, and this query."""
    page = AppTest.from_file(str(APP), default_timeout=120)
    for name, value in ({session.RECORD: record} | dict(state or {})).items():
        page.session_state[name] = value
    for name, value in query.items():
        page.query_params[name] = value
    page.switch_page(f"pages/{word}.py").run()
    assert not page.exception
    return page


def words(page: AppTest) -> str:
    """All that the page says in HTML of ours."""
    return " ".join(part.proto.body for part in page.get("html"))
