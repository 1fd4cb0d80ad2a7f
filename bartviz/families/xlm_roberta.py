"""XLM-RoBERTa (Conneau et al. 2020): RoBERTa in 100 languages."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bert import BERT
from bartviz.families.roberta import ROBERTA, variants

XLM_ROBERTA = replace(
    ROBERTA,
    name="xlm-roberta",
    title="XLM-RoBERTa",
    keys=BERT.keys,
    variants=variants("XLMRoberta"),
    classes=("XLMRobertaForMaskedLM", "XLMRobertaModel"),
    training=replace(ROBERTA.training, tokenizer=matrices.SENTENCEPIECE, paper="Conneau et al. 2020"),
)
