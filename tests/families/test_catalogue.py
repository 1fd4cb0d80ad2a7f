"""The catalogue: shipped models first, real sizes, and titles with the right numbers."""

from __future__ import annotations

import re

import pytest

from bartviz.analysis.parameters import total
from bartviz.families import config
from bartviz.families.catalogue import CATALOGUE, EMBEDDED, Entry, entry
from tests.support.process import printed

NAMED = [
    "bert-base-uncased",
    "bert-large-uncased",
    "facebook/bart-base",
    "facebook/bart-large",
    "facebook/bart-large-cnn",
    "gpt2",
    "gpt2-medium",
    "t5-small",
    "t5-base",
    "Helsinki-NLP/opus-mt-en-de",
    "google/pegasus-xsum",
    "sshleifer/distilbart-cnn-12-6",
]
each = pytest.mark.parametrize("known", CATALOGUE, ids=lambda known: f"{known.family}: {known.name}")


def test_embedded_models_come_first_and_every_name_is_there_once() -> None:
    sources = [known.source for known in CATALOGUE]
    assert sources == sorted(sources)
    names = [known.name for known in CATALOGUE]
    assert len(set(names)) == len(names)
    assert set(NAMED) <= set(names)
    shipped = {file.parent.name for file in EMBEDDED.glob("*/config.json")}
    assert {known.name for known in CATALOGUE if known.source == "embedded"} == shipped


def test_entry_finds_by_name() -> None:
    known = entry("facebook/bart-base")
    assert known is not None
    assert (known.family, known.kind, known.source) == ("bart", "encoder-decoder", "hub")
    assert entry("facebook/bart") is None


@each
def test_configurations_are_possible_and_cannot_be_changed(known: Entry) -> None:
    config.validate(known.config)
    with pytest.raises(TypeError):
        known.config["vocab_size"] = 1  # type: ignore[index]


@each
def test_titles_state_the_size_in_float32(known: Entry) -> None:
    if known.source == "embedded":
        assert known.title.endswith("· included")
        return
    megabytes = total(known.config) * 4 / 1e6
    stated = f"{megabytes / 1000:.2f} GB" if megabytes >= 1000 else f"{megabytes:.0f} MB"
    assert known.title == f"{known.title.split(' · ')[0]} · {stated}"


@each
def test_titles_and_notes_help_to_choose(known: Entry) -> None:
    assert len(known.title) <= 60
    assert re.fullmatch(r"[A-Z0-9].{20,}\.", known.note)


@pytest.mark.slow
def test_the_catalogue_needs_no_torch() -> None:
    code = (
        "import sys, bartviz.families.catalogue, bartviz.analysis.parameters\n"
        "print({'torch', 'transformers'} & {*sys.modules})"
    )
    assert printed(code).strip() == "set()"
