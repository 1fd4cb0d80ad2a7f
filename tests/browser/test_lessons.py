"""Every lesson is walked to its end in English with the mouse; test_lessons_ko.py walks them in Korean with keys."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Open
from tests.browser.lessons import WORDS, named, walk


@pytest.mark.parametrize("word", WORDS)
def test_a_lesson_is_walked_to_its_end(server: str, visit: Open, word: str) -> None:
    walk(visit(f"{server}/?lesson={word}&at=1"), named(word), "en", by_keys=False)
