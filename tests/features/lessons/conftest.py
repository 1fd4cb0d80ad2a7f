"""Pages that a lesson opens: a lesson that needs a page which the menu does not have is left out."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.features.lessons.parts_course import LESSONS, WRITTEN
from tests.support.pages import App

LEFT_OUT = {lesson.word for lesson in WRITTEN} - {lesson.word for lesson in LESSONS}


@pytest.fixture
def app(app: App) -> App:
    def open_page(word: str = "start", **query: Any) -> AppTest:
        if query.get("lesson") in LEFT_OUT:
            pytest.skip(f"the lesson {query['lesson']} is left out")
        return app(word, **query)

    return open_page
