"""decode(): greedy decoding, one step at a time, with everything kept.

The encoder runs once; each step feeds one token and reuses the cached keys and values. The rows of queries collected
step by step, with the final keys, are the attention of one teacher-forced pass: a decoding step is a row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral

import torch
from torch import Tensor

from bartviz import rules, runs, tokens
from bartviz.errors import SettingError
from bartviz.models import Model
from bartviz.record import Record, Step, Tokens
from bartviz.runs import Ablation, Truncate
from bartviz.stepping import Stepper
from bartviz.steps import Summary
from bartviz.tape import Tape, recording

DEFAULT_NEW_TOKENS = 128  # where neither the caller nor the checkpoint says
MOST_NEW_TOKENS = 4096
FORCED_BY_USER = "chosen by you"


@dataclass
class _Run:
    """One text being decoded: the tokens so far, the steps, why it stopped."""

    ids: list[int]  # of the decoder, prompt or start token first
    prompt: int
    longest: int
    summary: Summary
    steps: list[Step] = field(default_factory=list)
    stopped: str = "length limit"

    def add(self, logits: Tensor, token: int, rule: str | None) -> None:
        self.steps.append(self.summary.step(len(self.steps), logits, token, self.ids, rule))
        self.ids.append(token)


def decode(
    model: Model,
    text: str,
    *,
    beams: int = 1,
    max_new_tokens: int | None = None,
    top_k: int = 10,
    force: Mapping[int, str | int] | None = None,
    ablate: Ablation = (),
    values: bool = False,
    allow_special: bool = False,
    truncate: Truncate | None = None,
    use_rules: bool = True,
    cancelled: Callable[[], bool] = lambda: False,
    on_step: Callable[[int, int], None] = lambda step, longest: None,
) -> Record:
    """Generate greedily and keep all attention of every step: the tokens are those of ``generate(num_beams=1)``.

    beams: 1, which is greedy search.
    max_new_tokens: None takes the checkpoint's own limit. top_k: candidates kept per step. force: position of a
    generated token -> the token (id, or text that may be several tokens) that must stand there. ablate: heads to
    silence. use_rules: False leaves out the checkpoint's rules (forced tokens, minimum length, n-gram blocks).
    on_step: called with the steps done and the most there can be.
    Raises TextError, SettingError, BudgetError, Cancelled.
    """
    if beams != 1:
        raise SettingError(f"decode() follows 1 beam (greedy search), not {beams}. Leave beams out.")
    if model.info.kind == "encoder":
        raise SettingError(
            "An encoder-only model writes no text. Use capture(), or choose an encoder-decoder or GPT-2."
        )
    started = time.perf_counter()
    prepared = runs.prepare(model, text, allow_special=allow_special, truncate=truncate)
    tape = Tape(values=values, scale_heads=runs.head_factors(model, ablate), cancelled=cancelled)
    source = torch.from_numpy(prepared.tokens.ids.copy())[None]  # (1, n)
    run = _begin(model, prepared.tokens, max_new_tokens, Summary(model.tokenizer, top_k))
    runs.refuse_over(runs.predicted_bytes(model, len(prepared.tokens), run.longest, values=values))
    forced = _forced_ids(model, force)
    active = _rules(model, run, source) if use_rules else ()
    with torch.inference_mode(), recording(tape):
        _loop(model, run, source, active, forced, on_step)
    record = _record(model, tape, run, prepared)
    settings = {
        "mode": "greedy",
        "max_new_tokens": run.longest - run.prompt,
        "rules": tuple(rule.name for rule in active),
        "forced": tuple(f"{position}: {token}" for position, token in forced.items()),
        "ablated": runs.ablated(tape),
    }
    late = sorted(position for position in forced if position >= len(run.steps))
    missed = (f"The text ended before the forced position {late[0]}.",) if late else ()
    return runs.finish(record, started, settings=settings, notices=prepared.notices + missed, stopped=run.stopped)


def _begin(model: Model, source: Tokens, max_new_tokens: int | None, summary: Summary) -> _Run:
    """The decoder's first tokens and the length at which it must stop."""
    if max_new_tokens is not None and not 1 <= max_new_tokens <= MOST_NEW_TOKENS:
        raise SettingError(f"max_new_tokens is {max_new_tokens}; choose 1 to {MOST_NEW_TOKENS:,}.")
    generation = model.generation
    ids = source.ids.tolist() if model.info.kind == "decoder" else [runs.start_token(model)]
    new = max_new_tokens or generation.max_new_tokens
    longest = len(ids) + (new or DEFAULT_NEW_TOKENS) if new or not generation.max_length else generation.max_length
    if model.info.positions is not None:
        longest = min(longest, model.info.positions)
    if longest <= len(ids):
        raise SettingError(
            f"The text has {len(ids):,} tokens and the model goes up to {longest:,}: "
            "there is no room for a new one. Shorten the text."
        )
    return _Run(ids, len(ids), longest, summary)


def _rules(model: Model, run: _Run, source: Tensor) -> tuple[rules.Rule, ...]:
    encoder = source if model.info.kind == "encoder-decoder" else None
    return rules.of(model.generation, prompt=run.prompt, longest=run.longest, source=encoder)


def _forced_ids(model: Model, force: Mapping[int, str | int] | None) -> dict[int, int]:
    """Position of a generated token -> token id; a text of several tokens fills the positions that follow."""
    forced: dict[int, int] = {}
    for position, token in (force or {}).items():
        if position < 0:
            raise SettingError(f"A forced position is {position}; positions count from 0.")
        ids = [int(token)] if isinstance(token, Integral) else _typed_ids(model, str(token))
        if not ids or not all(0 <= i < model.info.vocabulary for i in ids):
            raise SettingError(f"What is forced at position {position} is empty or not in the model's vocabulary.")
        forced |= {position + offset: i for offset, i in enumerate(ids)}
    return forced


def _typed_ids(model: Model, text: str) -> list[int]:
    """The ids of a text in the middle of an output; ``</s>`` is the end token."""
    typed = tokens.encode(model.tokenizer, text, target=True, allow_special=True)
    return [int(i) for i, span in zip(typed.ids, typed.spans, strict=True) if span is not None]


def _loop(
    model: Model,
    run: _Run,
    source: Tensor,
    active: tuple[rules.Rule, ...],
    forced: Mapping[int, int],
    on_step: Callable[[int, int], None],
) -> None:
    """Feed a token, read the logits, choose the next; until an end token or the longest length."""
    ends = rules.end_tokens(model.generation)
    stepper = Stepper.start(model, source if model.info.kind == "encoder-decoder" else None)
    while True:
        fed = run.ids if not run.steps else run.ids[-1:]
        logits = stepper.step(torch.tensor([fed]))[0]  # (V,)
        position = len(run.steps)
        if position in forced:
            run.add(logits, forced[position], FORCED_BY_USER)
        else:
            choice = rules.choose(active, torch.tensor([run.ids]), logits[None])
            run.add(logits, choice.token, choice.rule)
        on_step(len(run.steps), run.longest - run.prompt)
        if run.ids[-1] in ends:
            run.stopped = "end token"
            return
        if len(run.ids) >= run.longest:
            return


def _record(model: Model, tape: Tape, run: _Run, prepared: runs.Prepared) -> Record:
    generated = run.ids[run.prompt :]
    target_text, output = tokens.from_ids(model.tokenizer, generated)
    if model.info.kind == "encoder-decoder":
        query = runs.shifted(model, run.ids[0], output)
    else:
        _, whole = tokens.from_ids(model.tokenizer, run.ids)
        query, output = whole.take(slice(0, -1)), whole.take(slice(1, None))
    axes = runs.axes(model, prepared.tokens, query)
    return runs.record(model, tape, axes, output, run.steps, source_text=prepared.text, target_text=target_text)
