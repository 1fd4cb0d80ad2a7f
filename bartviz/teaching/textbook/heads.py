"""Line 35: what heads do, measured on a BERT. The small one that ships decides nothing about large ones."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bartviz.analysis import naming
from bartviz.analysis.measures import Measured, of_record
from bartviz.arrays import Floats
from bartviz.language import later
from bartviz.teaching.textbook.judging import BERT_RUN, DEEP, Claim, Evidence, Verdict, number

SMALL = later(
    "The claim is about large trained BERTs, and a model this small neither supports nor refutes it: run a trained "
    "BERT of {layers} layers or more, and it is judged by that.",
    layers=DEEP,
)


def _layers(evidence: Evidence) -> Verdict:
    record, basis, deep = evidence.read()
    found = of_record(record, "encoder")
    broad, first = (found.values[name].mean(axis=1) for name in ("evenness", "first"))  # (L,) each
    even = found.even["first"]
    numbers = (
        number(
            later("evenness of the first layer, the last has {last:.2f}", last=float(broad[-1])),
            f"> {broad[-1]:.2f}",
            round(float(broad[0]), 2),
            bool(broad[0] > broad[-1]),
        ),
        number(
            later("weight of layer 0 on [CLS], evenly it would be {even:.2f}", even=even),
            f"> {even:.2f}",
            round(float(first[0]), 3),
            bool(first[0] > even),
        ),
        number(later("layers that give [CLS] more than layer 0 does"), 0, int((first > first[0]).sum()), core=False),
    )
    measured = later(
        "{model}, {layers} layers: evenness {broad} from the first to the last (1 is even), weight on [CLS] {first}. "
        "Syntax and meaning have no measure here.",
        model=record.model.name,
        layers=len(broad),
        broad=_each(broad),
        first=_each(first),
    )
    return Verdict(numbers, measured if deep else later("{why} {small}", why=measured, small=SMALL), basis, deep)


def _kinds(evidence: Evidence) -> Verdict:
    record, basis, deep = evidence.read()
    found = of_record(record, "encoder")
    named = _named(found)
    heads = int(np.prod(found.shape))
    neighbours = named["previous"] + named["next"]
    delimiters = int((found.values["special"] > naming.THRESHOLD).sum())
    numbers = (
        number(later("heads that look at the previous or the next token"), "> 0", neighbours, neighbours > 0),
        number(
            later("heads with more than half of their weight on [CLS] and [SEP]"), "> 0", delimiters, delimiters > 0
        ),
        number(later("heads that no score names"), f"< {heads}", named[naming.UNNAMED], named[naming.UNNAMED] < heads),
    )
    measured = later(
        "Of {heads} heads of {model}, {neighbours} put half of their weight on a neighbour and {delimiters} on [CLS] "
        "and [SEP]; {unnamed} have no score high enough for a name.",
        neighbours=neighbours,
        heads=heads,
        model=record.model.name,
        delimiters=delimiters,
        unnamed=named[naming.UNNAMED],
    )
    return Verdict(numbers, measured if deep else later("{why} {small}", why=measured, small=SMALL), basis, deep)


def _each(values: Floats) -> str:
    return " ".join(f"{value:.2f}" for value in values)


def _named(found: Measured) -> Counter[str]:
    """How many heads are named by each measure; UNNAMED counts the others."""
    named = Counter(given.measure for given in naming.names(found).values())
    named[naming.UNNAMED] = int(np.prod(found.shape)) - named.total()
    return named


CLAIMS: tuple[Claim, ...] = (
    Claim("35", "heads", ("bert chapter",), "compare", {"kind": "encoder", **BERT_RUN}, _layers),
    Claim("35b", "heads", ("bert chapter",), "compare", {"kind": "encoder", **BERT_RUN}, _kinds),
)
