"""The two lines of an output before and after a change."""

from __future__ import annotations

import re

import pytest
import streamlit as st

from bartviz.features.experiments import parts_lines
from bartviz.features.experiments.numbers_output_diff import Stretch


def test_words_that_stay_keep_their_colours_in_both_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(st, "html", drawn.append)
    stretches = [Stretch(True, slice(0, 1), slice(0, 1)), Stretch(False, slice(1, 2), slice(1, 2))]
    parts_lines.lines(["Ich", "kaufe"], ["Ich", "sehe"], stretches, kind="cross", key="written", colors=(0, 7))
    found = dict.fromkeys(re.findall(r"style='([^']*)'>(Ich|kaufe|sehe)<", drawn[0]))
    assert [(style.partition(";")[0], label) for style, label in found] == [
        ("--word:var(--bv-word0)", "Ich"),
        ("--word:var(--bv-word1)", "kaufe"),
        ("font-weight:700", "sehe"),
    ]
    assert drawn[0].count("--bv-word0") == 2
    parts_lines.lines(["Ich"], ["Ich"], stretches[:1], kind="cross", key="written")
    assert "--word" not in drawn[1]
