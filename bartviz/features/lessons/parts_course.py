"""All lessons, in the recommended order. One that needs a page which the menu does not have is left out."""

from __future__ import annotations

from bartviz.app.frame import page_list
from bartviz.features.lessons import (
    arithmetic,
    attention,
    born,
    corpus,
    cross,
    decoding,
    denoising,
    heads,
    masks,
    parameters,
    pitfalls,
    why,
)
from bartviz.features.lessons.lesson import Lesson

WRITTEN: tuple[Lesson, ...] = (
    attention.LESSON,
    masks.LESSON,
    arithmetic.LESSON,
    heads.LESSON,
    cross.LESSON,
    decoding.LESSON,
    denoising.LESSON,
    parameters.LESSON,
    pitfalls.LESSON,
    why.LESSON,
    corpus.LESSON,
    born.LESSON,
)
LESSONS: tuple[Lesson, ...] = tuple(
    lesson for lesson in WRITTEN if all(page_list.has(step.page) for step in lesson.steps)
)
FIRST = WRITTEN[:4]
"""The lessons that belong together and need no prior knowledge; the others can be taken in any order."""
