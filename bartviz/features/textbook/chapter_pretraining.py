"""Lines 29 to 31: training objectives, and the output heads for them."""

from __future__ import annotations

import numpy as np

from bartviz.analysis.article_models import BART, BERT, T5, T5_GATED, positions, rows, sizes_of, total
from bartviz.analysis.costs import Costs
from bartviz.analysis.denoising import MASK, NOISE, text_infilling
from bartviz.features.textbook.judging import (
    BERT_RUN,
    CONFIGURATION,
    PAIR_RUN,
    START,
    Claim,
    Evidence,
    Number,
    Verdict,
    above,
    below,
    yes,
)
from bartviz.language import later, mark

TEXT = "the cat sat on the mat. it was warm there. then it slept."
SEEDS, SPAN, RATE = 200, 3, 0.15  # T5 drops 15% of the tokens in spans of 3 on average (Raffel et al. 2020, 3.3.4)


def _noise(evidence: Evidence) -> Verdict:
    made = {name: [noise(TEXT, np.random.default_rng(seed)) for seed in range(20)] for name, noise in NOISE.items()}
    masked = all(one.text.count(MASK) == len(one.lost) for one in made["token masking"])
    traceless = all(MASK not in one.text and one.lost for one in made["token deletion"])
    spans = [
        len(word.origin)
        for seed in range(SEEDS)
        for word in text_infilling(TEXT, np.random.default_rng(seed)).words
        if word.is_mask
    ]
    longest = max(spans)
    kept = all(not one.lost for name in ("sentence permutation", "document rotation") for one in made[name])
    record, basis = evidence.shipped("repair")
    numbers = (
        Number(later("noise functions"), 5, len(NOISE)),
        Number(later("masking: one mask for each lost word"), yes(True), yes(masked)),
        Number(later("deletion: no trace is left"), yes(True), yes(traceless)),
        Number(later("infilling: most words behind one mask"), above(1), longest),
        Number(later("permutation and rotation: every word is kept"), yes(True), yes(kept)),
        Number(
            later("words that count in the loss of “{text}”", text=record.source_text),
            len(record.attention("decoder").query),
            len(record.steps),
        ),
    )
    why = later(
        "On “{text}” each function does what the statement says, and the loss adds up every token of the "
        "original, not only the lost ones.",
        text=TEXT,
    )
    return Verdict(numbers, why, later("the noise functions, with fixed seeds; {second}", second=basis))


def _bottleneck(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(START)
    read_, given = len(record.attention("encoder").query), len(record.attention("cross").key)
    vectors, width = read_ * record.model.width, given * record.model.width
    head = record.attention("cross").keys.shape
    numbers = (
        Number(later("vectors that leave the encoder for {count} tokens", count=read_), below(read_), given),
        Number(later("numbers that leave it, for {count:,} that enter", count=vectors), below(vectors), width),
    )
    why = later(
        "There is no bottleneck: {read} tokens become {given} states, as wide as the embeddings, and the "
        "decoder looks at all of them in each of {heads} heads per layer.",
        read=read_,
        given=given,
        heads=head[1],
    )
    return Verdict(numbers, why, basis)


def _t5(_evidence: Evidence) -> Verdict:
    bart, t5, gated = sizes_of(BART), sizes_of(T5), sizes_of(T5_GATED)
    last = mark("{a}, {b}, {c} with a gate") if gated.gated else mark("{a}, {b}, {c}")
    numbers = (
        Number(
            later("activation of BART, T5, T5 1.1"),
            later("{a}, {b}, {c} with a gate", a="gelu", b="relu", c="gelu"),
            later(last, a=bart.activation, b=t5.activation, c=gated.activation.removesuffix("_new")),
        ),
        Number(later("norm of BART and T5"), "post, pre", f"{bart.family.norm}, {t5.family.norm}"),
        Number(later("positions of BART"), later("learned"), positions(BART)),
        Number(later("positions of T5"), later("relative"), positions(T5)),
        Number(later("one embedding for T5's encoder and decoder"), yes(True), yes(t5.shared)),
        Number(later("BART's are separate, unlike T5's"), yes(True), yes(not bart.shared), core=False),
        Number(later("T5 1.1: output layer tied to the embeddings"), yes(True), yes(gated.tied), core=False),
    )
    why = later(
        "Activation, norms and positions differ as stated; but sharing embeddings is not a difference, since "
        "BART does it too, and T5 1.1 has its own output matrix."
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _short_targets(_evidence: Evidence) -> Verdict:
    n, costs = 512, Costs(BART)
    lost = round(RATE * n)
    spans = round(lost / SPAN)
    target = lost + spans + 1  # each span with its sentinel, and the last one
    whole, short = (int(costs.operations(n, m)["multiply_adds"].sum()) for m in (n, target))
    numbers = (
        Number(later("target tokens for a text of 512, 15% lost in spans of 3"), below(n), target),
        Number(later("multiply-adds of one pass, on BART base"), below(whole), short),
    )
    why = later(
        "A target of {target} tokens instead of 512 saves {share:.0%} of a pass; the shorter source, from "
        "which T5 takes the lost tokens out, saves a little more.",
        target=target,
        share=1 - short / whole,
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _heads(_evidence: Evidence) -> Verdict:
    def added(name: str, pooler: bool = False) -> int:
        return sum(
            row.count for row in rows(BERT, name) if row.component == "head" and row.role.startswith("pooler") == pooler
        )

    width, vocabulary = sizes_of(BERT).width, sizes_of(BERT).vocabulary
    masked = width * width + 3 * width + vocabulary  # a layer of the width with bias, a norm, one bias a token
    numbers = (
        Number(later("masked-language-model head: parameters of its own"), masked, added("BertForMaskedLM")),
        Number(later("next-sentence head, 2 classes"), 2 * width + 2, added("BertForNextSentencePrediction")),
        Number(later("classifier on [CLS], 2 classes"), 2 * width + 2, added("BertForSequenceClassification")),
        Number(later("classifier of tokens, 2 classes"), 2 * width + 2, added("BertForTokenClassification")),
        Number(later("answer span, start and end"), 2 * width + 2, added("BertForQuestionAnswering")),
        Number(
            later("next sentence and classifier on [CLS]: parameters of a pooler below them"),
            0,
            added("BertForSequenceClassification", pooler=True),
            core=False,
        ),
    )
    labels, text = (
        total(BERT, name) - 2 * width - 2 for name in ("BertForTokenClassification", "BertForSequenceClassification")
    )
    why = later(
        "Token labels and answer spans add a single layer to {labels:,} parameters. Classifying a whole text "
        "adds a single layer too, but to {text:,}: before it a pooler, a layer with tanh, reads [CLS]. The "
        "masked-language-model head has one more layer.",
        labels=labels,
        text=text,
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _answer(_evidence: Evidence) -> Verdict:
    found = [row for row in rows(BERT, "BertForQuestionAnswering") if row.role == "answer span weight"]
    outputs = found[0].shape[0]
    numbers = (
        Number(later("scores for each token: start and end"), 2, outputs),
        Number(later("linear layers for them"), 2, len(found), core=False),
    )
    why = later(
        "It is one layer with two outputs, {rows} × {width}, which computes the same as two layers with one.",
        rows=outputs,
        width=found[0].shape[1],
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _last_token(_evidence: Evidence) -> Verdict:
    width, classes = sizes_of(BART).width, sizes_of(BART).labels
    own = sum(row.count for row in rows(BART, "BartForSequenceClassification") if row.component == "head")
    bert = any(row.role.startswith("pooler") for row in rows(BART, "BartForSequenceClassification"))
    layers = sum(
        row.role.endswith("weight") for row in rows(BART, "BartForSequenceClassification") if row.component == "head"
    )
    numbers = (
        Number(later("a dense layer and one of {count} classes: parameters", count=classes),
               width * width + width + classes * (width + 1), own),
        Number(later("layers of the classifier"), 2, layers),
        Number(later("a pooler on the first token, as in BERT"), yes(False), yes(bert)),
    )  # fmt: skip
    why = later(
        "Two layers on the decoder's state at the last end token, {own:,} parameters: the text is read by encoder and "
        "decoder, and only the last decoder row has seen all of it.",
        own=own,
    )
    return Verdict(numbers, why, later(CONFIGURATION))


CLAIMS: tuple[Claim, ...] = (
    Claim("29", "pretraining", ("bart chapter", "korean"), "denoising", {}, _noise),
    Claim("29b", "pretraining", ("notes", "korean"), "heads", {"kind": "cross"}, _bottleneck, about="any network"),
    Claim("30", "pretraining", ("bart chapter",), "parameters", {"of": T5_GATED}, _t5),
    Claim("30b", "pretraining", ("bart chapter",), "parameters", {"of": BART, "n": "512"}, _short_targets),
    Claim("30c", "pretraining", ("bart chapter",), "models", {}),
    Claim(
        "31c",
        "pretraining",
        ("bart chapter",),
        "parameters",
        {"of": BART, "class": "BartForSequenceClassification", "part": "head"},
        _last_token,
    ),
    Claim("31d", "pretraining", ("bert chapter",), "masks", {"view": "pattern", **BERT_RUN}, about="any network"),
    Claim(
        "31",
        "pretraining",
        ("bert chapter", "notes"),
        "parameters",
        {"of": BERT, "class": "BertForPreTraining", "part": "head"},
        _heads,
    ),
    Claim("31e", "pretraining", ("bert chapter", "notes"), "map", PAIR_RUN, about="any network"),
    Claim(
        "31b",
        "pretraining",
        ("bert chapter",),
        "parameters",
        {"of": BERT, "class": "BertForQuestionAnswering", "part": "head"},
        _answer,
    ),
)
