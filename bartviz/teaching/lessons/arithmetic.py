"""One head's arithmetic: query, keys, scores, softmax, values, with the model's own numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis.inside import Inside, inside
from bartviz.language import mark
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
    mark("One head, number by number"),
    mark("From a query and keys to scores, weights and the output: every number is the model's own."),
    8,
    (
        Step(
            "inside",
            mark(
                "One head, one row: it reads “{reads}” and is about to predict “{predicts}”. Its query meets the keys "
                "of {keys} English tokens. Read from left to right: query, keys, scores, weights."
            ),
            mark("Which key has the highest score? Does it get the largest weight as well?"),
            mark(
                "“{best}”: score {score:.2f}, weight {weight:.2f}. The largest score always gets the largest weight: "
                "the softmax keeps the order."
            ),
            VIEW,
            facts=_named,
        ),
        Step(
            "inside",
            mark(
                "Below the row, one key is taken apart: each bar is one number of the query times the same number "
                "of the key “{key}”."
            ),
            mark("How many products are there, and what becomes of them?"),
            mark(
                "{width}, one for each dimension, and they are added up: {dot:.2f}. {negative} of them are negative "
                "and pull down; the largest gives {largest:.2f}. No single dimension decides."
            ),
            {**VIEW, "follow": False, "token": KEY},
            facts=_products,
            focus="inside_products",
        ),
        Step(
            "inside",
            mark(
                "The same products, the largest first. Their sum, {dot:.2f}, is not the score yet: it is divided by "
                "the square root of the width, √{width} = {root:.2f}."
            ),
            mark("The score is {score_of_key:.2f} then. What would the weight be without the division?"),
            mark(
                "{without:.3f} instead of {weight:.3f}: the softmax would see “{key}” alone. Long vectors make large "
                "sums, and the division keeps the softmax from turning into all or nothing."
            ),
            {**VIEW, "follow": False, "token": KEY, "order": "size"},
            facts=_scale,
            focus="inside_products",
        ),
        Step(
            "inside",
            mark(
                "From scores to weights. “{best}” comes first, “{second}” second; the score of the first is larger by "
                "{gap:.2f}."
            ),
            mark("How many times as large is its weight?"),
            mark(
                "e to the power of {gap:.2f}, that is {ratio:.0f} times: {weight:.3f} against {second_weight:.3f}. "
                "The softmax makes differences of scores into ratios of weights, and all weights sum to 1."
            ),
            VIEW,
            facts=_ratio,
        ),
        Step(
            "inside",
            mark(
                "On the right is what each token gives: weight × value. Each strip is a value already multiplied by "
                "its weight; the strip above them, the output, is their sum."
            ),
            mark("How many numbers does the head put out, and whose are they mostly?"),
            mark(
                "{width}, and {weight:.0%} of the value of “{best}” is in them. That is all a head can do: mix "
                "the values it looks at. {heads} heads side by side give {all} numbers, the width of the model."
            ),
            VIEW,
            facts=_output,
        ),
        Step(
            "inside",
            mark(
                "The first row of the same head: it reads the start token and predicts “{predicts}”. Nothing has been "
                "written yet."
            ),
            mark("There is nothing to translate. Where does the head look all the same?"),
            mark(
                "Mostly at “{best}” ({weight:.2f}). A row must share out a whole 1, also when it needs nothing, and a "
                "special token is a harmless place to put it."
            ),
            {**VIEW, "row": 0},
            facts=_rest,
        ),
        Step(
            "inside",
            mark(
                "Back to the row that predicts “{predicts}”. Further down: how much of what the layer adds comes from "
                "each of its {heads} heads, by the length of their vectors."
            ),
            mark("This head looks so clearly at “{best}”. Does it also add the most?"),
            mark(
                "Here it does: {share:.0%}, where an even part is {even:.1%}. {least} looks less clearly, but still "
                "with {least_weight:.2f}, at “{least_key}”, and adds least, {least_share:.0%}. Looking is not "
                "adding."
            ),
            {**VIEW, "whole": False},
            facts=_share,
            focus="inside_share",
        ),
    ),
)
