"""The drawing of layers: a bar per layer and part, as long as it has parameters, and a block for what is no layer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
import pytest

from bartviz import figures
from bartviz.analysis import parameter_totals
from bartviz.errors import ModelError, SettingError
from bartviz.features.models.figure import APART, BAR, HOLLOW, NEXT, hollow, legend, models
from bartviz.features.models.numbers_model_table import subject

ENCODER, DECODER = 7_087_872, 9_451_776  # parameters of a layer of BART base


def bars(figure: go.Figure) -> list[Any]:
    """The traces of the layers, without the blocks below them."""
    return [trace for trace in figure.data if trace.y[0] >= 0]


def blocks(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.y[0] < 0]


def labels(figure: go.Figure) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_a_bar_for_each_part_of_each_layer() -> None:
    drawn = bars(models([subject("facebook/bart-base"), subject("gpt2")]))
    assert len(drawn) == 2 + 3 + 2
    encoder, decoder = drawn[:2], drawn[2:5]
    assert [len(trace.y) for trace in encoder] == [6, 6]
    assert sum(trace.x[0] for trace in encoder) == ENCODER
    assert sum(trace.x[5] for trace in decoder) == DECODER
    # self-attention: 4 projections of 768 x 768 with biases, and a layer norm
    assert "2,363,904 parameters" in decoder[0].customdata[0]


def test_equal_areas_stand_for_equally_many_parameters() -> None:
    subjects = [subject(name) for name in ("gpt2", "facebook/bart-base", "google/t5-v1_1-base")]
    drawn = models(subjects)
    rooms = [axis.domain[1] - axis.domain[0] for axis in drawn.select_xaxes()]
    spans = [axis.range[1] - axis.range[0] for axis in drawn.select_xaxes()]
    assert [room / rooms[0] for room in rooms] == pytest.approx([span / spans[0] for span in spans])
    areas = dict.fromkeys(("x", "x2", "x3"), 0.0)
    for trace in drawn.data:
        areas[trace.xaxis] += sum(trace.x) * trace.width / BAR
    totals = [parameter_totals.total(one.rows) for one in subjects]
    assert list(areas.values()) == pytest.approx(totals, rel=1e-3)


FOUR = ("bert-base-uncased", "bert-large-uncased", "facebook/bart-base", "google/pegasus-xsum")


def test_two_and_two_models_have_one_scale_in_both_directions() -> None:
    figure = models(FOUR, beside=2)
    assert [axis.anchor for axis in figure.select_xaxes()] == ["y", "y", "y2", "y2"]
    assert {(trace.xaxis, trace.yaxis) for trace in figure.data} == {
        ("x", "y"),
        ("x2", "y"),
        ("x3", "y2"),
        ("x4", "y2"),
    }
    for axes in (list(figure.select_xaxes()), list(figure.select_yaxes())):
        scales = [(axis.domain[1] - axis.domain[0]) / (axis.range[1] - axis.range[0]) for axis in axes]
        assert scales == pytest.approx([scales[0]] * len(axes))
    assert figure.layout.xaxis.domain[0] == figure.layout.xaxis3.domain[0] == 0
    assert figure.layout.xaxis2.domain[1] == figure.layout.xaxis4.domain[1] == pytest.approx(1)


def test_rows_of_models_keep_room_for_what_is_written_between_them() -> None:
    figure = models(FOUR, beside=2)
    margin, above, below = figure.layout.margin, figure.layout.yaxis.domain, figure.layout.yaxis2.domain
    inner = figure.layout.height - margin.t - margin.b
    assert (above[1], below[0]) == (1, pytest.approx(0))
    assert (above[0] - below[1]) * inner == pytest.approx(margin.t + margin.b + NEXT, abs=1)
    titles = [note for note in figure.layout.annotations if note.text.startswith("<b>")]
    assert [(note.y, note.yref) for note in titles] == [(23 + BAR / 2, "y")] * 2 + [(15 + BAR / 2, "y2")] * 2
    assert {note.yref for note in figure.layout.annotations if note.xref == "x4"} == {"y2"}


def test_as_many_models_as_there_are_beside_each_other_make_one_row() -> None:
    assert models(FOUR, beside=4) == models(FOUR)


def test_an_output_layer_of_its_own_is_a_part_of_the_block_and_a_pooler_is_not() -> None:
    names = {
        name: [trace.customdata[0].split(":")[0] for trace in blocks(models(name))]
        for name in ("google/t5-v1_1-base", "t5-base", "bert-base-uncased")
    }
    assert names == {
        "google/t5-v1_1-base": ["embeddings", "output layer"],
        "t5-base": ["embeddings"],
        "bert-base-uncased": ["embeddings"],
    }
    assert labels(models("google/t5-v1_1-base"))[-1] == "embeddings<br>24.7 M<br>output layer<br>24.7 M"


def test_the_sizes_of_layers_and_embeddings_are_written() -> None:
    assert labels(models("facebook/bart-base"))[1:] == [
        "encoder<br>6 × 7.09 M",
        "decoder<br>6 × 9.45 M",
        "embeddings<br>40.2 M",
    ]
    assert "encoder only<br>4 × 0.44 M" in labels(models("bert-tiny-en"))


def test_layers_that_share_parameters_are_hollow_but_for_the_first() -> None:
    drawn = models([subject("albert-base-v2")])
    assert all(len(trace.y) == 12 for trace in bars(drawn))
    assert all(sum(trace.x[layer] for trace in bars(drawn)) == ENCODER for layer in range(12))
    assert all([color == HOLLOW for color in trace.marker.color] == [False] + [True] * 11 for trace in bars(drawn))
    assert "encoder only<br>12 share 7.09 M" in labels(drawn)
    assert hollow([subject("gpt2"), subject("albert-base-v2")])
    assert not hollow([subject("gpt2"), subject("t5-base")])


def test_unequal_depths_stand_on_one_ground() -> None:
    drawn = models([subject("sshleifer/distilbart-cnn-12-6")], dark=True)
    assert {len(trace.y) for trace in bars(drawn)} == {12, 6}
    assert min(min(trace.y) for trace in bars(drawn)) == 0


def test_a_model_can_be_given_by_its_name() -> None:
    assert models(["facebook/bart-base", "gpt2"]) == models([subject("facebook/bart-base"), subject("gpt2")])
    with pytest.raises(ModelError):
        models(["no-such-model"])


@pytest.mark.parametrize("dark", [False, True])
def test_the_legend_has_the_colours_of_the_bars(dark: bool) -> None:
    subjects = [subject("facebook/bart-base")]
    drawn = {color for trace in bars(models(subjects, dark=dark)) for color in trace.marker.color}
    assert {color for colors in legend(subjects, dark=dark).values() for color in colors} == drawn


def test_one_model_may_be_named_and_none_is_refused() -> None:
    assert figures.models("gpt2") == figures.models(["gpt2"])
    with pytest.raises(SettingError, match="at least one model"):
        figures.models([])


def test_a_title_is_over_the_middle_of_its_bars() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "gpt2"])
    titles = [note for note in figure.layout.annotations if note.text.startswith("<b>")]
    away = DECODER * APART / 2 + ENCODER / 2
    assert [(note.x, note.xref) for note in titles] == [(-away, "x"), (0, "x2"), (away, "x3")]
    middles = [trace.base[0] + trace.x[0] / 2 for trace in blocks(figure)]
    assert middles == pytest.approx([-away, 0, away])


def test_the_parts_of_a_layer_come_in_one_order_in_every_bar() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "gpt2"])
    orders: list[list[str]] = []
    for axis in ("x", "x2", "x3"):
        found = sorted((bar for bar in bars(figure) if bar.xaxis == axis), key=lambda bar: bar.base[0])
        orders.append([bar.customdata[0].split(", ")[1].split(":")[0] for bar in found])
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
    gap = DECODER * APART / 2
    ends = [
        (min(base, base + x), max(base, base + x))
        for bar in bars(figure)
        for base, x in zip(bar.base, bar.x, strict=True)
    ]
    assert max(end for _, end in ends if end < 0) == pytest.approx(-gap)
    assert min(start for start, _ in ends if start > 0) == gap
    encoder, decoder = (note for note in figure.layout.annotations if note.text.startswith(("encoder", "decoder")))
    assert (encoder.x, encoder.xanchor) == (-gap, "right")
    assert (decoder.x, decoder.xanchor) == (gap, "left")


def test_a_title_stands_on_its_own_model_and_says_what_it_is() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "gpt2"])
    titles = [note for note in figure.layout.annotations if note.text.startswith("<b>")]
    assert [note.y for note in titles] == [11 + BAR / 2] * 3  # in one line, above the deepest model
    assert [note.text.split("</b>")[0] for note in titles] == ["<b>BERT", "<b>BART", "<b>GPT-2"]
    assert "bert-base-uncased" in titles[0].text
    sides = [note.text.split("<br>")[0] for note in figure.layout.annotations if "coder" in note.text]
    assert sides == ["encoder only", "encoder", "decoder", "decoder only"]


def test_a_model_of_one_side_takes_the_room_of_one_and_all_have_one_scale() -> None:
    figure = models(["bert-base-uncased", "facebook/bart-base", "google/pegasus-xsum"])
    layout = figure.layout
    axes = (layout.xaxis, layout.xaxis2, layout.xaxis3)
    spans = [axis.range[1] - axis.range[0] for axis in axes]
    longest = max(bar.base[0] + bar.x[0] for bar in bars(figure)) / (1 + APART / 2)  # a decoder layer of Pegasus
    assert spans[1] == spans[2] == pytest.approx(longest * (2 * 1.08 + APART))
    assert spans[0] == pytest.approx(longest * 1.16)
    assert sum(axes[0].range) / 2 == pytest.approx(
        -longest * APART / 2 - ENCODER / 2
    )  # BERT is in the middle of its own
    assert layout.xaxis3.domain[1] == pytest.approx(1)
