"""Every lesson is walked to its end in a browser: by turns in English with the mouse and in Korean with keys.

``make test`` walks one by touch and by keys (``test_lessons_answers.py``), and one in both directions without a browser
(``tests/features/lessons/test_tour.py``).
"""

from __future__ import annotations

import pytest

pytest.importorskip("bartviz.features.lessons")

from tests.browser.conftest import Open
from tests.browser.lessons import WORDS, begun, named, walk


@pytest.mark.thorough
@pytest.mark.parametrize("word", WORDS[::2])
def test_a_lesson_is_walked_to_its_end(server: str, visit: Open, word: str) -> None:
    walk(visit(f"{server}/?lesson={word}&at=1"), named(word), "en", by_keys=False)


@pytest.mark.thorough
@pytest.mark.parametrize("word", WORDS[1::2])
def test_a_lesson_is_walked_to_its_end_in_korean_with_keys(server: str, visit: Open, word: str) -> None:
    walk(begun(visit, f"{server}/?lesson={word}&at=1&lang=ko"), named(word), "ko", by_keys=True)
