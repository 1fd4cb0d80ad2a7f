"""The inside page as a script: the chosen head's numbers, odd links, records of one kind and without values."""

import json
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest

from bartviz.analysis import inside, start
from bartviz.app.frame import page_list
from bartviz.features.inside.page import LIBRARY
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from tests.figures.shown import biased_record
from tests.support import stand_in, visits
from tests.support.pages import tables
from tests.support.visits import words

opened = partial(visits.opened, "inside", level="intermediate")


def test_the_link_names_the_head_and_the_numbers_are_its_own(record: Record) -> None:
    app = opened(record, kind="Encoder", layer="2", head="3", row="4")
    one = inside.inside(record.attention("encoder"), 2, 3, 4)
    said = words(app)
    assert "encoder L2H3" in said
    assert f"score {one.scores[one.strongest]:.2f}" in said
    table: Any = tables(app)[0]
    np.testing.assert_allclose(table["weight"], one.weights, atol=1e-6)
    np.testing.assert_allclose(table["score"], one.scores, atol=1e-5)
    assert inside.equation(one, one.strongest)[-1][0] in said
    assert len(app.get("plotly_chart")) == 6


@pytest.mark.slow
def test_a_decoder_row_says_what_it_reads_and_predicts(record: Record) -> None:
    assert record.output is not None
    said = words(opened(record, kind="Decoder", row="3"))
    assert f"predicts “{record.output.labels[3]}”" in said


@pytest.mark.parametrize(
    "query",
    [
        {"layer": "99", "head": "-1", "row": "1e9", "token": "77", "follow": "false"},
        {"layer": "abc", "kind": "sideways", "which": "x", "order": "", "follow": "perhaps", "around": "z"},
    ],
)
def test_odd_links_are_clamped_to_the_record(record: Record, query: dict[str, str]) -> None:
    assert len(opened(record, **query).get("plotly_chart")) == 6


def test_the_products_of_another_key_can_be_shown(record: Record) -> None:
    app = opened(record, kind="Encoder", layer="0", head="0", row="2", follow="false", token="5")
    one = inside.inside(record.attention("encoder"), 0, 0, 2)
    assert inside.equation(one, 5)[-1][0] in words(app)
    table: Any = tables(app)[1]
    np.testing.assert_allclose(table["product"], one.products(5), atol=1e-6)


@pytest.mark.slow
def test_the_key_follows_the_strongest_until_one_is_chosen(record: Record) -> None:
    app = opened(record, kind="Encoder", layer="0", head="0", row="2")
    attention = record.attention("encoder")
    assert app.slider(key="token").value == inside.inside(attention, 0, 0, 2).strongest
    rows = [inside.inside(attention, 0, 0, row) for row in range(attention.shape[2])]
    other = next(one for one in rows if one.strongest != rows[2].strongest)
    app.slider(key="row").set_value(other.row).run()
    assert app.slider(key="token").value == other.strongest
    named = {"row": ("Row", other.query_label), "token": ("Key token", other.keys.labels[other.strongest])}
    for key, (label, token) in named.items():
        assert app.slider(key=key).label.replace("\\", "") == f"{label}: {token}"
    chosen = (other.strongest + 1) % len(other.keys)
    app.slider(key="token").set_value(chosen).run()
    assert not app.toggle(key="follow").value
    app.slider(key="row").set_value(2).run()
    assert app.slider(key="token").value == chosen
    app.toggle(key="follow").set_value(True).run()
    assert app.slider(key="token").value == rows[2].strongest


def test_beginners_open_the_products_of_a_key_by_choosing_one(record: Record) -> None:
    folded = visits.opened("inside", record)
    assert not [slider for slider in folded.slider if slider.key == "token"]
    assert "bv-equation" not in words(folded)
    asked = visits.opened("inside", record, token="5", follow="false")
    assert asked.slider(key="token").value == 5
    assert "bv-equation" in words(asked)


def test_a_beginner_reads_shares_and_no_formula(record: Record) -> None:
    said = words(visits.opened("inside", record, kind="Encoder", layer="1", head="2", row="3"))
    one = inside.inside(record.attention("encoder"), 1, 2, 3)
    share = percent(float(one.weights[one.strongest]))
    best = one.named(one.strongest)
    assert "A head decides where each word looks." in said
    assert f"looks most at {best}: with {share} of its attention." in said
    assert one.factor not in said


def test_a_beginner_reads_what_query_key_and_value_are_above_the_picture(record: Record) -> None:
    said = words(visits.opened("inside", record))
    assert LIBRARY in said
    assert all(f"({term})" in LIBRARY for term in ("query, q", "key, k", "value, v"))
    assert LIBRARY not in words(opened(record))


def test_without_values_one_sentence_says_what_to_do(record: Record) -> None:
    bare = {kind: replace(record.attention(kind), v=None, out=None, out_bias=None) for kind in record.kinds}
    app = opened(replace(record, **bare))  # type: ignore[arg-type]
    assert "press Run" in app.info[0].value
    assert len(app.get("plotly_chart")) == 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_record_of_one_kind_is_drawn(record: Record, kind: Literal["encoder", "decoder"]) -> None:
    parts: dict[str, Any] = {"encoder": None, "decoder": None, "cross": None, kind: record.attention(kind)}
    alone = replace(
        record,
        **parts,
        model=stand_in.model_info(kind),
        steps=() if kind == "encoder" else record.steps,
        output=None if kind == "encoder" else record.output,
    )
    assert f"{kind} {start.ribbons(alone).head.short}" in words(opened(alone, kind="Cross"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tab", "said"),
    [
        ("Without the scaling", "Without the division"),
        ("GELU and ReLU", "This model has GELU"),
        ("Before or after the norm", "post-norm"),
    ],
)
def test_what_is_beside_attention(record: Record, tab: str, said: str) -> None:
    assert said in words(opened(record, around=tab))


def test_scores_with_a_bias_are_drawn() -> None:
    app = opened(biased_record())
    assert not app.exception
    drawn = [json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")][:3]
    assert [[trace["name"] for trace in part if trace["name"] != "keys"] for part in drawn] == [
        ["q", "k", "q × k"],
        ["scaled", "bias", "score", "weight"],
        ["weight × v", "output"],
    ]


def test_a_row_has_the_same_name_on_each_page(record: Record) -> None:
    for page in filter(page_list.has, ("inside", "heads", "masks")):
        labels = {slider.label for slider in visits.opened(page, record, level="intermediate").slider}
        assert "Query token" not in labels
        assert {label.split(":")[0] for label in labels} & {"Row"} or page == "masks"
