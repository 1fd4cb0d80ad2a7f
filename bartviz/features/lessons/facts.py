"""The facts in the lessons' texts, computed from a step's record: tokens by name, weights, probabilities."""

from __future__ import annotations

import numpy as np

from bartviz.arrays import Floats
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.record.steps import Step


def weights(record: Record, kind: Kind, layer: int, head: int) -> Floats:
    """(Q, K) the weights of one head; rows sum to 1."""
    return record.attention(kind).head(layer, head)


def predicting(record: Record, label: str) -> int:
    """The first decoder row that predicts this token."""
    assert record.output is not None
    return record.output.labels.index(label)


def looks_at(record: Record, kind: Kind, layer: int, head: int, row: int) -> dict[str, object]:
    """``key`` and ``weight``: the token that a row looks at most; ``second`` and ``second_weight``: the next one."""
    line = weights(record, kind, layer, head)[row]  # (K,)
    first, second = (int(index) for index in np.argsort(-line, kind="stable")[:2])
    labels = record.attention(kind).key.labels
    return {
        "key": labels[first],
        "weight": float(line[first]),
        "second": labels[second],
        "second_weight": float(line[second]),
    }


def step_of(record: Record, label: str) -> Step:
    """The first step that chose this token."""
    return next(step for step in record.steps if step.chosen.label == label)


def chosen(record: Record, label: str) -> dict[str, object]:
    """``token`` with its ``chance``, and the best ``other`` candidate with its ``other_chance``."""
    return chosen_at(step_of(record, label))


def chosen_at(step: Step) -> dict[str, object]:
    """The same of any step."""
    other = next(candidate for candidate in step.candidates if candidate.token_id != step.chosen.token_id)
    return {
        "token": step.chosen.label,
        "chance": step.chosen.probability,
        "other": other.label,
        "other_chance": other.probability,
    }


def special_share(record: Record, kind: Kind, layer: int, head: int) -> float:
    """The mean share of weight that goes to special tokens, over all rows."""
    special = np.asarray(record.attention(kind).key.special, dtype=bool)  # (K,)
    return float(weights(record, kind, layer, head)[:, special].sum(axis=1).mean())


def goes(weights: Floats, by: int) -> dict[str, float]:
    """``share``: the part of the weight of all rows (Q, K) that goes ``by`` tokens ahead, as on the Heads page.

    ``even``: the same for rows that look evenly everywhere, as those are ``on_line`` of the ``cells``: the first
    or the last rows have no such token.
    """
    line = np.diagonal(weights, by)
    counts = {"on_line": len(line), "cells": weights.size}
    return {"share": float(line.sum() / len(weights)), "even": len(line) / weights.size, **counts}
