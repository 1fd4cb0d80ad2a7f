"""Prose in files: every section is translated, from the current English text."""

from __future__ import annotations

import pytest

from bartviz.language import LANGUAGES
from bartviz.teaching.prose import Section, digest
from scripts.prose import faults, written

OTHERS = [code for code in LANGUAGES if code != "en"]


@pytest.mark.parametrize("code", OTHERS)
def test_every_section_is_translated_and_up_to_date(code: str) -> None:
    assert not faults(written("en"), written(code))


def test_what_is_missing_what_is_older_or_cut_otherwise_and_what_translates_nothing_is_reported() -> None:
    english = {("heads", name): Section(f"The {name}.") for name in ("same", "new", "changed", "cut", "terms")}
    other = {
        ("heads", "same"): Section("a", digest("The\nsame.")),
        ("heads", "changed"): Section("b", digest("The old one.")),
        ("heads", "cut"): Section("c\n\nd", digest("The cut.")),
        ("heads", "gone"): Section("c", digest("Gone.")),
    }
    assert [fault.split(";")[0].split(":")[1] for fault in faults(english, other)] == [
        " new is missing",
        " changed is older than its English",
        " cut has other paragraphs than its English",
        " gone translates nothing",
    ]
    assert digest("The changed.") in faults(english, other)[1]
