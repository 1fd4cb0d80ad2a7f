"""Line 35: what heads do, measured on a BERT."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bartviz.analysis import head_names
from bartviz.analysis.measures import Measured, of_record
from bartviz.arrays import Floats
from bartviz.features.textbook.judging import BERT_RUN, Claim, Evidence, Number, Verdict, above, below
from bartviz.language import later


def _layers(evidence: Evidence) -> Verdict:
    record, basis, deep = evidence.read()
    found = of_record(record, "encoder")
    broad, first = (found.values[name].mean(axis=1) for name in ("evenness", "first"))  # (L,) each
    even = found.even["first"]
    numbers = (
        Number(
            later("evenness of the first layer, the last has {last:.2f}", last=float(broad[-1])),
            above(float(broad[-1])),
            float(broad[0]),
        ),
        Number(
            later("weight of layer 0 on [CLS] (even attention: {even:.2f})", even=even),
            above(float(even)),
            float(first[0]),
        ),
        Number(later("layers that give [CLS] more than layer 0 does"), 0, int((first > first[0]).sum()), core=False),
    )
    why = later(
        "{model}, {layers} layers: evenness {broad} from the first to the last (1 is even), weight on [CLS] "
        "{first}. Syntax and meaning are not measured here.",
        model=record.model.name,
        layers=len(broad),
        broad=_each(broad),
        first=_each(first),
    )
    return Verdict(numbers, why, basis, large=deep)


def _kinds(evidence: Evidence) -> Verdict:
    record, basis, deep = evidence.read()
    found = of_record(record, "encoder")
    named = _named(found)
    heads = int(np.prod(found.shape))
    neighbours = named["previous"] + named["next"]
    delimiters = int((found.values["special"] > head_names.THRESHOLD).sum())
    numbers = (
        Number(later("heads that look at the previous or the next token"), above(0), neighbours),
        Number(later("heads with more than half of their weight on [CLS] and [SEP]"), above(0), delimiters),
        Number(later("heads without a name"), below(heads), named[head_names.UNNAMED]),
    )
    why = later(
        "Of {heads} heads of {model}, {neighbours} put half of their weight on a neighbour and {delimiters} on [CLS] "
        "and [SEP]; {unnamed} have no score high enough for a name.",
        neighbours=neighbours,
        heads=heads,
        model=record.model.name,
        delimiters=delimiters,
        unnamed=named[head_names.UNNAMED],
    )
    return Verdict(numbers, why, basis, large=deep)


def _each(values: Floats) -> str:
    return " ".join(f"{value:.2f}" for value in values)


def _named(found: Measured) -> Counter[str]:
    """How many heads are named by each measure; UNNAMED counts the others."""
    named = Counter(given.measure for given in head_names.names(found).values())
    named[head_names.UNNAMED] = int(np.prod(found.shape)) - named.total()
    return named


CLAIMS: tuple[Claim, ...] = (
    Claim("35", "heads", ("bert chapter",), "compare", {"kind": "encoder", **BERT_RUN}, _layers, about="trained"),
    Claim("35b", "heads", ("bert chapter",), "compare", {"kind": "encoder", **BERT_RUN}, _kinds, about="trained"),
)
