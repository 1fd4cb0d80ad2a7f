"""A record as an address: another visit that opens it makes the request that made the record."""

from __future__ import annotations

from typing import Any

import pytest

import bartviz
from bartviz.app.frame import record_link
from bartviz.app.state import session
from bartviz.record.record import Record
from bartviz.serving.request import Request
from tests.support.pages import App

BERT, BART = "bert-tiny-en", "bart-tiny-en-de"
TEXT = "I want to buy a car."


def run(name: str, **options: Any) -> Record:
    model = bartviz.load(name)
    make: Any = bartviz.capture if {"pair", "target"} & options.keys() or name == BERT else bartviz.decode
    made: Record = make(model, options.pop("text", TEXT), **options)
    return made


RECORDS = [
    (BERT, {"pair": "It is very old."}),
    (BERT, {"text": "I want to buy a [MASK].", "pair": "It is [MASK].", "allow_special": True}),
    (BERT, {"text": "I want to buy a [MASK]."}),
    (BART, {}),
    (BART, {"target": "Ich will ein Auto kaufen."}),
    (BART, {"beams": 3, "length_penalty": 0.5, "early_stopping": "never"}),
    (BART, {"beams": 2, "early_stopping": True, "min_new_tokens": 12, "no_repeat_ngram_size": 0}),
    (BART, {"sample": bartviz.Sampling(1.5, 20, 0.9, 3)}),
    (BART, {"max_new_tokens": 3}),
    (BART, {"text": "I WANT TO BUY A CAR."}),
    (BART, {"min_new_tokens": 30, "no_repeat_ngram_size": 2}),
]


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), RECORDS)
def test_the_address_of_a_record_asks_for_that_record(
    app: App, monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any]
) -> None:
    record = run(name, **dict(options))
    asked: list[Request] = []
    monkeypatch.setattr(session, "submit", asked.append)
    assert not app("quiz", **record_link.query(record)).exception
    from bartviz.models.load import load
    from bartviz.serving.search import options as of

    (one,) = asked
    assert one.lower != record.source_text.isupper()
    model = load(one.model)
    more: dict[str, Any] = {"max_new_tokens": one.max_new_tokens, "allow_special": one.allow_special}
    if name == BERT:
        again = bartviz.capture(model, one.text, pair=one.pair, allow_special=one.allow_special)
    elif one.target is not None:
        again = bartviz.capture(model, one.text, target=one.target)
    else:
        again = bartviz.decode(model, one.text, **more, **of(one.search))
    assert again.source.ids.tolist() == record.source.ids.tolist()
    assert (again.pair_text, again.target_text) == (record.pair_text, record.target_text)
    assert [step.chosen for step in again.steps] == [step.chosen for step in record.steps]


def test_a_branched_text_becomes_a_given_output() -> None:
    model = bartviz.load(BART)
    record = bartviz.branch(model, bartviz.decode(model, TEXT), 4, " Haus")
    assert record_link.query(record) == {"model": BART, "text": TEXT, "target": record.target_text}
