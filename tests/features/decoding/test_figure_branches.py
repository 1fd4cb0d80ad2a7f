"""The figure of two outputs: probabilities, pale common steps, and where they diverge."""

from __future__ import annotations

import pytest

from bartviz.errors import RecordError
from bartviz.features.decoding.figure_branches import FITTING, PALE, branches
from tests.analysis.test_branches import MAIN, output
from tests.support import stand_in


def test_both_texts_are_bars_of_probability() -> None:
    other = output("Ich", " möchte", " kaufen", " ein", " Auto", ".", "</s>", p=0.25)
    figure = branches(MAIN, other)
    assert list(figure.data[0].y) == [0.5] * 6
    assert list(figure.data[1].y) == [0.25] * 7
    assert list(figure.data[1].marker.opacity) == [PALE, 1, 1, PALE, PALE, PALE, PALE]
    assert figure.layout.shapes[0].x0 == 1.5
    assert "The two texts diverge at step 2" in figure.layout.title.text
    assert list(figure.layout.xaxis2.ticktext)[1] == "möchte"


def test_the_same_text_is_pale_and_has_no_parting() -> None:
    figure = branches(MAIN, MAIN)
    assert set(figure.data[0].marker.opacity) == {PALE}
    assert not figure.layout.shapes


def test_a_long_text_begins_before_the_divergence() -> None:
    words = [f" w{i}" for i in range(60)]
    figure = branches(output(*words), output(*words[:40], " Auto", *words[41:]))
    low, high = figure.layout.xaxis.range
    assert low < 41 < high
    assert high - low == pytest.approx(FITTING + 0.2)


def test_tokens_stay_text_and_sources_must_be_the_same() -> None:
    shown = branches(output("<b>%{x}"), output("<i>")).to_json()
    assert "<b>%{x}" not in shown
    with pytest.raises(RecordError):
        branches(MAIN, stand_in.record(source=("<s>", "Hi", "</s>")))
