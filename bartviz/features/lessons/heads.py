"""Heads and layers: many ways of looking at once, some of them with a recognisable job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np

from bartviz.analysis.measure_inputs import entropy
from bartviz.analysis.measures import of_record
from bartviz.features.lessons import facts
from bartviz.features.lessons.heads_found import Place, at, neighbours, resting
from bartviz.features.lessons.lesson import Lesson, Step, View
from bartviz.language import _
from bartviz.record.record import Record

ROW = 8  # "because"
REST_ROW = 4  # "buy"
NEAR = 0.05  # bits; layers within this of the clearest count as clear


def _overview(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    bits = [float(entropy(attention.layer(layer)).mean()) for layer in range(attention.shape[0])]
    near = [f"L{layer}" for layer, one in enumerate(bits) if one < min(bits) + NEAR]
    return {
        "layers": attention.shape[0],
        "each": attention.shape[1],
        "heads": attention.shape[0] * attention.shape[1],
        "blurred": f"L{int(np.argmax(bits))}",
        "bits": max(bits),
        "fewest": min(bits),
        "clear": reduce(lambda one, other: _("{one} and {other}", one=one, other=other), near),
    }


def _before(record: Record) -> Place:
    return neighbours(record)[0]


def _after(record: Record) -> Place:
    return neighbours(record)[1]


def _mean_of_both(record: Record) -> View:
    return {"kind": "encoder", "weights": "layer", "layer": _after(record)[0], "row": ROW}


def _neighbour(record: Record, head: Place, by: int) -> Mapping[str, object]:
    return {
        **facts.looks_at(record, "encoder", *head, ROW),
        "row": record.attention("encoder").query.labels[ROW],
        **facts.goes(facts.weights(record, "encoder", *head), by),
    }


def _next(record: Record) -> Mapping[str, object]:
    return _neighbour(record, _after(record), 1)


def _previous(record: Record) -> Mapping[str, object]:
    return _neighbour(record, _before(record), -1)


def _mean(record: Record) -> Mapping[str, object]:
    mean = record.attention("encoder").layer(_after(record)[0]).mean(axis=0)  # (Q, K)
    shares = {"previous": facts.goes(mean, -1)["share"], "next": facts.goes(mean, 1)["share"]}
    return {"heads": record.attention("encoder").shape[1], **shares}


def _rest(record: Record) -> Mapping[str, object]:
    key = record.attention("encoder").key
    share, even = facts.special_share(record, "encoder", *resting(record)), float(np.mean(key.special))
    return {"first": key.labels[0], "last": key.labels[-1], "share": share, "even": even}


def _points(record: Record) -> Mapping[str, object]:
    measured = of_record(record, "encoder")
    found: dict[str, object] = {}
    for name in ("previous", "next"):
        values = measured.values[name]  # (L, H)
        layer, head = (int(place) for place in np.unravel_index(int(np.nanargmax(values)), values.shape))
        found |= {name: f"L{layer}H{head}", f"{name}_share": float(values[layer, head])}
        found[f"many_{name}"] = int((values > 0.5).sum())
    return {**found, "heads": values.size}


LESSON = Lesson(
    "heads",
    7,
    (
        Step("heads", {"kind": "cross", "layer": 0, "head": 0, "row": 5}, facts=_overview),
        Step("heads", at(_after, kind="encoder", row=ROW), facts=_next, record="words"),
        Step("heads", at(_before, kind="encoder", row=ROW), facts=_previous, record="words"),
        Step("heads", _mean_of_both, facts=_mean, record="words"),
        Step("heads", at(resting, kind="encoder", row=REST_ROW), facts=_rest),
        Step(
            "compare",
            {"kind": "encoder", "x": "previous", "y": "next", "colour": "entropy"},
            facts=_points,
            record="words",
        ),
    ),
)
