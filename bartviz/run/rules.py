"""A checkpoint's rules, which may override the most probable token, each with a name.

``generate()`` applies them silently: a forced step then looks 100% certain. Here probabilities come from the raw
logits and the rule that overrode them is named. The order is that of transformers' ``generate``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from transformers import GenerationConfig
from transformers.generation import logits_process as processors
from transformers.generation.logits_process import LogitsProcessor

from bartviz.record import vocabulary


@dataclass(frozen=True)
class Rule:
    """A named change of the scores (1, V), given the tokens so far (1, t)."""

    name: str
    processor: LogitsProcessor

    @property
    def always_decides(self) -> bool:
        return self.name in vocabulary.FORCED


@dataclass(frozen=True)
class Choice:
    """A chosen token id and the rule that decided it, if one did."""

    token: int
    rule: str | None


@dataclass(frozen=True)
class Applied:
    """Scores before any rule, after each one, and after all: (B, V) each, one row for each text so far."""

    raw: Tensor
    stages: tuple[tuple[Rule, Tensor], ...]

    @cached_property
    def first(self) -> list[int]:
        """The model's own first choice in each row."""
        ids: list[int] = self.raw.argmax(dim=-1).tolist()
        return ids

    @property
    def scores(self) -> Tensor:
        return self.stages[-1][1] if self.stages else self.raw

    def deciding(self, row: int, token: int) -> str | None:
        """The rule without which this row would not have continued with ``token``, or None.

        Either a rule that forced a token, or the one that moved the model's first choice below ``token``.
        """
        if not self.stages:
            return None
        first, before, deciding = self.first[row], self.raw, None
        for rule, after in self.stages:
            forced = rule.always_decides and after is not before
            if forced or (before[row, first] >= before[row, token] and after[row, first] < after[row, token]):
                deciding = rule.name
            before = after
        return deciding


def end_tokens(generation: GenerationConfig) -> tuple[int, ...]:
    """The ids that end a text; none for a model that never ends."""
    end = generation.eos_token_id
    return tuple(end) if isinstance(end, list | tuple) else () if end is None else (int(end),)


def active(
    generation: GenerationConfig, *, prompt: int, longest: int, source: Tensor | None = None
) -> tuple[Rule, ...]:
    """The rules of a generation configuration, in the order they apply.

    prompt: tokens given before the first generated one; longest: tokens in all, prompt included; source: the
    ids (1, S) of the encoder, or of a decoder-only model's prompt, for rules that depend on them.
    """
    end = list(end_tokens(generation))
    return (
        *_repetitions(generation, source, end),
        *_lengths(generation, prompt, longest, end),
        *_exclusions(generation, prompt, end),
    )


def _repetitions(g: GenerationConfig, source: Tensor | None, end: list[int]) -> Iterator[Rule]:
    if g.sequence_bias:
        yield Rule(vocabulary.SEQUENCE_BIAS, processors.SequenceBiasLogitsProcessor(g.sequence_bias))
    if source is not None and (g.encoder_repetition_penalty or 1.0) != 1.0:
        penalty = processors.EncoderRepetitionPenaltyLogitsProcessor(g.encoder_repetition_penalty, source)
        yield Rule(vocabulary.SOURCE_PREFERENCE, penalty)
    if (g.repetition_penalty or 1.0) != 1.0:
        yield Rule(vocabulary.REPETITION_PENALTY, processors.RepetitionPenaltyLogitsProcessor(g.repetition_penalty))
    if g.no_repeat_ngram_size:
        size = g.no_repeat_ngram_size
        yield Rule(vocabulary.NO_REPEATED_NGRAMS.format(count=size), processors.NoRepeatNGramLogitsProcessor(size))
    if source is not None and g.encoder_no_repeat_ngram_size:
        size = g.encoder_no_repeat_ngram_size
        yield Rule(
            vocabulary.NO_SOURCE_NGRAMS.format(count=size), processors.EncoderNoRepeatNGramLogitsProcessor(size, source)
        )
    if g.bad_words_ids:
        ends = torch.tensor(end) if end else None
        yield Rule(vocabulary.EXCLUDED_TOKENS, processors.NoBadWordsLogitsProcessor(g.bad_words_ids, ends))


def _lengths(g: GenerationConfig, prompt: int, longest: int, end: list[int]) -> Iterator[Rule]:
    if end and (g.min_length or 0) > 0 and g.min_new_tokens is None:
        yield Rule(vocabulary.MINIMUM_LENGTH, processors.MinLengthLogitsProcessor(g.min_length, end))
    if end and (g.min_new_tokens or 0) > 0:
        least = processors.MinNewTokensLengthLogitsProcessor(prompt, g.min_new_tokens, end)
        yield Rule(vocabulary.MINIMUM_LENGTH, least)
    if g.forced_bos_token_id is not None:
        yield Rule(vocabulary.FORCED_FIRST_TOKEN, processors.ForcedBOSTokenLogitsProcessor(g.forced_bos_token_id))
    if g.forced_eos_token_id is not None:
        yield Rule(
            vocabulary.FORCED_END_TOKEN, processors.ForcedEOSTokenLogitsProcessor(longest, g.forced_eos_token_id)
        )


def _exclusions(g: GenerationConfig, prompt: int, end: list[int]) -> Iterator[Rule]:
    if g.remove_invalid_values:
        yield Rule(vocabulary.NO_INVALID_NUMBERS, processors.InfNanRemoveLogitsProcessor())
    if g.exponential_decay_length_penalty and end:
        decay = processors.ExponentialDecayLengthPenalty(g.exponential_decay_length_penalty, torch.tensor(end), prompt)
        yield Rule(vocabulary.LENGTH_DECAY, decay)
    if g.suppress_tokens:
        yield Rule(vocabulary.EXCLUDED_TOKENS, processors.SuppressTokensLogitsProcessor(g.suppress_tokens))
    if g.begin_suppress_tokens:
        begin = prompt if prompt > 1 or g.forced_bos_token_id is None else prompt + 1
        first = processors.SuppressTokensAtBeginLogitsProcessor(g.begin_suppress_tokens, begin)
        yield Rule(vocabulary.EXCLUDED_AT_START, first)
    if g.renormalize_logits:
        yield Rule(vocabulary.RENORMALIZED, processors.LogitNormalization())


def apply(rules: Sequence[Rule], ids: Tensor, scores: Tensor) -> Applied:
    """Apply every rule in order to the scores (B, V) after the tokens so far (B, t); ``scores`` is not modified.

    scores: raw logits for one text or for sampling, log p for beam search, as in ``generate``.
    """
    stages: list[tuple[Rule, Tensor]] = []
    after = scores
    for rule in rules:
        after = rule.processor(ids, after)
        stages.append((rule, after))
    return Applied(scores, tuple(stages))


def choose(rules: Sequence[Rule], ids: Tensor, logits: Tensor) -> Choice:
    """The most probable token that the rules allow, and the rule that overrode the model's first choice.

    ids (1, t): tokens so far; logits (1, V): raw, not modified.
    """
    first = best = int(logits.argmax())
    if not rules:
        return Choice(first, None)
    decided: str | None = None
    scores = logits.clone()  # (1, V)
    for rule in rules:
        changed = rule.processor(ids, scores)
        forced = rule.always_decides and changed is not scores and bool((changed != scores).any())
        scores = changed
        now = int(scores.argmax())
        if now != best or forced:
            best, decided = now, rule.name
    return Choice(best, decided if best != first or decided in vocabulary.FORCED else None)
