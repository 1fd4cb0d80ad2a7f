"""The drawing of layers: a bar per layer and part, as long as its share of the width."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bartviz import figures
from bartviz.errors import ModelError, SettingError
from bartviz.features.models.figure import APART, legend, models
from bartviz.features.models.numbers_model_table import subject


def test_a_bar_for_each_part_of_each_layer() -> None:
    drawn = models([subject("facebook/bart-base"), subject("gpt2")])
    assert len(drawn.data) == 2 + 3 + 2
    encoder = list(drawn.data[:2])
    assert [len(trace.y) for trace in encoder] == [6, 6]
    assert sum(trace.x[0] for trace in encoder) == pytest.approx(-768)
    decoder = list(drawn.data[2:5])
    assert sum(trace.x[5] for trace in decoder) == pytest.approx(768)
    # self-attention: 4 projections of 768 x 768 with biases, and a layer norm
    assert "2,363,904 parameters" in decoder[0].customdata[0]


def test_shared_layers_are_drawn_each() -> None:
    drawn = models([subject("albert-base-v2")])
    assert all(len(trace.y) == 12 for trace in drawn.data)
    assert all(abs(sum(trace.x[layer] for trace in drawn.data)) == pytest.approx(768) for layer in range(12))


def test_unequal_depths_stand_on_one_ground() -> None:
    drawn = models([subject("sshleifer/distilbart-cnn-12-6")], dark=True)
    assert {len(trace.y) for trace in drawn.data} == {12, 6}
    assert min(min(trace.y) for trace in drawn.data) == 0


def test_a_model_can_be_given_by_its_name() -> None:
    assert models(["facebook/bart-base", "gpt2"]) == models([subject("facebook/bart-base"), subject("gpt2")])
    with pytest.raises(ModelError):
        models(["no-such-model"])


@pytest.mark.parametrize("dark", [False, True])
def test_the_legend_has_the_colours_of_the_bars(dark: bool) -> None:
    subjects = [subject("facebook/bart-base")]
    bars = {trace.marker.color for trace in models(subjects, dark=dark).data}
    assert {color for colors in legend(subjects, dark=dark).values() for color in colors} == bars


def test_one_model_may_be_named_and_none_is_refused() -> None:
    assert figures.models("gpt2") == figures.models(["gpt2"])
    with pytest.raises(SettingError, match="at least one model"):
        figures.models([])


def test_a_title_is_over_the_middle_of_its_bars_and_layers_are_numbered_at_regular_steps() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "gpt2"])
    titles = [note for note in figure.layout.annotations if note.text.startswith("<b>")]
    gap = 768 * APART / 2
    assert [(note.x, note.xref) for note in titles] == [(-gap - 384, "x"), (0, "x2"), (gap + 384, "x3")]
    ticks = figure.layout.yaxis.tickvals
    assert ticks[0] == 0
    assert len({after - before for before, after in pairwise(ticks)}) == 1
    assert 11 - ticks[-1] < ticks[1]  # no room for another one


def test_encoder_and_decoder_stand_apart_with_their_names() -> None:
    figure = models(["facebook/bart-base"])
    gap = 768 * APART / 2
    ends = [
        (min(base, base + x), max(base, base + x))
        for bar in figure.data
        for base, x in zip(bar.base, bar.x, strict=True)
    ]
    assert max(end for _, end in ends if end < 0) == -gap
    assert min(start for start, _ in ends if start > 0) == gap
    encoder, decoder = (note for note in figure.layout.annotations if note.text in ("encoder", "decoder"))
    assert (encoder.x, encoder.xanchor, decoder.x, decoder.xanchor) == (-gap - 384, "center", gap + 384, "center")


def test_a_title_stands_on_its_own_model_and_says_what_it_is() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "gpt2"])
    titles = [note for note in figure.layout.annotations if note.text.startswith("<b>")]
    assert [note.y for note in titles] == [11.6, 5.6, 11.6]  # the upper edge of the last of 12, 6 and 12 layers
    assert [note.text.split("</b>")[0] for note in titles] == ["<b>BERT", "<b>BART", "<b>GPT-2"]
    assert "bert-base-uncased" in titles[0].text
    sides = [note.text for note in figure.layout.annotations if note not in titles]
    assert sides == ["encoder only", "encoder", "decoder", "decoder only"]


def test_a_model_of_one_side_takes_the_room_of_one_and_all_have_one_scale() -> None:
    layout = models(["bert-base-uncased", "facebook/bart-base", "google/pegasus-xsum"]).layout
    axes = (layout.xaxis, layout.xaxis2, layout.xaxis3)
    spans = [axis.range[1] - axis.range[0] for axis in axes]
    rooms = [axis.domain[1] - axis.domain[0] for axis in axes]
    assert spans[1] == spans[2] == pytest.approx(1024 * (2 * 1.08 + APART))
    assert spans[0] == pytest.approx(1024 * 1.16)
    assert sum(axes[0].range) / 2 == pytest.approx(-1024 * APART / 2 - 384)  # BERT is in the middle of its own
    assert [room / rooms[0] for room in rooms] == pytest.approx([span / spans[0] for span in spans])
    assert layout.xaxis3.domain[1] == pytest.approx(1)
