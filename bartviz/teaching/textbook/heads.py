"""Line 35: what heads do, measured on the shipped BERT."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bartviz.analysis import naming
from bartviz.analysis.measures import Measured, of_record
from bartviz.language import later
from bartviz.teaching.textbook.judging import BERT_RUN, START, WORDS_RECORD, Claim, Evidence, Verdict, number


def _layers(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(WORDS_RECORD)
    found = of_record(record, "encoder")
    broad, first = (found.values[name].mean(axis=1) for name in ("evenness", "first"))  # (L,) each
    other = of_record(evidence.shipped(START)[0], "encoder").values["evenness"].mean(axis=1)
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
        number(
            later("the same of the BART that ships: evenness of the first layer"),
            f"> {other[-1]:.2f}",
            round(float(other[0]), 2),
            bool(other[0] > other[-1]),
            core=False,
        ),
    )
    why = later(
        "In {model} it is the other way round: evenness rises from {low:.2f} to {high:.2f} (1 is even), and [CLS] gets "
        "{cls:.0%}. It has 4 layers, where the research had 12; syntax and meaning have no measure here.",
        model=record.model.name,
        low=float(broad[0]),
        high=float(broad[-1]),
        cls=float(first.max()),
    )
    return Verdict(numbers, why, basis)


def _kinds(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(WORDS_RECORD)
    found = of_record(record, "encoder")
    named = _named(found)
    heads = int(np.prod(found.shape))
    neighbours = named["previous"] + named["next"]
    start = _named(of_record(evidence.shipped(START)[0], "encoder"))
    own = start["special"] + start["first"]
    delimiters = float(found.values["special"].max())
    numbers = (
        number(later("heads that look at the previous or the next token"), "> 0", neighbours, neighbours > 0),
        number(
            later("largest weight of a head on [CLS] and [SEP]"),
            "> 50%",
            f"{delimiters:.0%}",
            delimiters > 0.5,
            core=False,
        ),
        number(later("the BART that ships: encoder heads that look at <s> and </s>"), "> 0", own, own > 0, core=False),
        number(later("heads that no score names"), f"< {heads}", named[naming.UNNAMED], named[naming.UNNAMED] < heads),
    )
    why = later(
        "{neighbours} of {heads} heads of {model} put half of their weight on a neighbour, but none more than "
        "{special:.0%} on [CLS] and [SEP], and {unnamed} have no score high enough for a name; of the BART that ships "
        "{own} encoder heads look mostly at <s> and </s>.",
        own=own,
        neighbours=neighbours,
        heads=heads,
        model=record.model.name,
        special=delimiters,
        unnamed=named[naming.UNNAMED],
    )
    return Verdict(numbers, why, basis)


def _named(found: Measured) -> Counter[str]:
    """How many heads are named by each measure; UNNAMED counts the others."""
    named = Counter(given.measure for given in naming.names(found).values())
    named[naming.UNNAMED] = int(np.prod(found.shape)) - named.total()
    return named


CLAIMS: tuple[Claim, ...] = (
    Claim("35", "heads", ("bert chapter",), "compare", {"kind": "encoder", **BERT_RUN}, _layers),
    Claim("35b", "heads", ("bert chapter",), "compare", {"kind": "encoder", **BERT_RUN}, _kinds),
)
