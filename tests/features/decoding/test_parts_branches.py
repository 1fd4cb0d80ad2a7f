"""Branches as the task writes them, with small models; and branches in links."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bartviz
from bartviz.analysis.decoding import rules_notice
from bartviz.features.decoding.numbers_beams import turns
from bartviz.features.decoding.parts_branches import Turn, begins_word, link, read_link, write
from bartviz.record.record import Record
from tests.support import loaded, stand_in

TEXT = "the cat sat on the mat"


class Ticket:
    """As much of a ticket as work needs; it notes what is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def cancelled(self) -> bool:
        return False

    def report(self, note: str, fraction: float | None = None) -> None:
        self.told.append(note)


def ids(record: Record) -> list[int]:
    return [step.chosen.token_id for step in record.steps]


def test_a_branch_starts_like_the_text_and_reports_progress() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=6)
    ticket: Any = Ticket()
    token = record.steps[2].candidates[1].token_id
    branch = write(model, ticket, record=record, turn=Turn(2, token))
    assert ids(branch)[:3] == [*ids(record)[:2], token]
    assert ticket.told[0].startswith("Writing the branch: token 1 of at most ")
    assert "chosen by you" not in rules_notice(branch)


@pytest.mark.parametrize("family", ["t5", "gpt2"])
def test_greedy_search_beside_beams_is_greedy_search(family: str) -> None:
    model = loaded.model(family)
    record = next(
        found for beams in range(2, 9) if turns(found := bartviz.decode(model, TEXT, beams=beams, max_new_tokens=7))
    )
    step, _token = turns(record)[0]
    ticket: Any = Ticket()
    turn = Turn(step.position, step.candidates[0].token_id, greedy=True)
    branch = write(model, ticket, record=record, turn=turn)
    assert branch.provenance.settings["mode"] == "greedy"
    assert branch.beams is None
    alone = bartviz.decode(model, TEXT, max_new_tokens=7)
    assert ids(branch) == ids(alone)


def test_typed_text_begins_a_word_where_the_token_did() -> None:
    record = stand_in.record()  # “Ich” begins the text, “möchte” a word, “fen” goes on with one
    assert begins_word(record, 1, "Du") == "Du"
    assert begins_word(record, 2, "will") == " will"
    assert begins_word(record, 2, " will") == " will"
    assert begins_word(record, 2, ", und") == ", und"
    assert begins_word(record, 6, "fte") == "fte"
    assert begins_word(record, 8, "Danke") == " Danke"  # in the place of </s>
    assert begins_word(record, 8, "!") == "!"
    assert begins_word(record, 0, "Ich") == "Ich"  # in the place of <s>, with nothing said before


@pytest.mark.slow
@given(step=st.integers(0, 50), token=st.one_of(st.integers(0, 99), st.text(min_size=1, max_size=40)))
def test_a_link_says_what_was_asked(step: int, token: int | str) -> None:
    back = read_link(link(Turn(step, token)), steps=51, vocabulary=100)
    blank = isinstance(token, str) and not token.strip()
    assert back == (None if blank else Turn(step, token))
