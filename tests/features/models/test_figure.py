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
    assert sum(trace.x[0] for trace in encoder) == pytest.approx(768)
    decoder = list(drawn.data[2:5])
    assert sum(trace.x[5] for trace in decoder) == pytest.approx(768)
    # self-attention: 4 projections of 768 x 768 with biases, and a layer norm
    assert "2,363,904 parameters" in decoder[0].customdata[0]


def test_shared_layers_are_drawn_each() -> None:
    drawn = models([subject("albert-base-v2")])
    assert all(len(trace.y) == 12 for trace in drawn.data)
    assert all(sum(trace.x[layer] for trace in drawn.data) == pytest.approx(768) for layer in range(12))


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


def test_a_title_is_over_the_middle_of_its_bars() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "gpt2"])
    titles = [note for note in figure.layout.annotations if note.text.startswith("<b>")]
    gap = 768 * APART / 2
    assert [(note.x, note.xref) for note in titles] == [(-gap - 384, "x"), (0, "x2"), (gap + 384, "x3")]


def test_the_parts_of_a_layer_come_in_one_order_in_every_bar() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "gpt2"])
    orders: list[list[str]] = []
    for axis in ("x", "x2", "x3"):
        bars = sorted((bar for bar in figure.data if bar.xaxis == axis), key=lambda bar: bar.base[0])
        orders.append([bar.customdata[0].split(", ")[1].split(":")[0] for bar in bars])
    reads, writes = ["self-attention", "feed-forward"], ["self-attention", "cross-attention", "feed-forward"]
    assert orders == [reads, reads + writes, reads]


@pytest.mark.parametrize(("name", "layers"), [("bert-base-uncased", 12), ("facebook/bart-base", 6)])
def test_each_of_a_few_layers_has_its_number(name: str, layers: int) -> None:
    assert [*models(name).layout.yaxis.tickvals] == [*range(layers)]


def test_of_many_layers_the_first_and_the_last_have_a_number_and_none_is_crowded() -> None:
    ticks = models(["bert-large-uncased"]).layout.yaxis.tickvals
    assert (ticks[0], ticks[-1]) == (0, 23)
    assert all(after - before >= 2 for before, after in pairwise(ticks))


def test_encoder_and_decoder_stand_apart_with_their_names() -> None:
    figure = models(["facebook/bart-base"])
    gap = 768 * APART / 2
    ends = [
        (min(base, base + x), max(base, base + x))
        for bar in figure.data
        for base, x in zip(bar.base, bar.x, strict=True)
    ]
    assert max(end for _, end in ends if end < 0) == pytest.approx(-gap)
    assert min(start for start, _ in ends if start > 0) == gap
    encoder, decoder = (note for note in figure.layout.annotations if note.text in ("encoder", "decoder"))
    assert (encoder.x, encoder.xanchor, decoder.x, decoder.xanchor) == (-gap - 384, "center", gap + 384, "center")


def test_a_title_stands_on_its_own_model_and_says_what_it_is() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "gpt2"])
    titles = [note for note in figure.layout.annotations if note.text.startswith("<b>")]
    assert [note.y for note in titles] == [11.6] * 3  # in one line, above the deepest model
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
