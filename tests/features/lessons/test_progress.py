"""Progress of lessons from a browser is merged if it is valid, and no progress is lost."""

from __future__ import annotations

import pytest

from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons import parts_progress as progress
from bartviz.features.lessons.parts_course import LESSONS

FIRST = LESSONS[0]
COUNT = len(FIRST.steps)


def test_what_was_seen_before_counts() -> None:
    now = state.LessonState()
    progress.merge(now, {FIRST.word: [4, 2]})
    assert now.reached == {FIRST.word: 4}
    assert now.places == {FIRST.word: 2}
    assert progress.kept(now) == {FIRST.word: [4, 2, 0]}


def test_what_this_visit_has_done_is_not_undone() -> None:
    now = state.LessonState()
    now.go(FIRST, 1)
    now.answered[FIRST.word] = {1}
    progress.merge(now, {FIRST.word: [COUNT, 0, 0b100]})
    assert progress.kept(now) == {FIRST.word: [COUNT, 1, 0b110]}
    progress.merge(now, {FIRST.word: [1, 4]})  # as it was kept before steps could be answered
    assert progress.kept(now) == {FIRST.word: [COUNT, 1, 0b110]}


def test_a_lesson_is_done_when_every_step_was_answered() -> None:
    now = state.LessonState()
    now.go(FIRST, COUNT - 1)
    assert not now.is_done(FIRST)
    assert [now.skipped(FIRST, at) for at in range(COUNT)] == [True] * (COUNT - 1) + [False]  # one is here
    progress.merge(now, {FIRST.word: [COUNT, 0, (1 << COUNT) - 1]})
    assert now.is_done(FIRST)
    assert not any(now.skipped(FIRST, at) for at in range(COUNT))


@pytest.mark.parametrize(
    "said",
    [
        None,
        3,
        "x",
        [],
        {},
        {"nothing": [1, 0]},
        {FIRST.word: 3},
        {FIRST.word: [1]},
        {FIRST.word: [1, 0, 0, 0]},
        {FIRST.word: [1, 0, 1 << COUNT]},
        {FIRST.word: [1, 0, -1]},
        {FIRST.word: [1, 0, "1"]},
        {FIRST.word: ["1", "0"]},
        {FIRST.word: [True, False]},
        {FIRST.word: [0, 0]},
        {FIRST.word: [-1, 0]},
        {FIRST.word: [COUNT + 1, 0]},
        {FIRST.word: [1, COUNT]},
        {FIRST.word: [1, -1]},
        {FIRST.word: [1.0, 0.0]},
        {3: [1, 0]},
        {FIRST.word: None},
    ],
)
def test_what_makes_no_sense_is_left_alone(said: object) -> None:
    now = state.LessonState()
    progress.merge(now, said)
    assert progress.kept(now) == {}
