"""Heads by a pattern on the corpus page: the pattern, what is found, examples, and receipts that were opened."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bartviz
from bartviz.app.frame import uploads
from bartviz.app.state import own_receipt
from bartviz.corpus import receipt, shipped
from bartviz.errors import SettingError
from bartviz.features.corpus import numbers_patterns as numbers
from bartviz.features.corpus import run_patterns
from bartviz.patterns.grammar import parse
from tests.support.pages import App
from tests.support.visits import words

FIRST = "from any to first"


@pytest.fixture(scope="module")
def found() -> bartviz.FoundHeads:
    texts = numbers.texts_of(shipped.atlas("bert-tiny-en"))
    return bartviz.find_heads(bartviz.load("bert-tiny-en"), texts, FIRST)


def test_a_beginner_sees_a_folded_section_and_a_link_opens_it(app: App) -> None:
    folded = app("corpus", record=None)
    assert not any(box.key == "pattern" for box in folded.selectbox)
    for query in ({"level": "expert"}, {"pattern": FIRST}):
        page = app("corpus", record=None, **query)
        assert not page.exception
        assert any(box.key == "pattern" for box in page.selectbox)


@pytest.mark.parametrize(
    ("pattern", "wrong", "why"),
    [
        ("from verbb to any", "verbb", "Character 6"),
        ("from any to", " ", "is expected"),
        ("from <b>x</b> to any", "&lt;b&gt;x&lt;/b&gt;", "Character 6"),
    ],
)
def test_what_cannot_be_read_is_marked_where_it_is(app: App, pattern: str, wrong: str, why: str) -> None:
    page = app("corpus", record=None, pattern=pattern)
    assert not page.exception
    assert f"<mark>{wrong}</mark>" in words(page)
    assert any(why in error.value for error in page.error)
    assert not any(button.key == "begin_corpus_patterns" for button in page.button)


@pytest.mark.usefixtures("at_once")
def test_every_head_is_tested_and_examples_and_the_receipt_are_offered(app: App) -> None:
    page = app("corpus", record=None, atlas="bert-tiny-en", pattern=FIRST, level="expert")
    button = page.button(key="begin_corpus_patterns")
    assert button.label == "Test every head over 200 texts"
    page = button.click().run()
    assert not page.exception
    texts = numbers.texts_of(shipped.atlas("bert-tiny-en"))
    assert len(texts) == 200
    again = bartviz.find_heads(bartviz.load("bert-tiny-en"), texts, FIRST)
    assert numbers.said(again.content()) in words(page)
    assert any(frame.value["head"].iloc[0] for frame in page.dataframe if "replicated" in frame.value)
    assert page.button(key="pattern_0_open").label == "See its attention"
    offered = page.session_state["_offered"]["corpus_patterns"]
    made = next(file for file in offered.files if file.mime == "application/json").make()
    content = receipt.opened("x.json", made)
    assert content["pattern"] == FIRST
    assert content["texts"] == again.texts
    assert run_patterns.verify(made, texts, bartviz.load("bert-tiny-en"), _ticket()) == ()
    latex = next(file for file in offered.files if file.name.endswith(".tex")).make()
    assert latex.startswith(b"\\begin{table}")


def test_examples_are_what_the_pattern_marks() -> None:
    model = bartviz.load("bert-tiny-en")
    texts = numbers.texts_of(shipped.atlas("bert-tiny-en"))[:12]
    found = run_patterns.find("from any to previous token", texts, model, _ticket())
    assert found.examples
    for example in found.examples:
        record = bartviz.capture(model, example.fields["text"], pair=example.fields.get("pair"))
        labels = [label.strip() for label in record.encoder.query.labels]  # type: ignore[union-attr]
        assert example.links == tuple((labels[i], labels[i - 1]) for i in range(1, len(labels)))[: run_patterns.LINKS]


def test_a_receipt_is_opened_shown_and_an_altered_one_refused(app: App, found: bartviz.FoundHeads) -> None:
    data = receipt.packed(found.content())
    page = app("corpus", record=None, atlas="bert-tiny-en")
    page.session_state["_own_receipt"] = own_receipt.Receipt("mine.json", data, receipt.opened("mine.json", data))
    page.run()
    assert not page.exception
    assert "The receipt mine.json: from any to first" in words(page)
    assert numbers.said(found.content()) in words(page)
    assert "Nothing in it was changed afterwards" in words(page)
    page = page.button(key="receipt_close").click().run()
    assert "mine.json" not in words(page)
    with pytest.raises(SettingError, match="altered or damaged"):
        own_receipt.keep("mine.json", data.replace(b"any to first", b"any to last"))


def test_a_receipt_of_several_patterns_says_each(app: App) -> None:
    texts = numbers.texts_of(shipped.atlas("bert-tiny-en"))[:40]
    both = bartviz.find_heads(bartviz.load("bert-tiny-en"), texts, {"start": FIRST, "self": "from any to itself"})
    data = receipt.packed(both.content())
    page = app("corpus", record=None, atlas="bert-tiny-en")
    page.session_state["_own_receipt"] = own_receipt.Receipt("both.json", data, receipt.opened("both.json", data))
    page.run()
    assert not page.exception
    assert "The receipt both.json: start; self" in words(page)
    parts = numbers.of_each(both.content())
    assert list(parts) == ["start", "self"]
    for name, part in parts.items():
        assert {row["pattern"] for row in part["table"]} == {name}
        assert f"<code>{name}</code> {numbers.said(part)}" in words(page)
    assert any("pattern" in frame.value for frame in page.dataframe)


def test_a_receipt_is_told_from_a_file_of_texts(found: bartviz.FoundHeads, tmp_path: Path) -> None:
    data = receipt.packed(found.content())
    assert receipt.is_one(data)
    assert not receipt.is_one(json.dumps([{"text": "bartviz receipt"}]).encode())
    assert not receipt.is_one(b'{"text": "a text"}')
    (tmp_path / "receipt.json").write_bytes(data)
    assert receipt.read(tmp_path / "receipt.json")["texts"] == found.texts
    file: Any = SimpleNamespace(name="x.json", getvalue=lambda: data)
    assert uploads._is_saved(file)
    assert not uploads._is_saved(SimpleNamespace(name="x.json", getvalue=lambda: b"[]"))  # type: ignore[arg-type]


def test_every_pattern_that_is_offered_can_be_read() -> None:
    from bartviz.features.corpus.parts_patterns import PATTERNS

    for pattern in PATTERNS:
        assert parse(pattern).text == pattern


def _ticket() -> Any:
    return SimpleNamespace(report=lambda *_said: None, cancelled=lambda: False)
