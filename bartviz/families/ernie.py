"""ERNIE (Sun et al. 2020): BERT, trained with masks over whole words and phrases."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.bert import BERT, variants
from bartviz.language import mark

ERNIE = replace(
    BERT,
    name="ernie",
    title="ERNIE",
    fixed={"use_task_id": False},
    base="ernie.",
    variants=variants("Ernie"),
    classes=("ErnieForPreTraining", "ErnieForMaskedLM", "ErnieModel"),
    training=replace(
        BERT.training, objective=mark("fill masked words and phrases, and other tasks"), paper="Sun et al. 2020"
    ),
)
