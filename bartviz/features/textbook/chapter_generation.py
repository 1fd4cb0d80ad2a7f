"""Lines 22 to 28: writing a text step by step. Those without a check need a model (``textbook.measured``)."""

from __future__ import annotations

import math

import numpy as np

from bartviz.analysis import head_names
from bartviz.analysis.article_models import BART, MARIAN, T5, TITLES, read, sizes_of
from bartviz.analysis.costs import Costs
from bartviz.analysis.measures import of_record
from bartviz.features.textbook.judging import (
    CONFIGURATION,
    ROUNDING,
    START,
    Claim,
    Evidence,
    Number,
    Share,
    Verdict,
    above,
)
from bartviz.language import later

TRIED = 3e19  # a billion a second for a thousand years of 3.15e7 seconds
SOURCE, TARGET = 512, 64  # tokens of a text and of its summary
ARTICLE, WANTED = "I want to buy a car", ("Ich", "will", "ein", "Auto", "kaufen")


def _expensive(_evidence: Evidence) -> Verdict:
    costs = Costs(BART)
    table = costs.operations(SOURCE, TARGET)
    once = int(table[table["side"] == "encoder"]["multiply_adds"].sum())
    steps = costs.generation(SOURCE, TARGET)
    every, again = int(steps["cached"].sum()), once * TARGET
    short = costs.generation(64, TARGET)["cached"].sum()
    small = costs.operations(64, TARGET)
    small_once = int(small[small["side"] == "encoder"]["multiply_adds"].sum())
    numbers = (
        Number(
            later("{n} source tokens, {m} steps: the encoder's multiply-adds", n=SOURCE, m=TARGET), above(every), once
        ),
        Number(
            later("saved by encoding once instead of at each step"),
            above(Share(0.9)),
            Share(1 - (once + every) / (again + every)),
        ),
        Number(
            later("{n} source tokens, {m} steps: the encoder's multiply-adds", n=64, m=TARGET),
            above(int(short)),
            small_once,
            core=False,
        ),
    )
    why = later(
        "For a long text and a short summary it is {share:.0%} of the work; if the output is as long as the "
        "input, the decoder is the expensive part.",
        share=once / (once + every),
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _product(evidence: Evidence) -> Verdict:
    record, basis, _deep = evidence.written()
    chosen = [step.chosen.probability for step in record.steps]
    product, total = math.prod(chosen), record.log_probability
    logs = sum(math.log(max(one, 1e-300)) for one in chosen)
    numbers = (
        Number(
            later("product of {steps} probabilities", steps=len(chosen)), math.exp(total), product, within=Share(1e-4)
        ),
        Number(later("sum of their logarithms"), total, logs, within=ROUNDING),
    )
    why = later(
        "p = {p:.3g}, log p = {log:.2f}. This is the chain rule; Bayes' rule, which one article names "
        "instead, reverses a condition and is not needed.",
        p=product,
        log=total,
    )
    return Verdict(numbers, why, basis)


def _start(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(START)
    given = record.attention("decoder").query.labels[0]
    config = read(BART)
    numbers = [
        Number(
            later("BART base: first decoder id"), int(config["bos_token_id"]), int(config["decoder_start_token_id"])
        ),
        Number(later("first decoder input of the BART that ships"), "<s>", given),
    ]
    for name in (MARIAN, T5):
        found = read(name)
        label = later("{model}: it starts from a padding token", model=TITLES[name])
        start, pad = int(found["decoder_start_token_id"]), int(found["pad_token_id"])
        numbers.append(Number(label, pad, start, core=False))
    why = later(
        "A start token is needed, but BART's is {given} (id {start}), its end token, and Marian and T5 start from "
        "their padding token; <s> is what BART then writes first.",
        given=given,
        start=config["decoder_start_token_id"],
    )
    return Verdict(tuple(numbers), why, later("{first}; {second}", first=later(CONFIGURATION), second=basis))


def _last_head(evidence: Evidence) -> Verdict:
    record, basis, deep = evidence.written()
    scores = of_record(record, "cross").values["alignment"]  # (L, H)
    layer, head = (int(place) for place in np.unravel_index(int(np.nanargmax(scores)), scores.shape))
    last, best, better = float(scores[-1, 0]), float(scores[layer, head]), int((scores > scores[-1, 0]).sum())
    numbers = (
        Number(
            later("last layer, first head: weight on words that choose each other"), above(head_names.THRESHOLD), last
        ),
        Number(later("heads that align better"), 0, better, core=False),
    )
    why = later(
        "In this text it puts {last:.3f} of its weight on pairs of words that choose each other; {better} of {heads} "
        "heads do better, L{layer}H{head} best with {best:.3f}. Special tokens take a part of every row.",
        last=last,
        better=better,
        heads=scores.size,
        layer=layer,
        head=head,
        best=best,
    )
    return Verdict(numbers, why, basis, large=deep)


def _car(evidence: Evidence) -> Verdict:
    record, basis, deep = evidence.written()
    if record.source_text.rstrip(".") != ARTICLE:
        (record, basis), deep = evidence.shipped(START), False
    labels = [step.chosen.label.strip(" ▁") for step in record.steps]
    words = [label for label in labels if label.isalpha()]
    same = sum(one == other for one, other in zip(words, WANTED, strict=False))
    numbers = (
        Number(later("words as in the article"), len(WANTED), same),
        Number(later("words that it writes"), len(WANTED), len(words)),
        Number(later("token that ends the text"), "</s>", labels[-1]),
    )
    why = later(
        "{model} writes “{text}”: {same} of {words} words are the article's. The end token ends it.",
        model=record.model.name,
        text=record.target_text,
        same=same,
        words=len(WANTED),
    )
    return Verdict(numbers, why, basis, large=deep)


def _space(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(START)
    length, tiny, base = len(record.steps) - 2, record.model.vocabulary, sizes_of(BART).vocabulary
    numbers = (
        Number(
            later("texts of {n} tokens, vocabulary {size:,}", n=length, size=tiny), above(TRIED), float(tiny**length)
        ),
        Number(
            later("texts of {n} tokens, vocabulary {size:,}", n=length, size=base), above(TRIED), float(base**length)
        ),
    )
    why = later(
        "A text of {n} tokens is one of {size:,}^{n}; a billion tried each second for a thousand years are about "
        "{tried:.0e}.",
        n=length,
        size=base,
        tried=TRIED,
    )
    return Verdict(numbers, why, later("{first}; {second}", first=later(CONFIGURATION), second=basis))


CLAIMS: tuple[Claim, ...] = (
    Claim("22", "generation", ("seq", "bart chapter"), "decoding", {}, about="any network"),
    Claim("22b", "generation", ("korean",), "heads", {"kind": "cross"}, about="any network"),
    Claim("22c", "generation", ("bart chapter",), "parameters", {"of": BART, "n": "512"}, _expensive),
    Claim(
        "22d", "generation", ("bart chapter", "korean"), "experiments", {"experiment": "ablation"}, about="any network"
    ),
    Claim("23", "generation", ("seq", "korean"), "decoding", {}, _product, about="any network"),
    Claim("23b", "generation", ("seq",), "decoding", {}, _space),
    Claim("24b", "generation", ("seq",), "decoding", {}, about="trained"),
    Claim("25c", "generation", ("bart chapter",), "heads", {"kind": "cross"}),
    Claim("25d", "generation", ("bart chapter",), "decoding", {}, about="any network"),
    Claim("28b", "generation", ("seq",), "decoding", {}, about="trained"),
    Claim("24", "generation", ("seq", "bart chapter"), "decoding", {"step": "1"}, _start),
    Claim(
        "25",
        "generation",
        ("bart chapter",),
        "heads",
        {"kind": "cross", "layer": "3", "head": "0"},
        about="any network",
    ),
    Claim(
        "25b",
        "generation",
        ("bart chapter",),
        "alignment",
        {"align": "head", "layer": "3", "head": "0"},
        _last_head,
        about="trained",
    ),
    Claim("26", "generation", ("seq",), "decoding", {"step": "3"}, _car, about="trained"),
    Claim("27", "generation", ("korean",), "decoding", {}, about="trained"),
    Claim("28", "generation", ("seq",), "parameters", {"of": BART, "part": "head"}, about="any network"),
)
