"""Heads and layers: many ways of looking at once, some of them with a recognisable job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bartviz.analysis import start
from bartviz.analysis.measure_inputs import entropy
from bartviz.analysis.measures import of_record
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Spot, Touch
from bartviz.features.lessons.heads_found import Place, at, listed, neighbours, resting, row_to
from bartviz.features.lessons.lesson import Lesson, Step, View, any_record
from bartviz.language import _
from bartviz.record.record import Record

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
        "clear": listed(near),
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


def _next_row(record: Record) -> int:
    return row_to(record, _after(record), 1)


def _row_before(record: Record) -> int:
    return row_to(record, _before(record), -1)


def _mean_of_both(record: Record) -> View:
    return {"kind": "encoder", "weights": "layer", "layer": _after(record)[0], "row": _next_row(record)}


def _in_row(find: Callable[[Record], Place], row: Callable[[Record], int]) -> Callable[[Record], View]:
    return lambda record: {**at(find, kind="encoder")(record), "row": row(record)}


def followed(record: Record) -> int:
    """The row of the encoder that is asked about: of the word which the start page tells a newcomer to follow."""
    return start.row_of(record, "encoder")


def _neighbour(record: Record, head: Place, by: int) -> dict[str, Any]:
    row, weights = row_to(record, head, by), facts.weights(record, "encoder", *head)
    return {
        **facts.looks_at(record, "encoder", *head, row),
        "row": record.attention("encoder").query.labels[row],
        **facts.goes(weights, by),
        "other_way": facts.goes(weights, -by)["share"],
        "itself": facts.goes(weights, 0)["share"],
        "to_first": float(weights[:, 0].mean()),
        "line": facts.goes(weights, by)["share"] > 0.6,
        "meets": int(weights[row].argmax()) == row + by,
    }


def _next(record: Record) -> dict[str, Any]:
    return _neighbour(record, _after(record), 1)


def _previous(record: Record) -> dict[str, Any]:
    return _neighbour(record, _before(record), -1)


def _does(found: Mapping[str, Any]) -> bool:
    """Whether a head looks at one neighbour more than anywhere else that its question names, and so does the row."""
    others = max(found[name] for name in ("other_way", "itself", "to_first"))
    return bool(found["share"] > max(others, 2 * found["even"]) and found["meets"])


def _lacks_next(record: Record) -> str:
    return "" if _does(_next(record)) else _("no head of its encoder looks mostly at the next token")


def lacks_previous(record: Record) -> str:
    """Why no head can be shown that looks at the previous token."""
    return "" if _does(_previous(record)) else _("no head of its encoder looks mostly at the previous token")


def _lacks_both(record: Record) -> str:
    return _lacks_next(record) or lacks_previous(record)


def _lacks_pale(record: Record) -> str:
    """Why a mean cannot be said to hide what its heads do."""
    clear = _("the mean of its heads shows the same as each of them")
    return _lacks_both(record) or ("" if _mean(record)["pale"] else clear)


def lacks_rest(record: Record) -> str:
    """Why no head can be shown that rests at both edges."""
    found, special = _rest(record), record.attention("encoder").key.special
    stands = special[0] and special[-1] and found["stands"]
    return "" if stands else _("no head of its encoder looks mostly at special tokens at both ends")


def _mean(record: Record) -> dict[str, Any]:
    mean = record.attention("encoder").layer(_after(record)[0]).mean(axis=0)  # (Q, K)
    shares = {"previous": facts.goes(mean, -1)["share"], "next": facts.goes(mean, 1)["share"]}
    own = {
        f"{name}_head": facts.goes(facts.weights(record, "encoder", *head), by)["share"]
        for name, head, by in (("previous", _before(record), -1), ("next", _after(record), 1))
    }
    pale = all(shares[name] < own[f"{name}_head"] / 2 for name in shares)
    heads = record.attention("encoder").layer(_after(record)[0])  # (H, Q, K)
    apart = float((np.abs(heads - mean).sum(axis=2) / 2).mean(axis=1).min())  # 0 for a head that is as the mean
    return {"heads": len(heads), **shares, **own, "pale": pale, "unlike": apart > 0.2}


def _rest(record: Record) -> dict[str, Any]:
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
            own=any_record,
        ),
        Step("heads", _in_row(_after, _next_row), facts=_next, record="words", answer=Choice(), own=_lacks_next),
        Step("heads", _in_row(_before, _row_before), facts=_previous, record="words", answer=Choice(), own=_lacks_both),
        Step("heads", _mean_of_both, facts=_mean, record="words", answer=Choice(), own=_lacks_pale),
        Step("heads", _in_row(resting, followed), facts=_rest, answer=Touch("column", _edges), own=lacks_rest),
        Step(
            "compare",
            {"kind": "encoder", "x": "previous", "y": "next", "colour": "entropy"},
            facts=_points,
            record="words",
            answer=Touch("point", _furthest),
            own=any_record,
        ),
    ),
)
