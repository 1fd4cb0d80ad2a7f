"""The rules of a checkpoint that decide a token where its probabilities do not, each with a name.

``generate()`` applies them silently: a forced step then looks 100 % certain. Here the probabilities come from the raw
logits and the rule that overruled them is named. Order as in transformers' ``generate``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import GenerationConfig
from transformers.generation import logits_process as processors
from transformers.generation.logits_process import LogitsProcessor

FORCED = frozenset({"forced first token", "forced end token"})


@dataclass(frozen=True)
class Rule:
    """A named change of the scores (1, V) given the tokens so far (1, t)."""

    name: str
    processor: LogitsProcessor

    @property
    def always_decides(self) -> bool:
        return self.name in FORCED


@dataclass(frozen=True)
class Choice:
    """A chosen token id and the rule that decided it, if one did."""

    token: int
    rule: str | None


def end_tokens(generation: GenerationConfig) -> tuple[int, ...]:
    """The ids that end a text; none for a model that never ends."""
    end = generation.eos_token_id
    return tuple(end) if isinstance(end, list | tuple) else () if end is None else (int(end),)


def of(generation: GenerationConfig, *, prompt: int, longest: int, source: Tensor | None) -> tuple[Rule, ...]:
    """The rules of a generation configuration, in the order in which they act.

    prompt: tokens given before the first generated one; longest: tokens in all, prompt included; source: the
    encoder's ids (1, S) for rules that look at them.
    """
    g, end = generation, list(end_tokens(generation))
    found: list[Rule] = []

    def add(name: str, processor: LogitsProcessor) -> None:
        found.append(Rule(name, processor))

    if source is not None and (g.encoder_repetition_penalty or 1.0) != 1.0:
        add(
            "source preference",
            processors.EncoderRepetitionPenaltyLogitsProcessor(g.encoder_repetition_penalty, source),
        )
    if (g.repetition_penalty or 1.0) != 1.0:
        add("repetition penalty", processors.RepetitionPenaltyLogitsProcessor(g.repetition_penalty))
    if g.no_repeat_ngram_size:
        name = f"no {g.no_repeat_ngram_size} tokens repeated"
        add(name, processors.NoRepeatNGramLogitsProcessor(g.no_repeat_ngram_size))
    if source is not None and g.encoder_no_repeat_ngram_size:
        name = f"no {g.encoder_no_repeat_ngram_size} tokens of the source"
        add(name, processors.EncoderNoRepeatNGramLogitsProcessor(g.encoder_no_repeat_ngram_size, source))
    if g.bad_words_ids:
        ends = torch.tensor(end) if end else None
        add("excluded tokens", processors.NoBadWordsLogitsProcessor(g.bad_words_ids, ends))
    if end and (g.min_length or 0) > 0:
        add("minimum length", processors.MinLengthLogitsProcessor(g.min_length, end))
    if end and (g.min_new_tokens or 0) > 0:
        add("minimum length", processors.MinNewTokensLengthLogitsProcessor(prompt, g.min_new_tokens, end))
    if g.forced_bos_token_id is not None:
        add("forced first token", processors.ForcedBOSTokenLogitsProcessor(g.forced_bos_token_id))
    if g.forced_eos_token_id is not None:
        add("forced end token", processors.ForcedEOSTokenLogitsProcessor(longest, g.forced_eos_token_id))
    if g.suppress_tokens:
        add("excluded tokens", processors.SuppressTokensLogitsProcessor(g.suppress_tokens))
    if g.begin_suppress_tokens:
        begin = prompt if prompt > 1 or g.forced_bos_token_id is None else prompt + 1
        add("excluded at the start", processors.SuppressTokensAtBeginLogitsProcessor(g.begin_suppress_tokens, begin))
    return tuple(found)


def choose(rules: Sequence[Rule], ids: Tensor, logits: Tensor) -> Choice:
    """The most probable token that the rules leave, and the rule that overruled the model's own choice.

    ids (1, t): tokens so far; logits (1, V): raw, left as they are.
    """
    own = best = int(logits.argmax())
    if not rules:
        return Choice(own, None)
    decided: str | None = None
    scores = logits.clone()  # (1, V)
    for rule in rules:
        changed = rule.processor(ids, scores)
        forced = rule.always_decides and changed is not scores and bool((changed != scores).any())
        scores = changed
        now = int(scores.argmax())
        if now != best or forced:
            best, decided = now, rule.name
    return Choice(best, decided if best != own or decided in FORCED else None)
