"""All lessons, in the recommended order."""

from __future__ import annotations

from bartviz.features.lessons import (
    arithmetic,
    attention,
    corpus,
    cross,
    decoding,
    denoising,
    heads,
    masks,
    parameters,
    pitfalls,
)
from bartviz.features.lessons.lesson import Lesson

LESSONS: tuple[Lesson, ...] = (
    attention.LESSON,
    masks.LESSON,
    arithmetic.LESSON,
    heads.LESSON,
    cross.LESSON,
    decoding.LESSON,
    denoising.LESSON,
    parameters.LESSON,
    pitfalls.LESSON,
    corpus.LESSON,
)
