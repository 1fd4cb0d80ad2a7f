"""The panel of checks: only experts see it; it is computed from the current record."""

from __future__ import annotations

from dataclasses import replace

import bartviz
from bartviz.app.state import content
from tests.support.pages import App


def test_an_expert_sees_every_check_and_others_do_not(app: App) -> None:
    record = bartviz.capture(bartviz.load("bart-tiny-en-de"), "I want to buy a car.", values=True)
    page = app("heads", record=record, level="expert")
    assert not page.exception
    labels = [one.label for one in page.expander]
    assert "The checks of this record" in labels
    assert "The checks of this record" not in [one.label for one in app("heads", record=record).expander]


def test_records_of_the_same_tokens_with_other_numbers_are_verified_apart() -> None:
    record = bartviz.capture(bartviz.load("bart-tiny-en-de"), "I want to buy a car.", values=True)
    cross = record.attention("cross")
    other = replace(record, cross=replace(cross, k=cross.keys[::-1]))
    assert content.key(record) == content.key(replace(record))
    assert content.key(record) != content.key(other)
    assert content.key(record) != content.key(replace(record, target_text="Nein."))
