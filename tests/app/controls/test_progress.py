"""How often a run is looked at: as often as before where it is due, seldom where many are before it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock

import pytest
import streamlit as st

from bartviz.app.controls import progress


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

    @property
    def progress(self) -> tuple[str, None]:
        return f"Writing: token {len(self.waits)}", None

    state, position = "running", 0


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


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """The bar of a run that is watched."""
    bar = Mock()
    monkeypatch.setattr(progress, "draw", lambda run, *, key: bar)
    return bar


def test_a_run_is_watched_until_it_has_ended(bar: Mock) -> None:
    run: Any = Waiting(0.0)

    def look() -> Any:
        run.finished = len(run.waits) == 3
        return run

    progress.watch(look, key="cancel", seconds=60.0)
    assert len(run.waits) == 3
    assert [call.kwargs["text"] for call in bar.progress.call_args_list][:2] == ["Writing: token 1", "Writing: token 2"]


def test_a_click_ends_the_watching(bar: Mock) -> None:
    """Streamlit ends a script run where it reads the session: each look does."""
    run: Any = Waiting(0.0)

    def look() -> Any:
        if len(run.waits) == 2:
            raise Again
        return run

    with pytest.raises(Again):
        progress.watch(look, key="cancel", seconds=60.0)


def test_watching_has_an_end(bar: Mock) -> None:
    run: Any = Waiting(0.0)
    progress.watch(lambda: run, key="cancel", seconds=0.0)
    assert run.waits == []
