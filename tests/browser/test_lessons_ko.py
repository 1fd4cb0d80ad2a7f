"""Every lesson is walked to its end in Korean with keys; test_lessons.py walks them in English with the mouse."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Open
from tests.browser.lessons import WORDS, begun, named, walk


@pytest.mark.parametrize("word", WORDS)
def test_a_lesson_is_walked_to_its_end(server: str, visit: Open, word: str) -> None:
    walk(begun(visit, f"{server}/?lesson={word}&at=1&lang=ko"), named(word), "ko", by_keys=True)
