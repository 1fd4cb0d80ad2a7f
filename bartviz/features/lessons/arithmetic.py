"""One head's arithmetic: query, keys, scores, softmax, values, with the model's own numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis import start
from bartviz.analysis.inside import Inside, inside
from bartviz.features.lessons.heads_found import Place, at
from bartviz.features.lessons.lesson import Lesson, Step, View
from bartviz.record.record import Record
from bartviz.record.softmax import masked_softmax

ROW, KEY = 5, 4  # of cross-attention: reads "Auto", predicts "kaufen"; the key "buy"
VIEW: View = {"kind": "cross", "row": ROW}


def head_of(record: Record) -> Place:
    """The head of this lesson: the one that the start page shows."""
    head = start.head_of(record, "cross")
    return head.layer, head.head


def _inside(record: Record, row: int = ROW) -> Inside:
    return inside(record.attention("cross"), *head_of(record), row)


def _inside_of(record: Record, head: int) -> Inside:
    return inside(record.attention("cross"), head_of(record)[0], head, ROW)


def _named(record: Record, row: int = ROW) -> dict[str, object]:
    inside_head = _inside(record, row)
    assert record.output is not None
    return {
        "reads": inside_head.query_label,
        "predicts": record.output.labels[row],
        "keys": len(inside_head.weights),
        "width": inside_head.width,
        "best": inside_head.label(inside_head.strongest),
        "score": float(inside_head.scores[inside_head.strongest]),
        "weight": float(inside_head.weights[inside_head.strongest]),
    }


def _products(record: Record) -> Mapping[str, object]:
    inside_head = _inside(record)
    products = inside_head.products(KEY)  # (d,)
    return {
        **_named(record),
        "key": inside_head.label(KEY),
        "dot": float(inside_head.dots[KEY]),
        "negative": int((products < 0).sum()),
        "largest": float(products.max()),
    }


def _scale(record: Record) -> Mapping[str, object]:
    inside_head = _inside(record)
    root = float(np.sqrt(inside_head.width))
    without = masked_softmax(inside_head.dots[None].copy(), inside_head.mask[None])[0]  # (K,)
    return {
        **_named(record),
        "dot": float(inside_head.dots[KEY]),
        "root": root,
        "key": inside_head.label(KEY),
        "score_of_key": float(inside_head.scores[KEY]),
        "without": float(without[KEY]),
        "others": float(1 - inside_head.weights[KEY]),
    }


def _ratio(record: Record) -> Mapping[str, object]:
    inside_head = _inside(record)
    first, second = (int(place) for place in np.argsort(-inside_head.weights)[:2])
    gap = float(inside_head.scores[first] - inside_head.scores[second])
    return {
        **_named(record),
        "second": inside_head.label(second),
        "gap": gap,
        "ratio": float(np.exp(gap)),
        "second_weight": float(inside_head.weights[second]),
    }


def _output(record: Record) -> Mapping[str, object]:
    inside_head, heads = _inside(record), record.attention("cross").shape[1]
    return {**_named(record), "heads": heads, "all": heads * inside_head.width}


def _rest(record: Record) -> Mapping[str, object]:
    return _named(record, 0)


def _share(record: Record) -> Mapping[str, object]:
    inside_head = _inside(record)
    assert inside_head.shares is not None
    most = int(inside_head.shares.argmax())
    other = _inside_of(record, most)
    return {
        **_named(record),
        "heads": len(inside_head.shares),
        "share": float(inside_head.shares[head_of(record)[1]]),
        "even": 1 / len(inside_head.shares),
        "most": f"H{most}",
        "most_share": float(inside_head.shares[most]),
        "most_key": other.label(other.strongest),
        "most_weight": float(other.weights[other.strongest]),
    }


LESSON = Lesson(
    "arithmetic",
    8,
    (
        Step("inside", at(head_of, **VIEW), facts=_named),
        Step("inside", at(head_of, **VIEW, follow=False, token=KEY), facts=_products, focus="inside_products"),
        Step(
            "inside", at(head_of, **VIEW, follow=False, token=KEY, order="size"), facts=_scale, focus="inside_products"
        ),
        Step("inside", at(head_of, **VIEW), facts=_ratio),
        Step("inside", at(head_of, **VIEW), facts=_output),
        Step("inside", at(head_of, kind="cross", row=0), facts=_rest),
        Step("inside", at(head_of, **VIEW, whole=False), facts=_share, focus="inside_share"),
    ),
)
