"""Configurations of the models that the articles name, and numbers counted from them. No weights, no torch."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bartviz.analysis import parameter_totals
from bartviz.analysis.parameters import Component, Parameter, architecture_of, configuration, rows_of
from bartviz.families.config import Config, Sizes, Stack, sizes
from bartviz.language import later, mark

BERT, BERT_LARGE = "bert-base-uncased", "bert-large-uncased"
BART, BART_LARGE = "facebook/bart-base", "facebook/bart-large"
T5, T5_LARGE, T5_GATED = "t5-base", "t5-large", "google/t5-v1_1-base"
GPT2, GPT2_MEDIUM = "gpt2", "gpt2-medium"
MARIAN = "Helsinki-NLP/opus-mt-en-de"
TITLES = {
    BERT: "BERT base",
    BERT_LARGE: "BERT large",
    BART: "BART base",
    BART_LARGE: "BART large",
    T5: "T5 base",
    T5_LARGE: "T5 large",
    T5_GATED: "T5 1.1 base",
    GPT2: "GPT-2 small",
    GPT2_MEDIUM: "GPT-2 medium",
    MARIAN: "Marian en-de",
}

_POSITIONS = {
    "learned": mark("learned"),
    "sinusoidal": mark("sinusoidal"),
    "relative": mark("relative"),
    "rotary": mark("rotary"),
}

# The articles' table of models: our name, the millions of parameters they give, their encoder and decoder layers.
MODELS: tuple[tuple[str, int, int, int], ...] = (
    (BERT, 110, 12, 0), (BERT_LARGE, 340, 24, 0), (GPT2, 124, 0, 12), (GPT2_MEDIUM, 355, 0, 24),
    (BART, 140, 6, 6), (BART_LARGE, 400, 12, 12), (T5, 220, 12, 12), (T5_LARGE, 770, 24, 24),
)  # fmt: skip


def read(name: str, **changed: object) -> Config:
    """The configuration of a model, some of its numbers changed."""
    return {**configuration(name), **changed}


def sizes_of(name: str, **changed: object) -> Sizes:
    return sizes(read(name, **changed))


def rows(name: str, architecture: str | None = None, **changed: object) -> tuple[Parameter, ...]:
    config = read(name, **changed)
    return rows_of(sizes(config), architecture_of(config, architecture))


def total(name: str, architecture: str | None = None, **changed: object) -> int:
    """Parameters of a model, each counted once."""
    return parameter_totals.total(rows(name, architecture, **changed))


def encoder(name: str) -> Stack:
    stack = sizes_of(name).encoder
    assert stack is not None  # asked of models that have one
    return stack


def decoder(name: str) -> Stack:
    stack = sizes_of(name).decoder
    assert stack is not None  # asked of models that have one
    return stack


def positions(name: str) -> str:
    """How the model represents positions: a message."""
    return later(_POSITIONS[sizes_of(name).family.positions])


def depth(name: str) -> tuple[int, int]:
    """Encoder and decoder layers."""
    found = sizes_of(name)
    return tuple(stack.layers if stack is not None else 0 for stack in (found.encoder, found.decoder))  # type: ignore[return-value]


def layer(name: str, component: Component) -> tuple[Parameter, ...]:
    """The matrices and vectors of one layer."""
    return tuple(row for row in rows(name) if row.component == component and row.layer == 0)


def elements(found: Sequence[Parameter]) -> int:
    return sum(row.elements for row in found)


def models() -> pd.DataFrame:
    """The articles' table: model, name, claimed (millions), parameters, difference (share), one column per part."""
    found = []
    for name, claimed, _encoder, _decoder in MODELS:
        mine = rows(name)
        size = parameter_totals.total(mine)
        said: dict[str, object] = {"model": TITLES[name], "name": name, "claimed": claimed, "parameters": size}
        said["difference"] = size / (claimed * 1e6) - 1
        said.update(parameter_totals.parts(mine))
        found.append(said)
    return pd.DataFrame(found)
