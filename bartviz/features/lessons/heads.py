"""Heads and layers: many ways of looking at once, some of them with a recognisable job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np

from bartviz.analysis.measure_inputs import entropy
from bartviz.analysis.measures import of_record
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Spot, Touch
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
        "first_layer": int(np.argmax(bits)) == 0,
        "bits": max(bits),
        "fewest": min(bits),
        "clear": reduce(lambda one, other: _("{one} and {other}", one=one, other=other), near),
    }


def _by_layer(record: Record) -> list[Spot]:
    """Every head of cross-attention: one of the most blurred layer answers."""
    attention = record.attention("cross")
    bits = [float(entropy(attention.layer(layer)).mean()) for layer in range(attention.shape[0])]
    return [
        Spot(
            f"L{layer}H{head}",
            bits[layer] == max(bits),
            {"layer": layer, "head": head, "touched": f"L{layer}", "value": bits[layer]},
        )
        for layer in range(attention.shape[0])
        for head in range(attention.shape[1])
    ]


def _before(record: Record) -> Place:
    return neighbours(record)[0]


def _after(record: Record) -> Place:
    return neighbours(record)[1]


def _mean_of_both(record: Record) -> View:
    return {"kind": "encoder", "weights": "layer", "layer": _after(record)[0], "row": ROW}


def _neighbour(record: Record, head: Place, by: int) -> Mapping[str, object]:
    weights = facts.weights(record, "encoder", *head)
    return {
        **facts.looks_at(record, "encoder", *head, ROW),
        "row": record.attention("encoder").query.labels[ROW],
        **facts.goes(weights, by),
        "other_way": facts.goes(weights, -by)["share"],
        "itself": facts.goes(weights, 0)["share"],
        "to_first": float(weights[:, 0].mean()),
        "line": facts.goes(weights, by)["share"] > 0.6,
    }


def _next(record: Record) -> Mapping[str, object]:
    return _neighbour(record, _after(record), 1)


def _previous(record: Record) -> Mapping[str, object]:
    return _neighbour(record, _before(record), -1)


def _mean(record: Record) -> Mapping[str, object]:
    mean = record.attention("encoder").layer(_after(record)[0]).mean(axis=0)  # (Q, K)
    shares = {"previous": facts.goes(mean, -1)["share"], "next": facts.goes(mean, 1)["share"]}
    own = {
        f"{name}_head": facts.goes(facts.weights(record, "encoder", *head), by)["share"]
        for name, head, by in (("previous", _before(record), -1), ("next", _after(record), 1))
    }
    pale = all(shares[name] < own[f"{name}_head"] / 2 for name in shares)
    return {"heads": record.attention("encoder").shape[1], **shares, **own, "pale": pale}


def _rest(record: Record) -> Mapping[str, object]:
    key = record.attention("encoder").key
    share, even = facts.special_share(record, "encoder", *resting(record)), float(np.mean(key.special))
    return {"first": key.labels[0], "last": key.labels[-1], "share": share, "even": even, "stands": share > 2 * even}


def _edges(record: Record) -> list[Spot]:
    """The columns of the resting head: both special tokens answer."""
    key, shares = record.attention("encoder").key, facts.weights(record, "encoder", *resting(record)).mean(axis=0)
    return [
        Spot(label, special, {"touched": label, "value": float(share)})
        for label, special, share in zip(key.labels, key.special, shares, strict=True)
    ]


def _furthest(record: Record) -> list[Spot]:
    """The points of the scatter: the one furthest to the right answers."""
    values = of_record(record, "encoder").values["previous"]  # (L, H)
    return [
        Spot(
            f"L{layer}H{head}",
            bool(values[layer, head] == np.nanmax(values)),
            {"touched": f"L{layer}H{head}", "value": float(values[layer, head])},
        )
        for layer, head in np.ndindex(*values.shape)
    ]


def _points(record: Record) -> Mapping[str, object]:
    measured = of_record(record, "encoder")
    found: dict[str, object] = {}
    for name in ("previous", "next"):
        values = measured.values[name]  # (L, H)
        layer, head = (int(place) for place in np.unravel_index(int(np.nanargmax(values)), values.shape))
        found |= {name: f"L{layer}H{head}", f"{name}_share": float(values[layer, head])}
        found[f"many_{name}"] = int((values > 0.5).sum())
    with_job = sum(int((measured.values[name] > 0.5).sum()) for name in ("previous", "next"))
    return {**found, "heads": values.size, "rare": with_job < values.size / 2}


LESSON = Lesson(
    "heads",
    7,
    (
        Step(
            "heads",
            {"kind": "cross", "layer": 0, "head": 0, "row": 5},
            facts=_overview,
            answer=Touch("head", _by_layer),
        ),
        Step("heads", at(_after, kind="encoder", row=ROW), facts=_next, record="words", answer=Choice()),
        Step("heads", at(_before, kind="encoder", row=ROW), facts=_previous, record="words", answer=Choice()),
        Step("heads", _mean_of_both, facts=_mean, record="words", answer=Choice()),
        Step("heads", at(resting, kind="encoder", row=REST_ROW), facts=_rest, answer=Touch("column", _edges)),
        Step(
            "compare",
            {"kind": "encoder", "x": "previous", "y": "next", "colour": "entropy"},
            facts=_points,
            record="words",
            answer=Touch("point", _furthest),
        ),
    ),
)
