"""Lines about the BERT that ships: what next-sentence prediction reads, and what its sublayers are needed for.

Each check loads a network of its own, so that no other run sees what is silenced in it.
Shapes: n tokens, D width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from bartviz.errors import Cancelled
from bartviz.features.textbook.judging import BERT_RUN, Number, Verdict, above
from bartviz.features.textbook.networks import Cancel
from bartviz.features.textbook.sentences import FACTS, GRAMMAR, PAIRS
from bartviz.language import later
from bartviz.models.load import load
from bartviz.models.model import Model

MODEL = BERT_RUN["model"]
BASIS = later("runs of {model}", model=MODEL)
APART = len(PAIRS) // 2  # a first sentence and the second one of the pair this much further on do not belong together


@torch.inference_mode()
def reads_first(_model: Model, cancelled: Cancel) -> Verdict:
    model = load(MODEL)
    right, change, moved = 0, 0.0, 0.0
    for place, (first, second) in enumerate(PAIRS):
        _stop(cancelled)
        for follows, other in ((True, second), (False, PAIRS[(place + APART) % len(PAIRS)][1])):
            states = _last(model, first, other)  # (1, n, D)
            scores = _judged(model, states)
            alone, without = torch.zeros_like(states), states.clone()
            alone[:, 0], without[:, 0] = states[:, 0], 0
            change = max(change, float((_judged(model, alone) - scores).abs().max()))
            moved = max(moved, float((_judged(model, without) - scores).abs().max()))
            right += bool(scores.argmax() == 0) == follows
    every = 2 * len(PAIRS)
    numbers = (
        Number(later("all last states but that of [CLS] set to 0: largest change of a score"), 0, change),
        Number(later("that of [CLS] set to 0: largest change of a score"), above(0), moved),
        Number(later("{count} pairs, half of them of two texts: judged right", count=every), above(every // 2), right),
        Number(later("{count} pairs: judged right, if it held all that is needed", count=every), every, right,
               core=False),
    )  # fmt: skip
    why = later(
        "With every other last state set to 0 the scores change by {change:.1g}, so nothing else is read. [CLS] "
        "has to hold enough, but that does not mean that it does: {model} judges {right} of {every} pairs right, "
        "where guessing gives {half}.",
        change=change,
        model=MODEL,
        right=right,
        every=every,
        half=every // 2,
    )
    return Verdict(numbers, why, BASIS)


def _last(model: Model, first: str, second: str) -> torch.Tensor:
    network: Any = model.network
    states: torch.Tensor = network.bert(**model.tokenizer(first, second, return_tensors="pt")).last_hidden_state
    return states


def _judged(model: Model, states: torch.Tensor) -> torch.Tensor:
    """(2,): the scores that the second sentence follows, and that it does not."""
    network: Any = model.network
    scores: torch.Tensor = network.cls.seq_relationship(network.bert.pooler(states))[0]
    return scores


def facts(_model: Model, cancelled: Cancel) -> Verdict:
    model = load(MODEL)
    network: Any = model.network
    before = {gaps: _right(model, gaps) for gaps in (FACTS, GRAMMAR)}
    lost = {(gaps, part): 0.0 for gaps in before for part in ("feed-forward", "attention")}
    layers = network.bert.encoder.layer
    for layer in layers:
        for part, output in (("feed-forward", layer.output.dense), ("attention", layer.attention.output.dense)):
            _stop(cancelled)
            with _silenced(output):
                for gaps, known in before.items():
                    lost[gaps, part] += (known - _right(model, gaps)) / len(layers)
    known, of_attention = lost[FACTS, "feed-forward"], lost[FACTS, "attention"]
    grammar, of_feed_forward = lost[GRAMMAR, "attention"], lost[GRAMMAR, "feed-forward"]
    numbers = (
        Number(
            later("{count} facts: log p lost without a layer's feed-forward part, against without its attention",
                  count=len(FACTS)),
            above(of_attention),
            known,
        ),
        Number(
            later("{count} gaps of grammar: log p lost without a layer's attention, against without its feed-forward "
                  "part", count=len(GRAMMAR)),
            above(of_feed_forward),
            grammar,
        ),
    )  # fmt: skip
    why = later(
        "Without a layer's feed-forward part {model} loses {known:.1f} in log p on facts (“{fact}”) and "
        "{of_feed_forward:.1f} on grammar (“{rule}”); without its attention {of_attention:.1f} and {grammar:.1f}. That "
        "shows what is needed, not where a fact is stored.",
        fact=FACTS[0][0],
        rule=GRAMMAR[0][0],
        model=MODEL,
        known=known,
        of_attention=of_attention,
        grammar=grammar,
        of_feed_forward=of_feed_forward,
    )
    return Verdict(numbers, why, BASIS)


@torch.inference_mode()
def _right(model: Model, gaps: Sequence[tuple[str, str]]) -> float:
    """The mean log p of the words that belong in the gaps."""
    network: Any = model.network
    found = 0.0
    for text, word in gaps:
        inputs = model.tokenizer(text, return_tensors="pt")
        gap = int((inputs["input_ids"][0] == model.tokenizer.mask_token_id).nonzero()[0, 0])
        logits = network(**inputs).prediction_logits[0, gap]  # (V,)
        found += float(logits.log_softmax(-1)[model.tokenizer.convert_tokens_to_ids(word)])
    return found / len(gaps)


@contextmanager
def _silenced(output: nn.Module) -> Iterator[None]:
    """The sublayer adds nothing to the residual sum."""
    hook = output.register_forward_hook(lambda _module, _given, made: torch.zeros_like(made))
    try:
        yield
    finally:
        hook.remove()


def _stop(cancelled: Cancel) -> None:
    if cancelled():
        raise Cancelled(later("The run was stopped."))
