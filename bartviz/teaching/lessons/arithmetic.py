"""One head's arithmetic: query, keys, scores, softmax, values, with the model's own numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis.inside import Inside, inside
from bartviz.record.attention import masked_softmax
from bartviz.record.record import Record
from bartviz.teaching.lessons.lesson import Lesson, Step, View

LAYER, HEAD, ROW, KEY = 2, 0, 5, 4  # cross-attention; reads "Auto", predicts "kaufen"; the key "buy"
VIEW: View = {"kind": "cross", "layer": LAYER, "head": HEAD, "row": ROW}


def _inside(record: Record, row: int = ROW) -> Inside:
    return inside(record.attention("cross"), LAYER, HEAD, row)


def _inside_of(record: Record, head: int) -> Inside:
    return inside(record.attention("cross"), LAYER, head, ROW)


def _named(record: Record, row: int = ROW) -> dict[str, object]:
    one = _inside(record, row)
    assert record.output is not None
    return {
        "reads": one.query_label,
        "predicts": record.output.labels[row],
        "keys": len(one.weights),
        "width": one.width,
        "best": one.label(one.strongest),
        "score": float(one.scores[one.strongest]),
        "weight": float(one.weights[one.strongest]),
    }


def _products(record: Record) -> Mapping[str, object]:
    one = _inside(record)
    products = one.products(KEY)  # (d,)
    return {
        **_named(record),
        "key": one.label(KEY),
        "dot": float(one.dots[KEY]),
        "negative": int((products < 0).sum()),
        "largest": float(products.max()),
    }


def _scale(record: Record) -> Mapping[str, object]:
    one = _inside(record)
    root = float(np.sqrt(one.width))
    without = masked_softmax(one.dots[None].copy(), one.mask[None])[0]  # (K,)
    return {
        **_named(record),
        "dot": float(one.dots[KEY]),
        "root": root,
        "key": one.label(KEY),
        "score_of_key": float(one.scores[KEY]),
        "without": float(without[KEY]),
    }


def _ratio(record: Record) -> Mapping[str, object]:
    one = _inside(record)
    first, second = (int(place) for place in np.argsort(-one.weights)[:2])
    gap = float(one.scores[first] - one.scores[second])
    return {
        **_named(record),
        "second": one.label(second),
        "gap": gap,
        "ratio": float(np.exp(gap)),
        "second_weight": float(one.weights[second]),
    }


def _output(record: Record) -> Mapping[str, object]:
    one, heads = _inside(record), record.attention("cross").shape[1]
    return {**_named(record), "heads": heads, "all": heads * one.width}


def _rest(record: Record) -> Mapping[str, object]:
    return _named(record, 0)


def _share(record: Record) -> Mapping[str, object]:
    one = _inside(record)
    assert one.shares is not None
    least = int(one.shares.argmin())
    other = _inside_of(record, least)
    return {
        **_named(record),
        "heads": len(one.shares),
        "share": float(one.shares[HEAD]),
        "even": 1 / len(one.shares),
        "least": f"H{least}",
        "least_share": float(one.shares[least]),
        "least_key": other.label(other.strongest),
        "least_weight": float(other.weights[other.strongest]),
    }


LESSON = Lesson(
    "arithmetic",
    8,
    (
        Step("inside", VIEW, facts=_named),
        Step("inside", {**VIEW, "follow": False, "token": KEY}, facts=_products, focus="inside_products"),
        Step("inside", {**VIEW, "follow": False, "token": KEY, "order": "size"}, facts=_scale, focus="inside_products"),
        Step("inside", VIEW, facts=_ratio),
        Step("inside", VIEW, facts=_output),
        Step("inside", {**VIEW, "row": 0}, facts=_rest),
        Step("inside", {**VIEW, "whole": False}, facts=_share, focus="inside_share"),
    ),
)
