"""Heads put back, on the page experiments: where a changed token makes another word the likeliest."""

from __future__ import annotations

import html

import pytest

import bartviz
from bartviz.analysis import patching as analysis
from bartviz.analysis.edits import Edit
from bartviz.analysis.patching import By
from bartviz.features.experiments import parts_patching as parts
from bartviz.models.model import Model
from bartviz.models.roots import default_roots
from bartviz.record.record import Record
from tests.support.pages import App, tables
from tests.support.visits import words

pytestmark = pytest.mark.usefixtures("engine")
TEXT, TARGET = "The cat is sleeping on the sofa.", "Die Katze schläft auf dem Sofa."


def subject(name: str) -> tuple[Model, Record]:
    model = bartviz.load(name, roots=default_roots())
    return model, bartviz.capture(model, TEXT, target=TARGET if name == "small-bart" else None)


def turning(model: Model, record: Record, turns: bool) -> Edit:
    """An edit of the token at position 2 that makes another word the likeliest, or none."""
    edits = (bartviz.edit(model, record, 2, token) for token in range(199, 4, -1))
    return next(one for one in edits if (parts._step(one) is not None) == turns)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by"), [("small-bart", "head"), ("small-bart", "position"), ("small-gpt2", "head")])
def test_the_shares_of_all_heads_are_shown(app: App, name: str, by: By) -> None:
    model, record = subject(name)
    found = turning(model, record, turns=True)
    step = parts._step(found)
    assert step is not None
    assert found.before is not None
    assert found.after is not None
    assert found.before.best[step] != found.after.best[step]
    assert record.cross is not None or found.rows[step] != found.position
    page = app(
        "experiments",
        record=record,
        level="intermediate",
        experiment="edit",
        position="2",
        replace=f"#{found.new_id}",
        put=by,
    )
    assert not page.exception
    assert not page.error
    one = bartviz.patch(model, record, found.changed, by=by, step=step)
    assert analysis.sentence(one) in html.unescape(words(page))
    links = {link.proto.label: link.proto.query_string for link in page.get("page_link")}
    assert links["Why this word?"] == f"row={one.row}&from=experiments"
    frame = next(table for table in tables(page) if "recovered" in table)
    assert frame["recovered"].tolist() == pytest.approx(one.to_dataframe()["recovered"].tolist(), abs=1e-3)


@pytest.mark.slow
def test_where_no_word_changes_there_is_nothing_to_bring_back(app: App) -> None:
    model, record = subject("small-bart")
    found = turning(model, record, turns=False)
    page = app(
        "experiments",
        record=record,
        level="intermediate",
        experiment="edit",
        position="2",
        replace=f"#{found.new_id}",
        put="head",
    )
    assert not page.exception
    assert "there is nothing to bring back" in words(page)
