"""Guided tours: each step sets the view of a real page and asks a question about it.

The frame calls ``prepare`` before any widget is drawn, each page ``strip``, and the app ``drawn`` at the end.
"""

from bartviz.features.lessons.parts_lesson_state import BY_WORD, current, drawn, lead, prepare, start
from bartviz.features.lessons.parts_strip import strip

__all__ = ["asks_numbers", "begin", "drawn", "lead", "leads", "minutes", "prepare", "strip"]


def begin(word: str) -> None:
    """Begin the lesson of that word: a callback."""
    start(word, 0)


def minutes(word: str) -> int:
    """How long the lesson of that word takes, about."""
    return BY_WORD[word].minutes


def leads() -> bool:
    """Whether a lesson guides the visitor through the page."""
    return current().lesson is not None


def asks_numbers() -> bool:
    """Whether the lesson asks about numbers that pages hide from beginners."""
    lesson = current().lesson
    return lesson is not None and lesson.numbers
