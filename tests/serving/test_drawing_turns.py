"""Turns: a few at a time, the next when one is released, and no endless turn."""

from __future__ import annotations

import threading

import pytest

from bartviz.serving import drawing_turns


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing_turns, "_free", threading.Semaphore(drawing_turns.MOST))
    monkeypatch.setattr(drawing_turns, "PATIENCE", 30.0)


class Drawing(threading.Thread):
    """A page that is drawn until it may end; with ``aside`` it waits for something meanwhile."""

    def __init__(self, *, aside: bool = False) -> None:
        super().__init__(daemon=True)
        self.aside, self.begun, self.proceed = aside, threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        with drawing_turns.turn():
            if self.aside:
                with drawing_turns.aside():
                    self.begun.set()
                    self.proceed.wait(30)
            else:
                self.begun.set()
                self.proceed.wait(30)

    def end(self) -> None:
        self.proceed.set()
        self.join(30)


def test_only_so_many_are_drawn_at_once() -> None:
    drawn = [Drawing() for _ in range(drawing_turns.MOST)]
    assert all(one.begun.wait(10) for one in drawn)
    late = Drawing()
    assert not late.begun.wait(0.2)
    drawn[0].end()
    assert late.begun.wait(10)
    for one in [*drawn, late]:
        one.end()


def test_who_waits_for_something_lets_others_draw() -> None:
    waiting = [Drawing(aside=True) for _ in range(3 * drawing_turns.MOST)]
    assert all(one.begun.wait(10) for one in waiting)
    drawn = Drawing()
    assert drawn.begun.wait(10)
    for one in [*waiting, drawn]:
        one.end()
    assert drawing_turns._free._value == drawing_turns.MOST  # every turn was given back


def test_no_wait_is_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing_turns, "PATIENCE", 0.05)
    drawn = [Drawing() for _ in range(2 * drawing_turns.MOST)]
    assert all(one.begun.wait(10) for one in drawn)
    for one in drawn:
        one.end()
    assert drawing_turns._free._value == drawing_turns.MOST


def test_outside_of_a_page_no_turn_is_taken() -> None:
    with drawing_turns.aside():
        pass
    assert drawing_turns._free._value == drawing_turns.MOST


def test_a_page_that_is_interrupted_releases_its_turn() -> None:
    with pytest.raises(KeyError), drawing_turns.turn():
        raise KeyError
    assert drawing_turns._free._value == drawing_turns.MOST
