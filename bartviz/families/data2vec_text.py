"""data2vec for text (Baevski et al. 2022): RoBERTa's build, trained to predict its own states."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.bert import BERT
from bartviz.families.roberta import ROBERTA, variants
from bartviz.language import mark

DATA2VEC_TEXT = replace(
    ROBERTA,
    name="data2vec-text",
    title="data2vec",
    keys=BERT.keys,
    base="data2vec_text.",
    variants=variants("Data2VecText"),
    classes=("Data2VecTextForMaskedLM", "Data2VecTextModel"),
    training=replace(
        ROBERTA.training,
        objective=mark("from a text with masked pieces, predict a teacher's states of the whole text"),
        predicts=mark("the states of the masked pieces"),
        paper="Baevski et al. 2022",
    ),
)
