"""How often a run is looked at: as often as before where it is due, seldom where many are before it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import streamlit as st

from bartviz.ui.controls import progress


@dataclass
class Waiting:
    """A run that waits, as progress sees it."""

    due: float
    waits: list[float] = field(default_factory=list)
    retries: int = 0
    finished: bool = False

    def retry(self) -> None:
        self.retries += 1

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return self.finished


class Again(Exception):
    """The page is drawn anew."""


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Waiting], tuple[float, Callable[[], None]]]:
    """``followed(run)``: the seconds between two looks, and a function that looks once more."""
    made: list[tuple[float, Callable[[], None]]] = []

    def fragment(look: Callable[[], None], *, run_every: float) -> Callable[[], None]:
        made.append((run_every, look))
        return look

    def rerun() -> None:
        raise Again

    def follow(run: Waiting) -> tuple[float, Callable[[], None]]:
        looked: Any = run
        progress.follow(lambda: looked, key="cancel")
        return made[-1]

    monkeypatch.setattr(st, "fragment", fragment)
    monkeypatch.setattr(st, "rerun", rerun)
    monkeypatch.setattr(progress, "draw", lambda run, *, key: None)
    return follow


@pytest.mark.parametrize(
    ("due", "every"), [(0.0, progress.POLL), (1.0, progress.POLL), (4.0, 1.0), (60.0, progress.SELDOM)]
)
def test_who_waits_far_back_looks_seldom(
    due: float, every: float, followed: Callable[[Waiting], tuple[float, Callable[[], None]]]
) -> None:
    assert followed(Waiting(due))[0] == pytest.approx(every)
    assert followed(Waiting(math.inf))[0] == progress.SELDOM


def test_the_page_is_not_held_up_and_a_look_of_its_own_stays_a_while(
    followed: Callable[[Waiting], tuple[float, Callable[[], None]]],
) -> None:
    run = Waiting(60.0)
    every, look = followed(run)
    assert run.waits == []  # drawn with the rest of the page
    look()
    assert run.retries == 1
    assert run.waits == [pytest.approx((every - progress.POLL) / 2)]
    run.finished = True
    with pytest.raises(Again):
        look()
