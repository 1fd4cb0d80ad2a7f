"""Decoding step by step: a token at a time, with probabilities, until the end token is chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record


def _at(record: Record, index: int) -> dict[str, object]:
    step = record.steps[index]
    other = next(candidate for candidate in step.candidates if candidate.token_id != step.chosen.token_id)
    return {
        "token": step.chosen.label,
        "chance": step.chosen.probability,
        "bits": step.entropy,
        "other": other.label,
        "other_chance": other.probability,
        "vocabulary": record.model.vocabulary,
        "both": step.chosen.probability + other.probability,
    }


def _first(record: Record) -> Mapping[str, object]:
    assert record.decoder is not None
    return {**_at(record, 0), "start": record.decoder.query.labels[0]}


def _moechte(record: Record) -> Mapping[str, object]:
    return _at(record, 2)


def _auto(record: Record) -> Mapping[str, object]:
    unsure = _at(record, 2)
    return {**_at(record, 4), "unsure": unsure["token"], "unsure_bits": unsure["bits"]}


def _row(record: Record) -> Mapping[str, object]:
    row = record.steps[5].row
    line = record.attention("cross").layer(2).mean(axis=0)[row]  # (K,)
    return {
        **_at(record, 5),
        "key": record.attention("cross").key.labels[int(line.argmax())],
        "weight": float(line.max()),
    }


def _end(record: Record) -> Mapping[str, object]:
    return {**_at(record, len(record.steps) - 1), "steps": len(record.steps)}


def _whole(record: Record) -> Mapping[str, object]:
    total = record.log_probability
    return {"total": total, "whole": math.exp(total), "steps": len(record.steps), **_moechte(record)}


def _given(record: Record) -> Mapping[str, object]:
    least = min(record.steps, key=lambda step: step.chosen.probability)
    after = record.steps[record.steps.index(least) + 1]
    return {
        "token": least.chosen.label,
        "chance": least.chosen.probability,
        "rather": least.candidates[0].label,
        "rather_chance": least.candidates[0].probability,
        "next": after.chosen.label,
        "next_chance": after.chosen.probability,
        "one_in": 1 / least.chosen.probability,
    }


LESSON = Lesson(
    "decoding",
    8,
    (
        Step("decoding", {"step": 1}, facts=_first),
        Step("decoding", {"step": 3}, facts=_moechte),
        Step("decoding", {"step": 5}, facts=_auto),
        Step("decoding", {"step": 6}, facts=_row),
        Step("decoding", {"step": 8}, facts=_end),
        Step("decoding", {"step": 3}, facts=_whole),
        Step("decoding", {"step": 5}, facts=_given, record="given"),
    ),
)
