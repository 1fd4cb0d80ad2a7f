"""The figure of a decoding: numbers, labels and title."""

from typing import Any

import numpy as np
import pytest

from bartviz.analysis import decoding as analysis
from bartviz.errors import SettingError
from bartviz.features.decoding.figure import decoding
from bartviz.record.record import Reading, Record
from tests.support import records


def traces(record: Record, kind: str, **options: Any) -> list[Any]:
    return [trace for trace in decoding(record, **options).data if trace.type == kind]


def test_the_map_is_the_alignment(record: Record) -> None:
    cells = traces(record, "heatmap", layer=1, head=2)[-1]
    np.testing.assert_allclose(cells.z, analysis.alignment(record, layer=1, head=2))


def test_the_curves_are_log_probability_its_sum_and_entropy(record: Record) -> None:
    table = analysis.steps_table(record)
    own, entropy = traces(record, "bar")
    np.testing.assert_array_equal(own.y, table["log_probability"])
    np.testing.assert_array_equal(entropy.y, table["entropy_bits"])
    total = next(t for t in traces(record, "scatter") if t.name == "sum of log p")
    np.testing.assert_array_equal(total.y, table["running_log_probability"])


@pytest.mark.parametrize("reading", ["reads", "predicts"])
def test_rows_are_named_by_what_they_read_or_predict_and_say_so(record: Record, reading: Reading) -> None:
    axis = decoding(record, reading=reading).layout.yaxis2
    first = {"reads": "&lt;/s&gt;", "predicts": "&lt;s&gt;"}[reading]
    assert first in axis.ticktext[0]
    assert f"row {reading}" in axis.title.text


def test_a_step_shows_the_rows_so_far(record: Record) -> None:
    assert np.shape(traces(record, "heatmap", step=2)[-1].z)[0] == 3
    assert len(traces(record, "bar", step=2)[0].y) == 3


def test_a_step_that_is_not_there_is_refused(record: Record) -> None:
    with pytest.raises(SettingError, match="choose 0 to 8"):
        decoding(record, step=9)


def test_the_title_says_which_mean_it_is(record: Record) -> None:
    assert "cross layer 1, mean of 4 heads" in [note.text for note in decoding(record, layer=1).layout.annotations][-1]


def test_tokens_stay_text() -> None:
    made = decoding(records.encoder_decoder(("<b>x</b>", " %{z}", " 1999"), ("<i>", " %{z}", " 1999")))
    shown = made.to_json()
    assert "<b>x" not in shown
    assert "<i>" not in shown
    assert list(made.layout.xaxis3.tickvals) == [0, 1, 2]


@pytest.mark.parametrize("dark", [False, True])
def test_one_step_and_a_decoder_alone_are_drawn(dark: bool) -> None:
    from tests.analysis.test_decoding import decoded

    assert np.shape(traces(decoded(prompt=8), "heatmap", dark=dark)[-1].z) == (1, 8)
