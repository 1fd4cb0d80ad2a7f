"""Decoding step by step: a token at a time, with probabilities, until the end token is chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from bartviz.analysis import start
from bartviz.arrays import Floats
from bartviz.features.lessons.answers import Choice, Number, Spot, Touch, second, strongest
from bartviz.features.lessons.lesson import Lesson, Step, View, any_record
from bartviz.language import _
from bartviz.record.record import Record

LAYER = 2  # whose mean shades the source; the last one of a smaller model
READABLE = 0.1  # bits; fewer can hardly be read off a curve


def _at(record: Record, index: int) -> dict[str, Any]:
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


def _first(record: Record) -> Mapping[str, Any]:
    assert record.decoder is not None
    first = record.steps[0]
    return {
        **_at(record, 0),
        "start": record.decoder.query.labels[0],
        "wanted": first.candidates[0].token_id == first.chosen.token_id,
    }


def _lacks_rule(record: Record) -> str:
    """Why the first step cannot be asked about: no rule decided it, or it would have been another token."""
    found = record.steps[0].rule is not None and _first(record)["wanted"]
    return "" if found else _("its first token was not decided by a rule that the model agrees with")


def _unsure(record: Record) -> int:
    """The step, neither the first nor the last, whose token was least probable."""
    return min(range(1, len(record.steps) - 1), key=lambda at: record.steps[at].chosen.probability)


def _doubt(record: Record) -> Mapping[str, object]:
    index = _unsure(record)
    return {**_at(record, index), "reads": record.steps[index - 1].chosen.label}


def _rivals(record: Record) -> list[Spot]:
    return second(record.steps[_unsure(record)])


def _surer(record: Record) -> int | None:
    """The first step after that one with less than half of its entropy, else one before it; None if there is none."""
    doubt = _unsure(record)
    order = [*range(doubt + 1, len(record.steps)), *range(1, doubt)]
    limit = record.steps[doubt].entropy / 2
    return next((at for at in order if READABLE <= record.steps[at].entropy < limit), None)


def _surer_step(record: Record) -> int:
    found = _surer(record)
    return _unsure(record) if found is None else found


def _sure(record: Record) -> Mapping[str, object]:
    before = _at(record, _unsure(record))
    return {**_at(record, _surer_step(record)), "before": before["token"], "before_bits": before["bits"]}


def _bits(record: Record) -> float:
    return record.steps[_surer_step(record)].entropy


def _lacks_surer(record: Record) -> str:
    none = _("no step of it has between {least} bits and half of those of the least sure one", least=READABLE)
    return "" if _surer(record) is not None else none


def _followed(record: Record) -> int:
    """The step that wrote the word which the start page tells a newcomer to follow."""
    row = start.row_of(record, "cross")
    return next(at for at, step in enumerate(record.steps) if step.row == row)


def _layer(record: Record) -> int:
    return min(LAYER, record.attention("cross").shape[0] - 1)


def _line(record: Record) -> Floats:
    """(K,) the weights of that step, the mean of a layer."""
    line: Floats = record.attention("cross").layer(_layer(record)).mean(axis=0)[record.steps[_followed(record)].row]
    return line


def _row(record: Record) -> Mapping[str, object]:
    line = _line(record)
    return {
        **_at(record, _followed(record)),
        "key": record.attention("cross").key.labels[int(line.argmax())],
        "weight": float(line.max()),
        "layer": _layer(record),
    }


def _source(record: Record) -> list[Spot]:
    return strongest(_line(record), record.attention("cross").key.labels)


def _lacks_source(record: Record) -> str:
    special = record.attention("cross").key.special[int(_line(record).argmax())]
    return _("this row looks most at a special token") if special else ""


def _lacks_end(record: Record) -> str:
    ended = record.output is not None and record.output.special[record.steps[-1].row]
    return "" if ended else _("its output was cut off before the end")


def _step(index: Callable[[Record], int]) -> Callable[[Record], View]:
    """The view of a step, which the page counts from 1."""
    return lambda record: {"step": index(record) + 1}


def _step_of_row(record: Record) -> View:
    return {"step": _followed(record) + 1, "layer": _layer(record)}


def _last(record: Record) -> int:
    return len(record.steps) - 1


def _end(record: Record) -> Mapping[str, object]:
    before = record.steps[-2].chosen.label
    return {**_at(record, _last(record)), "steps": len(record.steps), "before": before}


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
        Step("decoding", {"step": 1}, facts=_first, answer=Choice(), own=_lacks_rule),
        Step("decoding", _step(_unsure), facts=_doubt, answer=Touch("candidate", _rivals), own=any_record),
        Step("decoding", _step(_surer_step), facts=_sure, answer=Number(_bits, within=0.12), own=_lacks_surer),
        Step("decoding", _step_of_row, facts=_row, answer=Touch("column", _source), own=_lacks_source),
        Step("decoding", _step(_last), facts=_end, answer=Choice(), own=_lacks_end),
        Step("decoding", _step(_unsure), facts=_whole, answer=Touch("frame", _least), own=any_record),
        Step("decoding", {"step": 5}, facts=_given, record="given", answer=Touch("frame", _least)),
    ),
    numbers=True,
)
