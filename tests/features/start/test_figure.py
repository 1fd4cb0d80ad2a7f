"""The ribbons as a figure: each weight is one path between its two words, as wide as it is large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.analysis import start
from bartviz.drawing import theme
from bartviz.errors import SettingError
from bartviz.features.start.figure import ribbons
from bartviz.record.attention import Head
from bartviz.record.record import Record
from tests.support import records, stand_in


def paths(figure: Any) -> list[tuple[float, float, str, float]]:
    """(x of the word that looks, x of the one looked at, what the pointer says, width) of every ribbon."""
    found = []
    for trace in figure.data:
        if trace.mode == "lines":
            ends = np.flatnonzero(np.isnan(trace.x))
            for begin, end in zip(ends[:-1] + 1, ends[1:], strict=True):
                found.append((trace.x[begin], trace.x[end - 1], trace.text[begin], trace.line.width))
    return found


def test_every_weight_that_is_drawn_is_one_path_from_its_row_to_its_column(record: Record) -> None:
    found, drawn = start.ribbons(record), paths(bartviz.figures.ribbons(record))
    assert len(drawn) == len(found.edges()) > 10
    wide = max(len(found.above), len(found.below))
    told = {text: (x, y, width) for x, y, text, width in drawn}
    t, s, _weight = max(found.edges(), key=lambda edge: edge[2])
    pair = theme.escape(found.below[t].text), theme.escape(found.above[s].text)
    x, y, width = told[f"{pair[0]} looks at {pair[1]}: {found.weights[t, s]:.3f}"]
    assert x == pytest.approx((t + 0.5) * wide / len(found.below))
    assert y == pytest.approx((s + 0.5) * wide / len(found.above))
    assert width == max(width for *_rest, width in drawn)


def test_words_are_labels_and_stay_text() -> None:
    figure = ribbons(stand_in.record(("<s>", "<b>1999</b>", " 1999", "</s>")))
    assert ">&lt;b&gt;1999&lt;/b&gt;</span>" in figure.layout.xaxis2.ticktext[1]
    assert "&lt;s&gt;" in figure.layout.xaxis2.ticktext[0]
    below = len(figure.layout.xaxis.ticktext)
    assert figure.layout.xaxis2.tickvals.tolist() == [below * place / 8 for place in (1, 3, 5, 7)]


def test_a_head_can_be_named_and_other_kinds_of_records_are_drawn(record: Record) -> None:
    figure = ribbons(record, head=Head("encoder", 1, 2))
    assert figure.layout.xaxis.ticktext == figure.layout.xaxis2.ticktext
    assert paths(ribbons(records.encoder_only()))
    assert paths(ribbons(records.decoder_only(), dark=True))
    with pytest.raises(SettingError, match="choose"):
        ribbons(record, head=Head("cross", 9, 0))
