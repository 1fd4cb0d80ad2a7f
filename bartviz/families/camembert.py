"""CamemBERT (Martin et al. 2020): RoBERTa in French."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.roberta import variants
from bartviz.families.xlm_roberta import XLM_ROBERTA

CAMEMBERT = replace(
    XLM_ROBERTA,
    name="camembert",
    title="CamemBERT",
    variants=variants("Camembert"),
    classes=("CamembertForMaskedLM", "CamembertModel"),
    training=replace(XLM_ROBERTA.training, paper="Martin et al. 2020"),
)
