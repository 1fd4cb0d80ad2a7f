"""Decoding step by step: a token at a time, with probabilities, until the end token is chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bartviz.features.lessons.answers import Choice, Number, Spot, Touch, second, strongest
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
        "unsure": step.entropy > 1,
    }


def _first(record: Record) -> Mapping[str, object]:
    assert record.decoder is not None
    first = record.steps[0]
    return {
        **_at(record, 0),
        "start": record.decoder.query.labels[0],
        "wanted": first.candidates[0].token_id == first.chosen.token_id,
    }


def _moechte(record: Record) -> Mapping[str, object]:
    return _at(record, 2)


def _rivals(record: Record) -> list[Spot]:
    return second(record.steps[2])


def _auto(record: Record) -> Mapping[str, object]:
    before = _at(record, 2)
    return {**_at(record, 4), "before": before["token"], "before_bits": before["bits"]}


def _bits(record: Record) -> float:
    return record.steps[4].entropy


def _row(record: Record) -> Mapping[str, object]:
    row = record.steps[5].row
    line = record.attention("cross").layer(2).mean(axis=0)[row]  # (K,)
    return {
        **_at(record, 5),
        "key": record.attention("cross").key.labels[int(line.argmax())],
        "weight": float(line.max()),
    }


def _source(record: Record) -> list[Spot]:
    line = record.attention("cross").layer(2).mean(axis=0)[record.steps[5].row]  # (K,)
    return strongest(line, record.attention("cross").key.labels)


def _end(record: Record) -> Mapping[str, object]:
    return {**_at(record, len(record.steps) - 1), "steps": len(record.steps)}


def _whole(record: Record) -> Mapping[str, object]:
    total = record.log_probability
    least = min(range(len(record.steps)), key=lambda at: record.steps[at].chosen.probability)
    return {"total": total, "whole": math.exp(total), "steps": len(record.steps), **_at(record, least)}


def _least(record: Record) -> list[Spot]:
    """The steps, of which the one with the smallest probability answers."""
    chances = [step.chosen.probability for step in record.steps]
    return [
        Spot(
            f"{number + 1}. {step.chosen.label}",
            chance == min(chances),
            {"touched": step.chosen.label, "value": chance},
        )
        for number, (step, chance) in enumerate(zip(record.steps, chances, strict=True))
    ]


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
        "goes_on": after.chosen.probability > 0.5,
        "one_in": 1 / least.chosen.probability,
    }


LESSON = Lesson(
    "decoding",
    8,
    (
        Step("decoding", {"step": 1}, facts=_first, answer=Choice()),
        Step("decoding", {"step": 3}, facts=_moechte, answer=Touch("candidate", _rivals)),
        Step("decoding", {"step": 5}, facts=_auto, answer=Number(_bits, within=0.12)),
        Step("decoding", {"step": 6}, facts=_row, answer=Touch("column", _source)),
        Step("decoding", {"step": 8}, facts=_end, answer=Choice()),
        Step("decoding", {"step": 3}, facts=_whole, answer=Touch("frame", _least)),
        Step("decoding", {"step": 5}, facts=_given, record="given", answer=Touch("frame", _least)),
    ),
)
