"""DistilBERT (Sanh et al. 2019): half of BERT's layers, which learned from BERT; no segments and no pooler."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bert import BERT
from bartviz.families.family import Family, Side, Site, Variant
from bartviz.language import mark

DISTILBERT = Family(
    name="distilbert",
    title="DistilBERT",
    keys={
        "vocabulary": ("vocab_size", 30_522),
        "width": ("dim", 768),
        "encoder_layers": ("n_layers", 6),
        "encoder_heads": ("n_heads", 12),
        "encoder_feed_forward": ("hidden_dim", 3072),
        "positions": ("max_position_embeddings", 512),
    },
    activation=("activation", "gelu"),
    aliases={"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"},
    base="distilbert.",
    encoder=Side(
        before=matrices.embeddings("d", segments=False),
        layer="transformer.layer.{}.",
        parts=(
            *matrices.attention("self-attention", "attention.", "q_lin k_lin v_lin out_lin", "sa_layer_norm"),
            *matrices.feed_forward("ffn.lin1", "ffn.lin2", "output_layer_norm"),
        ),
        attention=Site("attention", "out_lin"),
    ),
    variants={
        "DistilBertModel": Variant(mark("base model"), bare=True),
        "DistilBertForMaskedLM": matrices.fills_words(
            matrices.masked_lm("vocab_", "transform", "layer_norm", "projector", own_bias=False),
            {"vocab_projector.weight": f".{matrices.WORDS}"},
        ),
        **matrices.tasks(
            "DistilBert",
            matrices.classifies((*matrices.linear("classifier dense", "pre_classifier", "d d"), *matrices.CLASSIFIER)),
            matrices.marks_answers("2"),
        ),
    },
    classes=("DistilBertForMaskedLM", "DistilBertModel"),
    training=replace(
        BERT.training, objective=mark("fill masked pieces as a larger BERT would"), paper="Sanh et al. 2019"
    ),
)
