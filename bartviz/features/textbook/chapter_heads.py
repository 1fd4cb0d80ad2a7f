"""Line 35: what heads do, measured on a BERT. Those without a check need a model (``textbook.measured``)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bartviz.analysis import attention_vs_contribution, head_names
from bartviz.analysis.measures import Measured, of_record
from bartviz.arrays import Floats
from bartviz.corpus import shipped_replay
from bartviz.features.textbook.judging import (
    BERT_RUN,
    START,
    Claim,
    Evidence,
    Number,
    Share,
    Verdict,
    above,
    at_least,
    below,
)
from bartviz.language import later

FACT_RUN = {"model": BERT_RUN["model"], "text": "Snow is [MASK].", "special": "true"}
NEARLY_ALL = Share(0.9)  # "nearly every"


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


def _explains(evidence: Evidence) -> Verdict:
    (record, basis), agree, rows = evidence.shipped(START), 0, 0
    for kind in record.kinds:
        attention = record.attention(kind)
        layers, heads = attention.shape[:2]
        for layer, head in np.ndindex(layers, heads):
            found = attention_vs_contribution.weigh(attention, layer, head)
            same = found.attention.argmax(axis=1) == found.contribution.argmax(axis=1)  # (Q,)
            agree, rows = agree + int(same[found.counts].sum()), rows + int(found.counts.sum())
    numbers = (
        Number(
            later("rows of all heads in which the largest weight is also the largest addition"),
            above(NEARLY_ALL),
            Share(agree / rows),
        ),
    )
    why = later(
        "In {agree} of {rows} rows the token with the largest weight adds most to the output of its head; in the "
        "others a token with a smaller weight and a longer value does. And what a head adds, later layers may undo: "
        "to know what matters, change it and run the model again.",
        agree=agree,
        rows=rows,
    )
    return Verdict(numbers, why, basis)


def _follows(_evidence: Evidence) -> Verdict:
    replay, aligned = shipped_replay.replay(), shipped_replay.passed(shipped_replay.ALIGNS)
    translated, last = shipped_replay.translated()
    heads = len(shipped_replay.points(shipped_replay.ALIGNS))
    numbers = (
        Number(
            later("step by which half of the heads that learn to align are halfway there"),
            at_least(translated),
            aligned,
        ),
    )
    why = later(
        "While the small translator was trained, {heads} cross-attention heads learned to match each word with its "
        "translation. By step {aligned} half of these heads were halfway there; the translations had half of their "
        "final quality (BLEU {last:.1f}) by step {translated}. One training from one seed: others may differ.",
        heads=heads,
        aligned=f"{aligned:,}",
        last=last,
        translated=f"{translated:,}",
    )
    basis = later("{count} moments of a training, {texts} texts", count=len(replay.steps), texts=replay.about["texts"])
    return Verdict(numbers, why, basis)


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
    Claim("35c", "heads", ("none",), "pitfalls", {}, _explains, about="any network"),
    Claim("35d", "heads", ("bert chapter",), "experiments", FACT_RUN, about="trained"),
    Claim("35e", "heads", ("none",), "born", {}, _follows, about="any network"),
)
