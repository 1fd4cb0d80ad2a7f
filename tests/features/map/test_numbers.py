"""The blocks of each kind of model: their order, numbers and pages."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bartviz.families.catalogue import EMBEDDED
from bartviz.families.family import ModelKind
from bartviz.features.map import numbers as blocks
from bartviz.features.map.numbers import Column
from tests.support import stand_in


def texts(column: Column) -> list[str]:
    """Everything in the column from top to bottom."""
    layer = [box for group in column.layer for box in group]
    return [box.text for box in (*column.before, *layer, *column.after)]


def test_bart_has_an_encoder_and_a_decoder_with_post_norm() -> None:
    encoder, decoder = blocks.columns(stand_in.model_info(layers=(6, 3), heads=(12, 4)))
    assert (encoder.layers, decoder.layers) == (6, 3)
    assert texts(encoder) == [
        "Source text",
        "Embeddings: token + position, LayerNorm",
        "Self-attention, 12 heads",
        "Add, then LayerNorm",
        "Feed-forward, GELU",
        "Add, then LayerNorm",
        "Hidden states",
    ]
    assert texts(decoder) == [
        "Output so far",
        "Embeddings: token + position, LayerNorm",
        "Masked self-attention, 4 heads",
        "Add, then LayerNorm",
        "Cross-attention to the encoder, 4 heads",
        "Add, then LayerNorm",
        "Feed-forward, GELU",
        "Add, then LayerNorm",
        "Output layer and softmax",
        "Next token, appended to “Output so far”",
    ]


def test_a_feed_forward_opens_what_it_adds_to_this_text() -> None:
    for column in blocks.columns(stand_in.model_info()):
        (box,) = [box for group in column.layer for box in group if box.text.startswith("Feed-forward")]
        assert box.page == "inside"
        assert box.query == {"kind": column.stack, "around": "residual"}  # not the curve of its activation


def test_t5_normalises_before_each_part_and_after_the_last_layer() -> None:
    info = replace(stand_in.model_info(), family="t5")
    encoder, decoder = blocks.columns(info)
    assert texts(encoder)[1:5] == ["Embeddings: token", "LayerNorm", "Self-attention, 4 heads", "Add"]
    assert texts(encoder)[-2] == "LayerNorm"
    assert [len(group) for group in decoder.layer] == [3, 3, 3]
    assert texts(decoder)[-3:] == ["LayerNorm", "Output layer and softmax", "Next token, appended to “Output so far”"]


def test_bert_is_an_encoder_with_segments_and_gpt2_a_decoder_without_cross_attention() -> None:
    (encoder,) = blocks.columns(replace(stand_in.model_info("encoder"), family="bert"))
    assert texts(encoder)[1] == "Embeddings: token + position + segment, LayerNorm"
    assert encoder.after[-1].text == "Hidden states"
    assert encoder.after[-1].page == ""
    (decoder,) = blocks.columns(replace(stand_in.model_info("decoder"), family="gpt2"))
    assert texts(decoder)[0] == "Text so far"
    assert len(decoder.layer) == 2
    assert all(box.kind != "cross" for group in decoder.layer for box in group)


def test_a_newcomer_sees_the_parts_and_their_sums_without_dropout_norms_and_activation() -> None:
    encoder, decoder = (column.of_parts() for column in blocks.columns(replace(stand_in.model_info(), dropout=0.1)))
    assert texts(encoder)[1:6] == [
        "Embeddings: token + position",
        "Self-attention, 4 heads",
        "Add & norm",
        "Feed-forward",
        "Add & norm",
    ]
    gives = [box.gives for group in decoder.layer for box in group]
    assert gives == ["weights", "sum", "weights", "sum", "states", "sum"]


@pytest.mark.parametrize(("kind", "family"), [("encoder-decoder", "t5"), ("decoder", "gpt2"), ("decoder", "olmo2")])
def test_wherever_a_family_has_its_norms_a_newcomer_sees_none(kind: ModelKind, family: str) -> None:
    info = replace(stand_in.model_info(kind), family=family)
    for column in blocks.columns(info):
        assert any("LayerNorm" in text for text in texts(column))
        assert not any("LayerNorm" in text for text in texts(column.of_parts()))


def test_the_encoder_of_an_encoder_decoder_may_be_read_by_itself() -> None:
    (encoder,) = blocks.columns(replace(stand_in.model_info("encoder"), family="bart"))
    assert encoder.after[-1].page == ""


def test_without_steps_no_box_leads_to_decoding() -> None:
    decoder = blocks.columns(stand_in.model_info(), steps=False)[1]
    assert [box.page for box in decoder.after] == ["", ""]
    assert [box.page for box in blocks.columns(stand_in.model_info())[1].after] == ["decoding", "decoding"]


@pytest.mark.parametrize(
    ("kind", "family", "said"),
    [
        ("encoder-decoder", "bart", "an encoder of 6 layers with 12 heads each reads the text, a decoder of 3 layers"),
        ("encoder", "bert", "an encoder of 6 layers with 12 heads each reads the whole text at once"),
        ("decoder", "gpt2", "a decoder of 3 layers with 4 heads each continues the text"),
    ],
)
def test_the_sentence_names_layers_and_heads(kind: ModelKind, family: str, said: str) -> None:
    info = replace(stand_in.model_info(kind, layers=(6, 3), heads=(12, 4)), family=family)
    assert said in blocks.sentence(info)


def test_dropout_is_before_each_sum_and_said_to_be_off() -> None:
    info = replace(stand_in.model_info("encoder"), family="bert", dropout=0.1, attention_dropout=0.2)
    (encoder,) = blocks.columns(info)
    for group in encoder.layer:
        assert [box.text for box in group][1:] == ["Dropout, 10% in training, off here", "Add, then LayerNorm"]
        assert group[1].page == ""
    assert "10% of what each part adds and 20% of the attention weights" in blocks.order(info)
    assert "dropout" not in blocks.order(replace(info, dropout=0.0, attention_dropout=0.0))


@pytest.mark.parametrize(
    ("family", "said"),
    [("bart", "Post-norm"), ("t5", "Pre-norm"), ("gpt2", "Pre-norm"), ("olmo2", "before it is added")],
)
def test_the_order_of_sum_and_norm_is_said(family: str, said: str) -> None:
    assert said in blocks.order(replace(stand_in.model_info(), family=family))


def test_an_older_record_of_a_known_model_has_the_dropout_of_its_configuration() -> None:
    info = replace(stand_in.model_info(), name="bart-tiny-en-de")
    config = json.loads((EMBEDDED / "bart-tiny-en-de" / "config.json").read_text("utf-8"))
    assert blocks.dropout(info) == (config["dropout"], config["attention_dropout"])
