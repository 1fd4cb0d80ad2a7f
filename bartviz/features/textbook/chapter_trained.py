"""Lines about training, each on small decoders that are trained now (``networks_decoder``)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bartviz.analysis import activations
from bartviz.experiments.drawn_mask import with_mask
from bartviz.features.textbook.judging import Number, Share, Verdict, above, below
from bartviz.features.textbook.networks_decoder import LENGTH, STEPS, VOCABULARY, Cancel, Decoder, entropy
from bartviz.features.textbook.sentences import TEXT
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.run.forward import capture

SEEDS = range(3)
NEAR_ZERO = 1e-4
TRAINED = later(
    "decoders of one layer trained for this, {steps} steps on chains of {length} tokens out of {vocabulary}",
    steps=STEPS,
    length=LENGTH,
    vocabulary=VOCABULARY,
)


def copying(model: Model, cancelled: Cancel) -> Verdict:
    seeing, masked = (Decoder(0, causal=causal).train(cancelled) for causal in (False, True))
    least, given, blind, writing = entropy(), seeing.given(), seeing.writing(), masked.writing()
    record = capture(model, TEXT, cancelled=cancelled)
    rows = len(record.attention("decoder").query)
    opened = with_mask(model, record, "decoder", np.ones((rows, rows), np.bool_), write=False, cancelled=cancelled)
    assert opened.before is not None  # this model writes
    assert opened.after is not None
    own, ahead = (float(found.probability.mean()) for found in (opened.before, opened.after))
    numbers = (
        Number(
            later("trained without the mask, the text given at once: loss, at least {least:.2f} for a prediction",
                  least=least),
            below(least),
            given,
        ),
        Number(later("the same network while it writes, with nothing to copy: loss"), above(writing), blind),
        Number(later("the same network: weight of a row on the next token"), above(0.5), seeing.ahead()),
        Number(later("trained with the mask: loss while it writes"), least, writing, core=False, within=Share(0.1)),
        Number(later("{model}, its mask opened after training: mean probability of its tokens", model=model.info.name),
               below(Share(own)), Share(ahead), core=False),
    )  # fmt: skip
    why = later(
        "Without the mask a small decoder reaches a loss of {given:.2f}, which no prediction can: it copies. When it "
        "writes, nothing comes after, and its loss is {blind:.2f}; that of one trained with the mask is {writing:.2f}, "
        "and the least possible {least:.2f}. A mask opened after training does not help either: {model} then gives "
        "the tokens of “{text}” {ahead:.0%} on average, and {own:.0%} with its own mask.",
        given=given,
        blind=blind,
        writing=writing,
        least=least,
        model=model.info.name,
        text=record.target_text or "",
        ahead=ahead,
        own=own,
    )
    basis = later("{first}; {second}", first=TRAINED, second=later("a run of {model}", model=model.info.name))
    return Verdict(numbers, why, basis)


def smooth(_model: Model, cancelled: Cancel) -> Verdict:
    losses = {
        name: [Decoder(seed, causal=True, activation=name).train(cancelled).given() for seed in SEEDS]
        for name in ("gelu", "relu")
    }
    gelu, relu = (float(np.mean(losses[name])) for name in ("gelu", "relu"))
    better = sum(one < other for one, other in zip(losses["gelu"], losses["relu"], strict=True))
    numbers = (
        Number(later("GELU: jump of its slope at 0"), 0, _jump(activations.gelu), within=1e-3),
        Number(later("ReLU: jump of its slope at 0"), 1, _jump(activations.relu), within=1e-3),
        Number(
            later("small decoders, {count} of each, from the same weights: those that end better with GELU",
                  count=len(SEEDS)),
            above(len(SEEDS) // 2),
            better,
        ),
    )  # fmt: skip
    why = later(
        "The curve is smooth where ReLU's slope jumps from 0 to 1. Whether that helps, only training shows: {count} "
        "small decoders end at a mean loss of {gelu:.3f} with GELU and {relu:.3f} with ReLU.",
        count=len(SEEDS),
        gelu=gelu,
        relu=relu,
    )
    return Verdict(numbers, why, TRAINED)


def _jump(curve: Callable[[activations.Doubles], activations.Doubles]) -> float:
    """How much steeper a curve is just above 0 than just below."""
    below_, at, over = curve(np.array([-NEAR_ZERO, 0.0, NEAR_ZERO])) / NEAR_ZERO
    return float((over - at) - (at - below_))
