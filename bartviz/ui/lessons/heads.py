"""Heads and layers: many ways of looking at once, some of them with a recognisable job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np

from bartviz.analysis.measures import of_record
from bartviz.attention import Floats
from bartviz.language import _, mark
from bartviz.record import Record
from bartviz.ui.lessons import facts
from bartviz.ui.lessons.lesson import Lesson, Step

NEXT, PREVIOUS, SINK = (0, 3), (0, 1), (3, 5)  # heads of bert-tiny-en
ROW = 8  # "because"
NEAR = 0.05  # bits: layers this near to the clearest are as clear as it is


def _entropy(weights: Floats) -> float:
    """Bits, the mean over rows and heads of weights (H, Q, K)."""
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    return float(-(weights * logs).sum(axis=-1).mean())


def _overview(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    bits = [_entropy(attention.layer(layer)) for layer in range(attention.shape[0])]
    near = [f"L{layer}" for layer, one in enumerate(bits) if one < min(bits) + NEAR]
    return {
        "layers": attention.shape[0], "each": attention.shape[1], "heads": attention.shape[0] * attention.shape[1],
        "blurred": f"L{int(np.argmax(bits))}", "bits": max(bits), "fewest": min(bits),
        "clear": reduce(lambda one, other: _("{one} and {other}", one=one, other=other), near),
    }  # fmt: skip


def _offset(record: Record, head: tuple[int, int], by: int) -> Mapping[str, object]:
    weights = facts.weights(record, "encoder", *head)
    count = len(weights)
    rows = np.arange(max(0, -by), count - max(0, by))
    line = weights[rows, rows + by]
    return {
        **facts.looks_at(record, "encoder", *head, ROW), "mean": float(line.mean()), "count": len(line),
        "row": record.attention("encoder").query.labels[ROW],
    }  # fmt: skip


def _next(record: Record) -> Mapping[str, object]:
    return _offset(record, NEXT, 1)


def _previous(record: Record) -> Mapping[str, object]:
    return _offset(record, PREVIOUS, -1)


def _mean(record: Record) -> Mapping[str, object]:
    layer = record.attention("encoder").layer(0).mean(axis=0)  # (Q, K)
    rows = np.arange(1, len(layer) - 1)
    return {
        "heads": record.attention("encoder").shape[1], "next": float(layer[rows, rows + 1].mean()),
        "previous": float(layer[rows, rows - 1].mean()),
    }  # fmt: skip


def _sink(record: Record) -> Mapping[str, object]:
    attention = record.attention("encoder")
    weights, last = facts.weights(record, "encoder", *SINK), len(attention.key) - 1
    return {
        "key": attention.key.labels[last], "share": float(weights[:, last].mean()), "even": 1 / len(attention.key),
        "rows": int((weights.argmax(axis=1) == last).sum()), "all": len(weights),
    }  # fmt: skip


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
    mark("Heads and layers"),
    mark("Many heads look at once, each in its own way. Some have a job that one can see, most do not."),
    7,
    (
        Step(
            "heads",
            mark("Each small map is a head of the translator's cross-attention: layers go down, heads across. All of "
                 "them looked at the same sentence."),
            mark("How many heads are there? In which layer do the maps look most blurred?"),
            mark("{layers} layers of {each}, so {heads} heads. Most blurred is {blurred}, {bits:.1f} bits a row on "
                 "average; clearest are {clear} with {fewest:.1f}. The first layer still looks around."),
            {"kind": "cross", "layer": 0, "head": 0, "row": 5},
            facts=_overview,
        ),
        Step(
            "heads",
            mark("Another model, BERT, and another sentence. In the first layer one map is almost a single line."),
            mark("What is the job of this head? Follow a few rows: each row is a token that looks."),
            mark("It looks at the next token: “{row}” at “{key}” with {weight:.2f}, and on average every one of "
                 "{count} tokens with {mean:.2f}. A job that one can see, and that nobody programmed."),
            {"kind": "encoder", "layer": NEXT[0], "head": NEXT[1], "row": ROW},
            facts=_next,
            record="words",
        ),
        Step(
            "heads",
            mark("The same layer, two heads to the left. Again a line, but not the same one."),
            mark("What has changed?"),
            mark("This head looks at the token before: “{row}” at “{key}” with {weight:.2f}, on average {mean:.2f}. "
                 "With the two of them each token learns about both of its neighbours."),
            {"kind": "encoder", "layer": PREVIOUS[0], "head": PREVIOUS[1], "row": ROW},
            facts=_previous,
            record="words",
        ),
        Step(
            "heads",
            mark("Now the mean over all {heads} heads of that layer, both of these among them."),
            mark("Where have the two clear lines gone?"),
            mark("They are pale: {previous:.2f} on the token before, {next:.2f} on the next one. The mean looks both "
                 "ways and at everything else; none of its heads looks like that. Look at heads before you look at "
                 "means."),
            {"kind": "encoder", "weights": "layer", "layer": 0, "row": ROW},
            facts=_mean,
            record="words",
        ),
        Step(
            "heads",
            mark("A head of the last layer. One column stands out."),
            mark("Which token is it, and why would so many tokens look there?"),
            mark("“{key}”: {share:.2f} of the weight (evenly it would be {even:.2f}), and {rows} of {all} rows look "
                 "there most. It says nothing about the sentence. A head that finds nothing to do rests there."),
            {"kind": "encoder", "layer": SINK[0], "head": SINK[1], "row": ROW},
            facts=_sink,
            record="words",
        ),
        Step(
            "compare",
            mark("Every head as a point: how much it looks at the previous token goes across, how much at the next one "
                 "goes up. Stronger points are later layers; the colours of the matrix beside it are another measure, "
                 "entropy."),
            mark("Which point lies furthest to the right, and which one highest?"),
            mark("{previous} furthest to the right ({previous_share:.2f}), {next} highest ({next_share:.2f}). Of "
                 "{heads} heads, {many_previous} give more than half of their weight to the one neighbour, {many_next} "
                 "to the other. Most heads have no such job."),
            {"kind": "encoder", "x": "previous", "y": "next", "colour": "entropy"},
            facts=_points,
            record="words",
        ),
    ),
)  # fmt: skip
