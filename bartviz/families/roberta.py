"""RoBERTa (Liu et al. 2019): BERT trained longer, with BART's vocabulary and no pairs of texts."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bert import BERT
from bartviz.families.family import Training, Variant
from bartviz.language import mark


def variants(name: str) -> dict[str, Variant]:
    """The classes of RoBERTa and its relatives."""
    return {
        f"{name}Model": Variant(mark("base model with pooler"), bare=True, pooler=True),
        f"{name}ForMaskedLM": matrices.fills_words(
            matrices.masked_lm("lm_head.", "dense", "layer_norm", "decoder"),
            {"lm_head.decoder.weight": f".{matrices.WORDS}", "lm_head.decoder.bias": "lm_head.bias"},
        ),
        **matrices.tasks(name, matrices.classifies(matrices.DENSE_CLASSIFIER), matrices.marks_answers()),
    }


ROBERTA = replace(
    BERT,
    name="roberta",
    title="RoBERTa",
    keys={**BERT.keys, "vocabulary": ("vocab_size", 50_265)},
    unused_rows=2,
    base="roberta.",
    variants=variants("Roberta"),
    classes=("RobertaForMaskedLM", "RobertaModel"),
    training=Training(
        matrices.BYTE_PAIRS,
        "<s> A </s>",
        "<s> A </s></s> B </s>",
        mark("fill masked pieces (15%), newly masked each time"),
        BERT.training.predicts,
        "Liu et al. 2019",
    ),
)
