"""How a text is generated: the options of decode(), checked and completed by the checkpoint's own settings."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Literal

from torch import Tensor
from transformers import GenerationConfig

from bartviz.callbacks import never, silent
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from bartviz.record.beam_tree import EarlyStopping
from bartviz.run import beam_search
from bartviz.run.batch import Heads
from bartviz.run.sampling import Sampling
from bartviz.text import tokenize

DEFAULT_NEW_TOKENS = 128  # if neither the caller nor the checkpoint sets a limit
MOST_NEW_TOKENS = 4096
MOST_BEAMS = 32
TOP_K = 50  # of a checkpoint that samples and sets none, as generate() does


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a text is generated; decode() documents each option."""

    beams: int | Literal["own"] = 1
    length_penalty: float | None = None
    early_stopping: EarlyStopping | None = None
    sample: Sampling | None = None
    max_new_tokens: int | None = None
    min_new_tokens: int | None = None
    no_repeat_ngram_size: int | None = None
    top_k: int = 10
    ablate: Heads = ()
    values: bool = False
    use_rules: bool = True
    open_cells: Mapping[Kind, Tensor] = field(default_factory=dict)  # as of ``Tape``
    toward: Mapping[tuple[Kind, int], Tensor] = field(default_factory=dict)  # as of ``Tape``
    cancelled: Callable[[], bool] = never
    on_step: Callable[[int, int], None] = silent


def method(model: Model, options: Options) -> beam_search.Settings | Sampling | None:
    """Beams, sampling, or None for greedy search. Raises SettingError for incompatible options."""
    checkpoint, sample = model.generation, options.sample
    if options.beams != "own" and not isinstance(options.beams, Integral):
        raise _wrong_beams(options.beams)
    beams = (checkpoint.num_beams or 1) if options.beams == "own" else int(options.beams)
    if not 1 <= beams <= MOST_BEAMS:
        raise _wrong_beams(beams)
    if options.beams == "own" and sample is None and checkpoint.do_sample and beams == 1:
        top_k = TOP_K if checkpoint.top_k is None else checkpoint.top_k
        sample = Sampling(checkpoint.temperature or 1.0, top_k, checkpoint.top_p or 1.0)
    if sample is not None and beams > 1:
        raise SettingError(
            later("Sampling writes one text, not {beams} beams: leave out beams or sample.", beams=beams)
        )
    penalty, early = options.length_penalty, options.early_stopping
    if beams == 1:
        if options.beams != "own" and (penalty is not None or early is not None):
            raise SettingError(
                later("length_penalty and early_stopping belong to beam search: choose 2 beams or more.")
            )
        return None if sample is None else sample.completed(checkpoint if options.use_rules else GenerationConfig())
    if penalty is None:
        penalty = 1.0 if checkpoint.length_penalty is None else checkpoint.length_penalty
    if early is None:
        early = False if checkpoint.early_stopping is None else checkpoint.early_stopping
    if not (math.isfinite(penalty) and abs(penalty) <= beam_search.LARGEST_PENALTY):
        limit = f"{beam_search.LARGEST_PENALTY:g}"
        raise SettingError(
            later(
                "length_penalty is {value}; choose -{limit} to {limit} (1: the mean of log p; 0: none).",
                value=penalty,
                limit=limit,
            )
        )
    if early not in (True, False, "never"):
        raise SettingError(later('early_stopping is {value!r}; choose True, False or "never".', value=early))
    return beam_search.Settings(beams, float(penalty), "never" if early == "never" else bool(early))


def _wrong_beams(beams: object) -> SettingError:
    message = later(
        'beams is {beams}; choose 1 (greedy) to {limit}, or "own" for the checkpoint\'s.', beams=beams, limit=MOST_BEAMS
    )
    return SettingError(message)


def generation_of(model: Model, options: Options) -> GenerationConfig:
    """The checkpoint's settings, overridden by the chosen options."""
    asked = {"min_new_tokens": options.min_new_tokens, "no_repeat_ngram_size": options.no_repeat_ngram_size}
    chosen = {name: value for name, value in asked.items() if value is not None}
    for name, value in chosen.items():
        if not 0 <= value <= MOST_NEW_TOKENS:
            raise SettingError(
                later("{name} is {value}; choose 0 (none) to {limit:,}.", name=name, value=value, limit=MOST_NEW_TOKENS)
            )
    if not chosen:
        return model.generation
    generation = copy.deepcopy(model.generation)
    for name, value in chosen.items():
        setattr(generation, name, value)
    return generation


def longest_of(model: Model, generation: GenerationConfig, prompt: int, max_new_tokens: int | None) -> int:
    """The maximum length in tokens, prompt included."""
    if max_new_tokens is not None and not 1 <= max_new_tokens <= MOST_NEW_TOKENS:
        raise SettingError(
            later("max_new_tokens is {value}; choose 1 to {limit:,}.", value=max_new_tokens, limit=MOST_NEW_TOKENS)
        )
    new = max_new_tokens or generation.max_new_tokens
    longest = prompt + (new or DEFAULT_NEW_TOKENS) if new or not generation.max_length else generation.max_length
    if model.info.positions is not None:
        longest = min(longest, model.info.positions)
    if longest <= prompt:
        raise SettingError(
            later(
                "The text has {count:,} tokens and the model goes up to {longest:,}: there is no space for a "
                "new one. Shorten the text.",
                count=prompt,
                longest=longest,
            )
        )
    return longest


def forced_ids(model: Model, force: Mapping[int, str | int]) -> dict[int, int]:
    """Position of a generated token -> token id; a text of several tokens fills the following positions."""
    forced: dict[int, int] = {}
    for position, token in force.items():
        if position < 0:
            raise SettingError(later("A forced position is {position}; positions count from 0.", position=position))
        ids = [int(token)] if isinstance(token, Integral) else _typed_ids(model, str(token))
        if not ids or not all(0 <= i < model.info.vocabulary for i in ids):
            raise SettingError(
                later(
                    "What is forced at position {position} is empty or not in the model's vocabulary.",
                    position=position,
                )
            )
        forced |= {position + offset: i for offset, i in enumerate(ids)}
    return forced


def _typed_ids(model: Model, text: str) -> list[int]:
    """The ids of a text in the middle of an output; ``</s>`` is the end token."""
    typed = tokenize.encode(model.tokenizer, text, target=True, allow_special=True)
    return [int(i) for i, span in zip(typed.ids, typed.spans, strict=True) if span is not None]
