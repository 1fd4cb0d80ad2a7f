"""Attribution by erasure: what f loses when a token is replaced.

Letters in shapes: B runs in one batch, n tokens of a stack, T steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from bartviz.arrays import Bools, Floats
from bartviz.attribution.question import Parts, Question
from bartviz.errors import SettingError
from bartviz.experiments.replay import Outcome
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.text.tokens import Tokens


def replacement(model: Model) -> int:
    """The id that stands in place of a word that is taken away: the mask token, or where a model has none the unknown
    token, the padding or the end. Raises SettingError for a tokenizer without any of these."""
    words = model.tokenizer
    for token in (words.mask_token_id, words.unk_token_id, words.pad_token_id, words.eos_token_id):
        if isinstance(token, int) and token < model.info.vocabulary:
            return token
    raise SettingError(
        later("This model has no token that could stand in place of a word: choose a method that replaces none.")
    )


def erased(question: Question) -> tuple[Tensor, ...]:
    """The ids (1, n) that each stack reads, with every word replaced; special tokens stay."""
    token = replacement(question.model)
    parts = [(question.replay.source, question.record.source)]
    if question.reads is not None:
        parts.append((question.reads, question.record.attention("decoder").query))
    return tuple(
        ids.masked_fill(torch.from_numpy(~tokens.special[: ids.shape[1]])[None], token) for ids, tokens in parts
    )


def leave_one_out(question: Question) -> Parts:
    """f of the text minus f of the text in which one token is replaced (Li, Monroe and Jurafsky 2016, as a
    difference): in nats, positive where the token speaks for the word. Special tokens are not replaced: they are 0.
    """
    replay, token = question.replay, replacement(question.model)
    rows, last = question.rows.tolist(), int(question.rows.max())

    def source(ids: Tensor, copies: int) -> Outcome:
        return replay.run(question.tape(copies), source=ids, target=question.reads, copies=copies, rows=rows)

    def target(ids: Tensor, copies: int) -> Outcome:
        return replay.run(question.tape(copies), target=ids, copies=copies, encoded=question.encoded, rows=rows)

    read = question.record.source
    if question.reads is None:
        seen = np.arange(len(read)) <= last if question.kind == "decoder" else np.ones(len(read), np.bool_)
        return Parts(_losses(question, replay.source, read, seen, token, source, (0, 1)))
    inputs, parts = question.record.attention("decoder").query, 1 if question.source_alone else 2
    losses = _losses(question, replay.source, read, np.ones(len(read), np.bool_), token, source, (0, parts))
    if question.source_alone:
        return Parts(losses)
    return Parts(
        losses, _losses(question, question.reads, inputs, np.arange(len(inputs)) <= last, token, target, (1, 2))
    )


def _losses(
    question: Question,
    ids: Tensor,
    tokens: Tokens,
    seen: Bools,
    token: int,
    run: Callable[[Tensor, int], Outcome],
    part: tuple[int, int],
) -> Floats:
    """(T, n) what f loses by each token of a stack, which is one part of the work."""
    own = torch.from_numpy(question.explained.copy())
    places = np.flatnonzero(seen & ~tokens.special)
    losses = np.zeros((len(own), len(tokens)), np.float32)
    for batch in question.batches(len(places), part):
        at = places[batch.start : batch.stop]
        changed = ids.repeat(len(at), 1)  # (B, n)
        changed[torch.arange(len(at)), torch.from_numpy(at)] = token
        logits = run(changed, len(at)).logits
        assert logits is not None  # ``asked`` refuses other models
        losses[:, at] = (own - question.of_steps(logits)).T.float().numpy()
    return losses
