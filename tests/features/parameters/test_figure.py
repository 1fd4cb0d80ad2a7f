"""The map of a model and the articles' bars: their numbers, not their pixels."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

import bartviz
from bartviz.analysis import article_models
from bartviz.analysis.parameters import configuration, from_table, rows, total
from bartviz.errors import SettingError
from bartviz.families.catalogue import CATALOGUE
from bartviz.features.parameters import figure
from bartviz.features.parameters.figure import hatched, legend, parameters, short, sizes, strips, treemap
from tests.support.contrast import contrast

NAMES = [known.name for known in CATALOGUE]


def areas(name: str, architecture: str | None = None, **options: Any) -> dict[str, dict[str, Any]]:
    """The areas of a model's map by their id."""
    trace = parameters(rows(configuration(name), architecture), title=name, **options).data[0]
    keys = ("parents", "labels", "text", "values")
    found = {
        id_: {key: trace[key][index] for key in keys}
        | {"hatch": trace.marker.pattern.shape[index]}
        | dict(zip(("hover", "count"), trace.customdata[index], strict=True))
        for index, id_ in enumerate(trace.ids)
    }
    assert len(found) == len(trace.ids)  # plotly drops areas whose ids repeat
    return found


def fields(figure: go.Figure, *, growth: float = 1.0) -> dict[str, tuple[float, int]]:
    """The fields of a map as plotly lays them out, by their id: their area as a share of the picture's, and their
    count. ``growth``: how much more its headings have been enlarged than its height."""
    trace, layout = figure.data[0], figure.layout
    plot = layout.height - layout.margin.t - layout.margin.b
    counts = {id_: count for id_, (_hover, count) in zip(trace.ids, trace.customdata, strict=True)}
    values = dict(zip(trace.ids, trace["values"], strict=True))
    parts: dict[str, list[str]] = {}
    for id_, parent in zip(trace.ids, trace.parents, strict=True):
        parts.setdefault(parent, []).append(id_)
    found: dict[str, tuple[float, int]] = {}

    def put(id_: str, wide: float, high: float, depth: int, below: bool) -> None:
        inside = parts.get(id_, [])
        if not inside or depth == trace.maxdepth:
            found[id_] = wide * high / plot, counts[id_]
            return
        high = max(high - trace.marker.pad.t * growth, 0)
        for part in inside:
            share = values[part] / sum(values[other] for other in inside)
            put(part, wide * (1 if below else share), high * (share if below else 1), depth + 1, not below)

    (left, right), (bottom, top) = trace.domain.x, trace.domain.y
    put(trace.level, right - left, (top - bottom) * plot, 1, trace.tiling.packing == "dice-slice")
    return found


@pytest.mark.some(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_area_of_every_field_is_its_count(name: str) -> None:
    found = rows(configuration(name))
    ids = areas(name)
    layer = next(id_ for id_ in ids if "/layer " in id_)
    for opened in (None, layer.split("/")[0], layer):
        for growth in (1.0, 7 / 6):
            drawn = fields(treemap(found, name, opened=opened, height=400, growth=growth), growth=growth)
            shares = {id_: area / count for id_, (area, count) in drawn.items()}
            assert max(shares.values()) == pytest.approx(min(shares.values()), rel=0.01), (opened, growth)
            whole = ids[opened or "model"]["count"]
            assert sum(count for _area, count in drawn.values()) == whole
            assert sum(area for area, _count in drawn.values()) > 0.4  # headings have the others


def test_a_map_with_no_room_for_all_headings_opens_fewer_levels() -> None:
    found = rows(configuration("facebook/bart-base"))
    assert treemap(found, "", height=430).data[0].maxdepth == 4
    low = treemap(found, "", height=150)
    assert low.data[0].maxdepth == 2
    assert set(fields(low)) == {"shared", "encoder", "decoder"}
    assert treemap(found, "", height=30).data[0].maxdepth == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_areas_add_up_to_their_parents_and_the_model(name: str) -> None:
    found = areas(name)
    assert found["model"]["count"] == total(name)
    for key in ("count", "values"):  # plotly draws nothing where the values do not add up
        sums: dict[str, int] = {}
        for area in found.values():
            sums[area["parents"]] = sums.get(area["parents"], 0) + area[key]
        for parent, below in sums.items():
            assert parent == "" or found[parent][key] == below


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_counted_matrix_is_drawn_once(name: str) -> None:
    found = areas(name)
    counted = [row for row in rows(configuration(name)) if row.count]
    assert all(found[row.name]["count"] == row.count for row in counted)
    assert {row.name for row in rows(configuration(name)) if not row.count} & set(found) <= {r.name for r in counted}


def test_a_shared_matrix_is_hatched_and_says_where_it_is_used() -> None:
    found = areas("facebook/bart-base")
    hatched = {id_ for id_, area in found.items() if area["hatch"]}
    assert hatched == {"model.shared.weight"}
    matrix = found["model.shared.weight"]
    assert matrix["parents"] == "shared"
    assert "used as encoder input, decoder input, output layer" in matrix["hover"]
    assert "50,265 × 768" in matrix["hover"]
    assert found["encoder"]["labels"] == "Encoder · 43.3 M"
    assert "head" not in found  # nothing of its own


def test_an_open_area_fills_the_map_and_a_matrix_is_framed_among_its_neighbours() -> None:
    name = "model.decoder.layers.3.encoder_attn.k_proj.weight"
    area = parameters("facebook/bart-base", opened="decoder/layer 3").data[0]
    assert area.level == "decoder/layer 3"
    assert len(set(area.marker.line.color)) == 1
    matrix = parameters("facebook/bart-base", opened=name).data[0]
    assert matrix.level == "decoder/layer 3/cross-attention"
    texts = dict(zip(matrix.ids, matrix.text, strict=True))
    assert texts[name] == "key weight<br>768 × 768<br>590 k"
    frames = dict(zip(matrix.ids, matrix.marker.line.color, strict=True))
    assert [id_ for id_, color in frames.items() if color != frames["model"]] == [name]
    with pytest.raises(SettingError, match="no area of that name"):
        parameters("facebook/bart-base", opened="decoder/layer 6")


def test_in_large_type_a_low_field_has_its_number_in_one_line() -> None:
    def text(name: str, growth: float) -> str:
        drawn = treemap(rows(configuration(name)), "", height=400, growth=growth).data[0]
        return dict(zip(drawn.ids, drawn.text, strict=True))["decoder/layer 3/feed-forward"]  # type: ignore[no-any-return]

    assert text("bart-tiny-en-de", 7 / 6) == "feed-forward · 263 k"  # 2 x 256 x 512, with biases and a layer norm
    assert text("bart-tiny-en-de", 1.0) == "feed-forward"  # it may be for a phone
    assert "·" not in text("facebook/bart-base", 7 / 6)  # six columns are too narrow


def test_the_public_table_draws_the_same_map() -> None:
    table = bartviz.parameters("facebook/bart-base")
    assert bartviz.figures.parameters(table) == parameters(rows(configuration("facebook/bart-base")))
    assert from_table(table) == rows(configuration("facebook/bart-base"))


@pytest.mark.slow
def test_layers_and_sublayers_in_reading_order() -> None:
    found = areas("facebook/bart-base")
    assert [id_ for id_, area in found.items() if area["parents"] == "decoder"] == [
        "decoder/embeddings",
        *(f"decoder/layer {layer}" for layer in range(6)),
    ]
    below = [area["labels"] for id_, area in found.items() if area["parents"] == "decoder/layer 3"]
    assert below == ["self-attention", "cross-attention", "feed-forward"]
    drawn = [area["text"] for area in found.values() if area["parents"] == "decoder/layer 3"]
    assert drawn[::2] == ["self-attention", "feed-forward<br>4.7 M"]  # the number where it has room
    assert "cross-attention" in drawn[1]
    longer = areas("facebook/bart-large")
    assert [longer[f"decoder/layer 3/{part}"]["text"] for part in below] == ["self", "cross", "ff"]
    assert areas("bert-base-uncased")["encoder/layer 11"]["text"] == "L11"
    layers = [area for id_, area in areas("albert-base-v2").items() if id_.startswith("encoder/layer")]
    assert layers[0]["text"] == "One set of weights for 12 layers"


def test_a_matrix_says_how_many_parameters_it_has_and_the_path_has_short_names() -> None:
    found = areas("facebook/bart-base")
    matrix = found["model.decoder.layers.3.encoder_attn.k_proj.weight"]
    assert matrix["text"] == "key weight<br>590 k"  # 768 x 768
    path = ["model", "decoder", "decoder/layer 3", "decoder/layer 3/cross-attention"]
    assert [found[id_]["labels"] for id_ in path] == [
        "facebook/bart-base",
        "Decoder · 57.5 M",  # 6 layers of 9,451,776, positions of 1,026 x 768, and a layer norm
        "Layer 3",
        "cross-attention",
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_the_legend_has_the_colours_of_the_map_and_counts_every_layer(dark: bool) -> None:
    found = rows(configuration("facebook/bart-base"))
    drawn = parameters(found, dark=dark).data[0]
    colors = dict(zip(drawn.ids, drawn.marker.colors, strict=True))
    entries = legend(found, dark=dark)
    attention = 4 * (768 * 768 + 768) + 2 * 768  # four matrices with biases, and a layer norm
    forward = 768 * 3072 + 3072 + 3072 * 768 + 768 + 2 * 768
    assert {part: count for part, (_colors, count) in entries.items()} == {
        "self-attention": 12 * attention,
        "cross-attention": 6 * attention,
        "feed-forward": 12 * forward,
    }
    for part, count in (("self-attention", 2), ("cross-attention", 1), ("feed-forward", 2)):
        places = [f"{side}/layer 0/{part}" for side in ("encoder", "decoder")][-count:]
        assert list(entries[part][0]) == [colors[place] for place in places]


@pytest.mark.parametrize("dark", [False, True])
def test_what_has_no_room_for_a_name_is_counted_with_the_colours_that_it_has(dark: bool) -> None:
    found = rows(configuration("facebook/bart-base"))
    drawn = parameters(found, dark=dark).data[0]
    colors = dict(zip(drawn.ids, drawn.marker.colors, strict=True))
    shown, count = strips(found, dark=dark)
    assert count == 2 * (1026 * 768 + 2 * 768)  # positions and a norm on each side
    assert list(shown) == [colors["encoder/embeddings"], colors["decoder/embeddings"]]
    assert strips(rows(configuration("bert-base-uncased")))[1] < 2_000_000  # its token embedding has a name


def test_the_title_is_escaped_and_very_deep_models_end_at_sublayers() -> None:
    config = {"model_type": "bert", "num_hidden_layers": 100}
    trace = parameters(rows(config), title="<b>%{x}").data[0]
    assert trace.labels[0] == "&lt;b&gt;&#37;{x}"
    assert not any("layer.99." in id_ for id_ in trace.ids)
    assert "encoder/layer 99/feed-forward" in trace.ids


def test_both_themes_have_legible_letters() -> None:
    for dark in (False, True):
        trace = parameters(rows(configuration("facebook/bart-base")), dark=dark).data[0]
        for color, ink in zip(trace.marker.colors, trace.textfont.color, strict=True):
            assert contrast(color, ink) >= 3.5


@pytest.mark.parametrize(
    ("count", "said"),
    [(768, "768"), (9_999, "9,999"), (22_650, "23 k"), (999_499, "999 k"), (999_500, "1.0 M"), (38_603_520, "38.6 M")],
)
def test_short_counts(count: int, said: str) -> None:
    assert short(count) == said


def test_bars_stack_to_the_models() -> None:
    table = article_models.models()
    figure = sizes(table)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert [bar.name for bar in bars] == ["embeddings", "encoder layers", "decoder layers", "output layer"]
    for index, size in enumerate(table["parameters"]):
        assert sum(bar.x[index] for bar in bars) * 1e6 == pytest.approx(size)
    (claimed,) = (trace for trace in figure.data if trace.type == "scatter")
    assert list(claimed.x) == [110, 340, 124, 355, 140, 400, 220, 770]
    assert [note.text for note in figure.layout.annotations][-1] == "737.7"


def test_a_model_can_be_given_by_its_name() -> None:
    named = parameters("gpt2")
    assert list(named.data[0].values) == list(parameters(bartviz.parameters("gpt2")).data[0].values)
    assert named.data[0].labels[0] == "gpt2"


@pytest.mark.parametrize("opened", [None, "encoder", "decoder/layer 3"])
def test_two_maps_on_one_scale_have_fields_of_their_counts(opened: str | None) -> None:
    small, large = "facebook/bart-base", "facebook/bart-large"
    whole = areas(large)[opened or "model"]["count"]
    shares = []
    for name in (small, large):
        figure = parameters(name, whole=whole, opened=opened)
        (left, right), (bottom, top) = figure.data[0].domain.x, figure.data[0].domain.y
        assert right - left == pytest.approx(top - bottom)
        assert figure.data[0].pathbar.visible is False
        shares += [area / count for area, count in fields(figure).values()]
    assert max(shares) == pytest.approx(min(shares), rel=0.01)
    assert shares[0] * whole == pytest.approx(0.55, rel=0.01)


def test_the_path_is_below_a_map_alone() -> None:
    assert parameters("facebook/bart-base").data[0].pathbar.visible is True
    with pytest.raises(SettingError, match="stands for 10 parameters"):
        parameters("facebook/bart-base", whole=10)
    tiny = parameters("bart-tiny-en-de", whole=total("facebook/bart-large"))
    assert tiny.data[0].maxdepth < 4  # it is too low for all headings


def test_what_is_hatched_is_found_with_its_rows() -> None:
    _colors, used = hatched(rows(configuration("facebook/bart-base")))
    assert [row.name for row in used] == ["model.shared.weight"]
    assert hatched(rows(configuration("bert-base-uncased")))[0] == ()


def test_the_uses_of_a_matrix_are_written_whole_or_not_at_all() -> None:
    found = rows(configuration("facebook/bart-base"))
    texts = [
        dict(zip(drawn.ids, drawn.text, strict=True))["model.shared.weight"].split("<br>")
        for drawn in (treemap(found, "", height=height).data[0] for height in (430, 230))
    ]
    whole = ["token embedding", "one matrix for encoder input, decoder input, output layer"]
    assert texts == [whole, ["token embedding"]]


def test_a_number_is_written_once_where_a_matrix_is_all_of_its_part() -> None:
    bart, bert = (
        {area.id: area for area in figure.areas(rows(configuration(name)), name)}
        for name in ("facebook/bart-base", "bert-base-uncased")
    )
    assert bart["shared"].text == "Shared embeddings · 38.6 M"
    assert "38.6 M" not in bart["model.shared.weight"].text
    assert bert["pooler.dense.weight"].text == "pooler weight<br>590 k"  # beside its bias


def test_the_parts_of_a_model_are_bold_and_say_what_they_do_where_no_path_would_print_that() -> None:
    found = rows(configuration("facebook/bart-base"))
    plain, bold = (
        dict(zip(drawn.ids, drawn.labels, strict=True))
        for drawn in (treemap(found, "bart", with_path=with_path).data[0] for with_path in (True, False))
    )
    does = {"shared": "", "encoder": " (reads the text)", "decoder": " (writes the output)"}
    assert {id_: label for id_, label in bold.items() if label != plain[id_]} == {
        part: f"<b>{plain[part].replace(' ·', f'{said} ·')}</b>" for part, said in does.items()
    }


def test_a_pooler_is_not_called_an_output_layer() -> None:
    assert areas("bert-base-uncased")["head"]["labels"] == "Pooler · 591 k"
    masked = areas("bert-base-uncased", "BertForMaskedLM")
    assert masked["head"]["labels"].startswith("Output layer · ")
    assert all(area["parents"] != "head/head" for area in masked.values())  # one heading for it is enough
