"""ModernBERT (Warner et al. 2024): rotary positions, gated layers, windows in two of three layers."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bert import BERT
from bartviz.families.family import Part, Side, Site, Variant

_HEAD = (
    Part("output transform weight", "head.dense.weight", "d d"),
    Part("output layer norm weight", "head.norm.weight", "d"),
    Part("output layer weight", "decoder.weight", "V d"),
    Part("output layer bias", "decoder.bias", "V"),
)

MODERNBERT = replace(
    BERT,
    name="modernbert",
    title="ModernBERT",
    keys={
        "vocabulary": ("vocab_size", 50_368),
        "width": ("hidden_size", 768),
        "encoder_layers": ("num_hidden_layers", 22),
        "encoder_heads": ("num_attention_heads", 12),
        "encoder_feed_forward": ("intermediate_size", 1152),
        "positions": ("max_position_embeddings", 8192),
    },
    activation=("hidden_activation", "gelu"),
    fixed={
        "norm_bias": False,
        "attention_bias": False,
        "mlp_bias": False,
        "classifier_bias": False,
        "decoder_bias": True,
    },
    base="model.",
    encoder=Side(
        before=(
            Part(matrices.TOKENS, "embeddings.tok_embeddings.weight", "V d"),
            *matrices.norm("embedding", "embeddings.norm", bias=False),
        ),
        layer="layers.{}.",
        later=matrices.norm("self-attention", "attn_norm", bias=False),
        parts=(
            *matrices.fused("attn.Wqkv", "attn.Wo"),
            *matrices.joined("mlp.Wi", "mlp.Wo"),
            *matrices.norm("feed-forward", "mlp_norm", bias=False),
        ),
        attention=Site("attn", "Wo"),
        after=matrices.norm("final", "final_norm", bias=False),
    ),
    norm="pre",
    positions="rotary",
    pooler=(),
    variants={
        "ModernBertModel": Variant(matrices.BASE, bare=True),
        "ModernBertForMaskedLM": matrices.fills_words(_HEAD, {"decoder.weight": ".embeddings.tok_embeddings.weight"}),
    },
    classes=("ModernBertForMaskedLM", "ModernBertModel"),
    training=replace(
        BERT.training,
        tokenizer=matrices.BYTE_PAIRS,
        objective=BERT.variants["BertForMaskedLM"].does,
        paper="Warner et al. 2024",
    ),
)
