"""ELECTRA (Clark et al. 2020): BERT with narrow embeddings, trained to detect words that a small model has replaced."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bert import BERT, ENCODER
from bartviz.families.family import Variant
from bartviz.language import mark

ELECTRA = replace(
    BERT,
    name="electra",
    title="ELECTRA",
    keys={
        **BERT.keys,
        "width": ("hidden_size", 256),
        "encoder_heads": ("num_attention_heads", 4),
        "encoder_feed_forward": ("intermediate_size", 1024),
        "embedding_width": ("embedding_size", 128),
    },
    base="electra.",
    encoder=replace(ENCODER, before=(*matrices.embeddings("e"), *matrices.projection("embeddings_project"))),
    pooler=(),
    variants={
        "ElectraModel": Variant(mark("base model"), bare=True),
        "ElectraForPreTraining": Variant(
            mark("detects replaced words"),
            head=(
                *matrices.linear("detector dense", "discriminator_predictions.dense", "d d"),
                *matrices.linear("detector", "discriminator_predictions.dense_prediction", "1 d"),
            ),
        ),
        "ElectraForMaskedLM": matrices.fills_words(
            matrices.masked_lm(
                "generator_", "predictions.dense", "predictions.LayerNorm", "lm_head", width="e", own_bias=False
            ),
            {"generator_lm_head.weight": f".{matrices.WORDS}"},
        ),
        **matrices.tasks("Electra", matrices.classifies(matrices.DENSE_CLASSIFIER), matrices.marks_answers()),
    },
    classes=("ElectraForMaskedLM", "ElectraForPreTraining", "ElectraModel"),
    training=replace(
        BERT.training,
        objective=mark("detect which pieces a small model has replaced"),
        predicts=mark("for every piece, whether it was replaced"),
        paper="Clark et al. 2020",
    ),
)
