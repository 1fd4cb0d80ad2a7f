"""The probabilities of dropout, under the names of every family."""

from __future__ import annotations

import pytest
import transformers

from bartviz.families.dropout import dropout

DEFAULTS = {
    "bert": (0.1, 0.1),
    "distilbert": (0.1, 0.1),
    "bart": (0.1, 0.0),
    "t5": (0.1, 0.1),
    "gpt2": (0.1, 0.1),
    "opt": (0.1, 0.0),
    "llama": (None, 0.0),
}


@pytest.mark.parametrize("family", DEFAULTS)
def test_defaults_of_transformers_are_read(family: str) -> None:
    assert dropout(transformers.AutoConfig.for_model(family).to_dict()) == DEFAULTS[family]


def test_what_is_no_probability_is_not_one() -> None:
    assert dropout({"dropout": "0.1", "attention_dropout": True}) == (None, None)
    assert dropout({"dropout": 1.5, "resid_pdrop": 0.25}) == (0.25, None)
