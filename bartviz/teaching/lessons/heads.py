"""Heads and layers: many ways of looking at once, some of them with a recognisable job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np

from bartviz.analysis.measures import of_record
from bartviz.arrays import Floats
from bartviz.language import _, mark
from bartviz.record.record import Record
from bartviz.teaching.lessons import facts
from bartviz.teaching.lessons.lesson import Lesson, Step

NEXT, PREVIOUS = (0, 3), (0, 1)  # heads of bert-tiny-en
ROW = 8  # "because"
REST, REST_ROW = (3, 5), 4  # the head of the translator's encoder that looks most at special tokens; "buy"
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
        "layers": attention.shape[0],
        "each": attention.shape[1],
        "heads": attention.shape[0] * attention.shape[1],
        "blurred": f"L{int(np.argmax(bits))}",
        "bits": max(bits),
        "fewest": min(bits),
        "clear": reduce(lambda one, other: _("{one} and {other}", one=one, other=other), near),
    }


def _neighbour(record: Record, head: tuple[int, int], by: int) -> Mapping[str, object]:
    return {
        **facts.looks_at(record, "encoder", *head, ROW),
        "row": record.attention("encoder").query.labels[ROW],
        **facts.goes(facts.weights(record, "encoder", *head), by),
    }


def _next(record: Record) -> Mapping[str, object]:
    return _neighbour(record, NEXT, 1)


def _previous(record: Record) -> Mapping[str, object]:
    return _neighbour(record, PREVIOUS, -1)


def _mean(record: Record) -> Mapping[str, object]:
    mean = record.attention("encoder").layer(0).mean(axis=0)  # (Q, K)
    shares = {"previous": facts.goes(mean, -1)["share"], "next": facts.goes(mean, 1)["share"]}
    return {"heads": record.attention("encoder").shape[1], **shares}


def _rest(record: Record) -> Mapping[str, object]:
    key = record.attention("encoder").key
    share, even = facts.special_share(record, "encoder", *REST), float(np.mean(key.special))
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
    mark("Heads and layers"),
    mark("Many heads look at once, each in its own way. Some have a job that one can see, most do not."),
    7,
    (
        Step(
            "heads",
            mark(
                "Each small map is a head of the translator's cross-attention: layers go down, heads across. All of "
                "them looked at the same sentence."
            ),
            mark("How many heads are there? In which layer do the maps look most blurred?"),
            mark(
                "{layers} layers of {each}, so {heads} heads. Most blurred is {blurred}, {bits:.1f} bits a row on "
                "average; clearest are {clear} with {fewest:.1f}. The first layer still looks around."
            ),
            {"kind": "cross", "layer": 0, "head": 0, "row": 5},
            facts=_overview,
        ),
        Step(
            "heads",
            mark("Another model, BERT, and another sentence. In the first layer one map is almost a single line."),
            mark("What is the job of this head? Follow a few rows: each row is a token that looks."),
            mark(
                "It looks at the next token: “{row}” at “{key}” with {weight:.2f}. Of the weight of all rows "
                "{share:.0%} goes one token on; evenly it would be {even:.0%}. A job that one can see, and that "
                "nobody programmed."
            ),
            {"kind": "encoder", "layer": NEXT[0], "head": NEXT[1], "row": ROW},
            facts=_next,
            record="words",
        ),
        Step(
            "heads",
            mark("The same layer, two heads to the left. Again a line, but not the same one."),
            mark("What has changed?"),
            mark(
                "This head looks at the token before: “{row}” at “{key}” with {weight:.2f}; {share:.0%} of "
                "the weight of all rows goes one token back. With the two of them each token learns about both of its "
                "neighbours."
            ),
            {"kind": "encoder", "layer": PREVIOUS[0], "head": PREVIOUS[1], "row": ROW},
            facts=_previous,
            record="words",
        ),
        Step(
            "heads",
            mark("Now the mean over all {heads} heads of that layer, both of these among them."),
            mark("Where have the two clear lines gone?"),
            mark(
                "They are pale: {previous:.0%} of the weight goes to the token before, {next:.0%} to the next one. "
                "The mean looks both ways and at everything else; none of its heads looks like that. Look at heads "
                "before you look at means."
            ),
            {"kind": "encoder", "weights": "layer", "layer": 0, "row": ROW},
            facts=_mean,
            record="words",
        ),
        Step(
            "heads",
            mark("Back to the translator: a head of its encoder's last layer. The columns at both edges stand out."),
            mark("Which tokens are they, and why would so many others look there?"),
            mark(
                "“{first}” and “{last}”, where the sentence begins and ends: they get {share:.0%} of the weight "
                "(evenly it would be {even:.0%}). They say nothing about the sentence. A head that finds "
                "nothing to do rests there."
            ),
            {"kind": "encoder", "layer": REST[0], "head": REST[1], "row": REST_ROW},
            facts=_rest,
        ),
        Step(
            "compare",
            mark(
                "Every head of BERT as a point: how much it looks at the previous token goes across, how much at the "
                "next one goes up. Stronger points are later layers; the colours of the matrix beside it are another "
                "measure, entropy."
            ),
            mark("Which point lies furthest to the right, and which one highest?"),
            mark(
                "{previous} furthest to the right ({previous_share:.2f}), {next} highest ({next_share:.2f}); rows "
                "of special tokens do not count here. Of {heads} heads, {many_previous} give more than half of their "
                "weight to the one neighbour, {many_next} to the other. Most heads have no such job."
            ),
            {"kind": "encoder", "x": "previous", "y": "next", "colour": "entropy"},
            facts=_points,
            record="words",
        ),
    ),
)
