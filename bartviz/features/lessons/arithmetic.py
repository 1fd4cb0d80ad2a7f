"""One head's arithmetic: query, keys, scores, softmax, values, with the model's own numbers.

Its row is that of the word which the start page tells a newcomer to follow, its key the one that the row looks at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from bartviz.analysis import start
from bartviz.analysis.inside import Inside, inside
from bartviz.features.lessons.answers import Choice, Number, Spot, Touch, strongest
from bartviz.features.lessons.heads_found import at, head_of
from bartviz.features.lessons.lesson import Lesson, Step, Value, View, any_record
from bartviz.language import _
from bartviz.record.record import Record
from bartviz.record.softmax import masked_softmax


def _row(record: Record) -> int:
    return start.row_of(record, "cross")


def _key(record: Record) -> int:
    return _inside(record).strongest


def _inside(record: Record, row: int | None = None) -> Inside:
    return inside(record.attention("cross"), *head_of(record), _row(record) if row is None else row)


def _inside_of(record: Record, head: int) -> Inside:
    return inside(record.attention("cross"), head_of(record)[0], head, _row(record))


def _named(record: Record, row: int | None = None) -> dict[str, object]:
    inside_head, row = _inside(record, row), _row(record) if row is None else row
    assert record.output is not None
    return {
        "reads": inside_head.query_label,
        "predicts": record.output.labels[row],
        "keys": len(inside_head.weights),
        "width": inside_head.width,
        "heads": record.attention("cross").shape[1],
        "all": record.attention("cross").shape[1] * inside_head.width,
        "best": inside_head.label(inside_head.strongest),
        "score": float(inside_head.scores[inside_head.strongest]),
        "weight": float(inside_head.weights[inside_head.strongest]),
    }


def _products(record: Record) -> Mapping[str, object]:
    inside_head, key = _inside(record), _key(record)
    products = inside_head.products(key)  # (d,)
    return {
        **_named(record),
        "key": inside_head.label(key),
        "dot": float(inside_head.dots[key]),
        "negative": int((products < 0).sum()),
        "largest": float(products.max()),
        "many": bool(products.max() < inside_head.dots[key] / 2),
    }


def _scale(record: Record) -> Mapping[str, object]:
    inside_head, key = _inside(record), _key(record)
    root = float(np.sqrt(inside_head.width))
    without = masked_softmax(inside_head.dots[None].copy(), inside_head.mask[None])[0]  # (K,)
    return {
        **_named(record),
        "dot": float(inside_head.dots[key]),
        "root": root,
        "key": inside_head.label(key),
        "score_of_key": float(inside_head.scores[key]),
        "without": float(without[key]),
        "others": float(1 - inside_head.weights[key]),
        "helps": bool(without[key] > 0.99 and inside_head.weights[key] < 0.95),
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
        "down": int(gap),
        "up": int(gap) + 1,
        "least_ratio": float(np.exp(int(gap))),
        "most_ratio": float(np.exp(int(gap) + 1)),
    }


def _scores(record: Record) -> list[Spot]:
    return strongest(_inside(record).scores, _inside(record).keys.labels)


def _width(record: Record) -> float:
    return float(_inside(record).width)


def _times(record: Record) -> float:
    first, second = sorted(_inside(record).scores.tolist(), reverse=True)[:2]
    return float(np.exp(first - second))


def _output(record: Record) -> Mapping[str, object]:
    return _named(record)


def _rest(record: Record) -> Mapping[str, object]:
    special = record.attention("cross").key.special
    return {**_named(record, 0), "special": bool(special[_inside(record, 0).strongest])}


def _rested(record: Record) -> list[Spot]:
    return strongest(_inside(record, 0).weights, _inside(record, 0).keys.labels)


def _share(record: Record) -> Mapping[str, object]:
    inside_head = _inside(record)
    assert inside_head.shares is not None
    most = int(inside_head.shares.argmax())
    other = _inside_of(record, most)
    return {
        **_named(record),
        "heads": len(inside_head.shares),
        "share": float(inside_head.shares[head_of(record)[1]]),
        "less": most != head_of(record)[1],
        "even": 1 / len(inside_head.shares),
        "most": f"H{most}",
        "most_share": float(inside_head.shares[most]),
        "most_key": other.label(other.strongest),
        "most_weight": float(other.weights[other.strongest]),
    }


def _shares(record: Record) -> list[Spot]:
    """The heads of the layer, by how much each adds; that of the lesson has its own case."""
    shares, own = _inside(record).shares, head_of(record)[1]
    assert shares is not None
    return [
        Spot(
            f"H{head}",
            bool(share == shares.max()),
            {"touched": f"H{head}", "value": float(share)},
            "own" if head == own else "no",
        )
        for head, share in enumerate(shares)
    ]


def _lacks_division(record: Record) -> str:
    """Why the division cannot be asked about: without it the weight would not be nearly all."""
    return "" if _scale(record)["helps"] else _("the division changes little in this text")


def _lacks_gap(record: Record) -> str:
    first, second = sorted(_inside(record).weights.tolist(), reverse=True)[:2]
    return "" if first >= 2 * second else _("two tokens have nearly the same weight in this text")


def _lacks_most(record: Record, row: int | None = None) -> str:
    """Why a row cannot be said to look mostly at one token."""
    return "" if _inside(record, row).weights.max() > 0.5 else _("no token has more than half of the weight here")


def _lacks_values(record: Record) -> str:
    return "" if _inside(record).shares is not None else _("this record was made without values")


def _lacks_output(record: Record) -> str:
    return _lacks_values(record) or _lacks_most(record)


def _in_row(**view: Value) -> Callable[[Record], View]:
    """A view of the head at the row; ``token``: and at the key, where it is there."""

    def shown(record: Record) -> View:
        key = {"token": _key(record)} if "token" in view else {}
        return {**at(head_of, kind="cross")(record), "row": _row(record), **view, **key}

    return shown


LESSON = Lesson(
    "arithmetic",
    8,
    (
        Step("inside", _in_row(), facts=_named, answer=Touch("point", _scores), own=any_record),
        Step(
            "inside",
            _in_row(follow=False, token=True),
            facts=_products,
            focus="inside_products",
            answer=Number(_width),
            own=any_record,
        ),
        Step(
            "inside",
            _in_row(follow=False, token=True, order="size"),
            facts=_scale,
            focus="inside_products",
            answer=Choice(),
            own=_lacks_division,
        ),
        Step("inside", _in_row(), facts=_ratio, answer=Number(_times, within=0.3), own=_lacks_gap),
        Step("inside", _in_row(), facts=_output, answer=Choice(), own=_lacks_output),
        Step(
            "inside",
            at(head_of, kind="cross", row=0),
            facts=_rest,
            answer=Touch("point", _rested),
            own=partial(_lacks_most, row=0),
        ),
        Step(
            "inside",
            _in_row(whole=False),
            facts=_share,
            focus="inside_share",
            answer=Touch("point", _shares),
            own=_lacks_values,
        ),
    ),
)
