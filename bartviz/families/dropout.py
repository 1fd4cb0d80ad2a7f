"""Dropout as a configuration writes it: the families call the same two probabilities by many names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_ADDED = ("hidden_dropout_prob", "hidden_dropout", "dropout", "dropout_rate", "resid_pdrop", "residual_dropout")
_WEIGHTS = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop", "dropout_rate")


class Dropout(NamedTuple):
    """Probabilities of dropout in training: of what a part of a layer adds, and of the attention weights.

    None where the configuration does not say.
    """

    added: float | None
    weights: float | None


def dropout(config: Mapping[str, Any]) -> Dropout:
    """The probabilities that a configuration gives."""
    return Dropout(_first(config, _ADDED), _first(config, _WEIGHTS))


def _first(config: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    """The first of the keys that holds a probability."""
    values = (config.get(name) for name in names)
    numbers = (float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool))
    return next((value for value in numbers if 0 <= value < 1), None)
