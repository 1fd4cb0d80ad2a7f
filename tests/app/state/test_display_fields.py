"""What a closed popover still sends does not undo a button's choice, and what a visitor chooses there holds."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st

from bartviz.app.state import display_fields

KEY = "a field"


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def run(state: dict[str, Any], sent: str, *, is_open: bool, put: str | None = None) -> str:
    """One script run: what the browser sends, a button's callback, the frame. Returns what the field holds."""
    state.update({KEY: sent, display_fields.POPOVER: is_open})
    if put is not None:
        display_fields.put(KEY, put)
    display_fields.begin()
    display_fields.keep(KEY)
    return str(state[KEY])


def test_a_button_is_not_undone_by_what_the_closed_field_still_sends(state: dict[str, Any]) -> None:
    assert run(state, "a", is_open=False) == "a"
    assert run(state, "a", is_open=False, put="b") == "b"
    assert run(state, "a", is_open=False) == "b"
    assert run(state, "a", is_open=False) == "b"
    assert run(state, "a", is_open=True) == "b"  # opening it still sends the old value
    assert run(state, "b", is_open=True) == "b"  # now it has been told
    assert run(state, "b", is_open=False) == "b"


def test_a_choice_in_the_open_popover_holds(state: dict[str, Any]) -> None:
    run(state, "a", is_open=False)
    run(state, "a", is_open=False, put="b")
    run(state, "a", is_open=True)
    assert run(state, "a", is_open=True) == "a"  # the one it showed last, chosen again
    assert run(state, "a", is_open=False) == "a"


def test_opening_and_choosing_in_one_request_holds(state: dict[str, Any]) -> None:
    run(state, "a", is_open=False)
    assert run(state, "c", is_open=True) == "c"
    assert run(state, "c", is_open=False) == "c"


def test_buttons_chosen_one_after_another(state: dict[str, Any]) -> None:
    run(state, "a", is_open=False)
    for choice in "bcb":
        assert run(state, "a", is_open=False, put=choice) == choice
        assert run(state, "a", is_open=False) == choice


def test_a_button_before_the_field_was_ever_drawn(state: dict[str, Any]) -> None:
    """The run that it began may end before the popover is drawn."""
    display_fields.put(KEY, "b")
    display_fields.begin()
    assert run(state, "b", is_open=False) == "b"
