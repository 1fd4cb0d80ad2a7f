"""ALBERT (Lan et al. 2020): BERT with narrow embeddings and layers that share their weights."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bert import BERT
from bartviz.families.family import Side, Site, Variant
from bartviz.language import mark

_MASKED_LM = matrices.masked_lm("predictions.", "dense", "LayerNorm", "decoder", width="e")
_TIES = {"predictions.decoder.weight": f".{matrices.WORDS}", "predictions.decoder.bias": "predictions.bias"}

ALBERT = replace(
    BERT,
    name="albert",
    title="ALBERT",
    keys={
        **BERT.keys,
        "vocabulary": ("vocab_size", 30_000),
        "width": ("hidden_size", 4096),
        "encoder_heads": ("num_attention_heads", 64),
        "encoder_feed_forward": ("intermediate_size", 16_384),
        "embedding_width": ("embedding_size", 128),
        "groups": ("num_hidden_groups", 1),
        "inner_layers": ("inner_group_num", 1),
    },
    activation=("hidden_act", "gelu_new"),
    base="albert.",
    encoder=Side(
        before=(*matrices.embeddings("e"), *matrices.projection("encoder.embedding_hidden_mapping_in")),
        layer="encoder.albert_layer_groups.{}.albert_layers.{}.",
        parts=(
            *matrices.attention("self-attention", "attention.", "query key value dense", "attention.LayerNorm"),
            *matrices.feed_forward("ffn", "ffn_output", "full_layer_layer_norm"),
        ),
        attention=Site("attention", "dense"),
    ),
    projected=True,
    pooler=matrices.linear("pooler", "pooler", "d d"),
    variants={
        "AlbertModel": Variant(mark("base model with pooler"), bare=True, pooler=True),
        "AlbertForMaskedLM": matrices.fills_words(_MASKED_LM, _TIES),
        "AlbertForPreTraining": Variant(
            mark("fills masked words and orders sentences"),
            pooler=True,
            ties=_TIES,
            head=(*_MASKED_LM, *matrices.linear("sentence order", "sop_classifier.classifier", "C d")),
        ),
        **matrices.tasks("Albert", matrices.classifies(matrices.CLASSIFIER, pooler=True), matrices.marks_answers()),
    },
    classes=("AlbertForMaskedLM", "AlbertModel"),
    training=replace(
        BERT.training,
        tokenizer=matrices.SENTENCEPIECE,
        objective=mark("fill masked pieces (15%) and judge the order of A and B"),
        paper="Lan et al. 2020",
    ),
)
