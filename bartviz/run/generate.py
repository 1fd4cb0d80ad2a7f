"""decode(): generate a text step by step and record everything: greedy, beam search, or sampling; decode_batch():
several texts, whose steps are taken together.

The encoder runs once; each step feeds one token and reuses the cached keys and values. The query rows collected step by
step, together with the final keys, equal the attention of one teacher-forced pass: each decoding step is a row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Literal

import torch
from transformers import GenerationConfig, PreTrainedTokenizerBase

from bartviz.callbacks import never, silent
from bartviz.errors import SettingError, TextError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.models.wrap import model_of
from bartviz.record.beam_tree import EarlyStopping
from bartviz.record.record import Record
from bartviz.record.turns import extended
from bartviz.record.vocabulary import CHOSEN_BY_YOU, GREEDY
from bartviz.run import beam_search, loop, rules
from bartviz.run.batch import Heads, head_factors, shifted, start_token
from bartviz.run.candidates import Summary
from bartviz.run.chat import Message
from bartviz.run.collect import Result, ablated, collect
from bartviz.run.inputs import Given, Ids, of_many, prepared_from
from bartviz.run.loop import Forced, Task, Written
from bartviz.run.memory_limit import predicted_bytes, refuse_run
from bartviz.run.options import Options, forced_ids, generation_of, longest_of, method
from bartviz.run.prepare import Prepared, prepare_all
from bartviz.run.sampling import Sampling
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape, recording
from bartviz.text import tokenize
from bartviz.text.clean import Truncate


@torch_defaults()
def decode(
    model: Model | torch.nn.Module,
    text: str | None = None,
    *,
    tokens: Ids | None = None,
    words: Sequence[str] | None = None,
    messages: Sequence[Message] | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    beams: int | Literal["own"] = 1,
    length_penalty: float | None = None,
    early_stopping: EarlyStopping | None = None,
    sample: Sampling | None = None,
    max_new_tokens: int | None = None,
    min_new_tokens: int | None = None,
    no_repeat_ngram_size: int | None = None,
    top_k: int = 10,
    force: Mapping[int, str | int] | None = None,
    ablate: Heads = (),
    values: bool = False,
    allow_special: bool = False,
    truncate: Truncate | None = None,
    use_rules: bool = True,
    cancelled: Callable[[], bool] = never,
    on_step: Callable[[int, int], None] = silent,
) -> Record:
    """Generate a text and record all attention of every step: the tokens are those of ``generate`` with these settings.

    A setting of the checkpoint that is not applied here (``stop_strings``, ``guidance_scale``, a watermark ...) is
    named in a notice. Where neither the caller nor the checkpoint limits the length, it is 128 new tokens.

    model: as ``bartviz.load`` returns it, or a network of transformers with its tokenizer, which is wrapped for this
    call.
    tokens, words, messages: the text in another form, as for ``capture``; the answer to messages follows them.
    beams: 1 is greedy search; 2 or more is beam search, whose tree is ``record.beams`` and whose best text is the
    record; "own" uses beams (or sampling) as the checkpoint sets them. length_penalty, early_stopping: of beam search,
    None for the checkpoint's (BeamTree explains them). sample: draw each token instead (one text, with a seed).
    max_new_tokens, min_new_tokens, no_repeat_ngram_size: None for the checkpoint's own. use_rules: False leaves out
    the checkpoint's rules (forced tokens, minimum length, n-gram blocks).
    top_k: candidates kept per step. force: position of a generated token -> the token (id, or text that may be several
    tokens) to put there. ablate: heads to silence. values: keep the value vectors too.
    on_step: called with the steps done and the most there can be.
    Raises TextError, SettingError, BudgetError, Cancelled; ModelError for a network that cannot be wrapped.

    >>> record = bartviz.decode(model, "It is late.", beams=2)
    >>> [step.chosen.label for step in record.steps]
    ['<s>', 'Es', 'ist', 'spät', '.', '</s>']
    """
    model = model_of(model, tokenizer)
    _check_writer(model)
    started = time.perf_counter()
    options = Options(
        beams=beams,
        length_penalty=length_penalty,
        early_stopping=early_stopping,
        sample=sample,
        max_new_tokens=max_new_tokens,
        min_new_tokens=min_new_tokens,
        no_repeat_ngram_size=no_repeat_ngram_size,
        top_k=top_k,
        ablate=ablate,
        values=values,
        use_rules=use_rules,
        cancelled=cancelled,
        on_step=on_step,
    )
    forced = _forced(model, force)
    form = Given(text=text, tokens=tokens, words=words, messages=messages)
    prepared = prepared_from(model, form, allow_special=allow_special, truncate=truncate, begun=True)
    notices = partial(_notices, model, options, forced)
    return write(model, prepared, start_of(model, prepared), forced, options, started, notices)


def _notices(model: Model, options: Options, forced: Mapping[int, Forced], written: Written) -> tuple[str, ...]:
    """What decode() has to say of a text."""
    made = []
    if options.beams == "own" and written.tree is not None and model.generation.do_sample:
        made.append(later("The checkpoint samples within its beams; here they are searched without sampling."))
    late = [position for position in forced if position >= len(written.steps)]
    if late:
        made.append(
            later("The text ended before position {late}: the token forced there is not in it.", late=min(late))
        )
    return tuple(made)


def _forced(model: Model, force: Mapping[int, str | int] | None) -> dict[int, Forced]:
    return {position: Forced(token, CHOSEN_BY_YOU) for position, token in forced_ids(model, force or {}).items()}


@torch_defaults()
def decode_batch(
    model: Model | torch.nn.Module,
    texts: Iterable[str] | None = None,
    *,
    tokens: Iterable[Ids] | None = None,
    words: Iterable[Sequence[str]] | None = None,
    messages: Iterable[Sequence[Message]] | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    beams: int | Literal["own"] = 1,
    length_penalty: float | None = None,
    early_stopping: EarlyStopping | None = None,
    sample: Sampling | None = None,
    max_new_tokens: int | None = None,
    min_new_tokens: int | None = None,
    no_repeat_ngram_size: int | None = None,
    top_k: int = 10,
    force: Mapping[int, str | int] | None = None,
    ablate: Heads = (),
    values: bool = False,
    allow_special: bool = False,
    truncate: Truncate | None = None,
    use_rules: bool = True,
    cancelled: Callable[[], bool] = never,
    on_step: Callable[[int, int], None] = silent,
) -> tuple[Record, ...]:
    """Generate each text as ``decode`` does with these options, one Record each; step by step in one batch.

    Nothing is padded: a text sees only itself, and its numbers differ from those of ``decode`` only by rounding. It is
    faster for encoder-decoders without beams; all else is written one text after another. ``force`` is the same for
    all; ``tokens``, ``words``, ``messages``: the texts in another form, one list for each. ``seconds`` of every record
    are those of the whole batch. Raises what ``decode`` raises, with the number of the text that it concerns.

    >>> [record.target_text for record in bartviz.decode_batch(model, ["It is late.", "We sleep."])]
    ['Es ist spät.', 'Wir schlafen.']
    """
    model = model_of(model, tokenizer)
    _check_writer(model)
    if isinstance(texts, str):
        raise TextError("Several texts are expected, a list of str: for one text use decode().")
    started = time.perf_counter()
    options = Options(
        beams=beams,
        length_penalty=length_penalty,
        early_stopping=early_stopping,
        sample=sample,
        max_new_tokens=max_new_tokens,
        min_new_tokens=min_new_tokens,
        no_repeat_ngram_size=no_repeat_ngram_size,
        top_k=top_k,
        ablate=ablate,
        values=values,
        use_rules=use_rules,
        cancelled=cancelled,
        on_step=on_step,
    )
    prepared = prepare_all(
        of_many(texts, tokens, words, messages),
        lambda form: prepared_from(model, form, allow_special=allow_special, truncate=truncate, begun=True),
    )
    return _batch(model, prepared, options, force, started)


def write_batch(model: Model, prepared: Sequence[Prepared], options: Options) -> tuple[Record, ...]:
    """What ``decode_batch`` writes, of texts that are prepared."""
    return _batch(model, prepared, options, None, time.perf_counter())


def _batch(
    model: Model, prepared: Sequence[Prepared], options: Options, force: Mapping[int, str | int] | None, started: float
) -> tuple[Record, ...]:
    forced = _forced(model, force)
    notices = partial(_notices, model, options, forced)
    if prepared and model.info.kind == "encoder-decoder" and options.beams == 1:
        plans = [planned(model, one, (start_token(model),), forced, options) for one in prepared]
        drawing = options.sample and options.sample.completed(
            model.generation if options.use_rules else GenerationConfig()
        )
        sizes = (predicted(task, one, options) for (task, _), one in zip(plans, prepared, strict=True))
        refuse_run(sum(sizes))
        with torch.inference_mode():
            whole = loop.together([task for task, _ in plans], [tape for _, tape in plans], drawing)
        return tuple(
            _recorded(
                task,
                written,
                one,
                started,
                {**settings_of(task, tape, drawing, options), "batch": len(prepared)},
                notices(written),
            )
            for (task, tape), written, one in zip(plans, whole, prepared, strict=True)
        )
    return tuple(
        write(model, one, start_of(model, one), forced, options, time.perf_counter(), notices) for one in prepared
    )


def start_of(model: Model, prepared: Prepared) -> tuple[int, ...]:
    """The ids with which the decoder begins: a text that it continues, else the start token."""
    return tuple(prepared.tokens.ids.tolist()) if model.info.kind == "decoder" else (start_token(model),)


def write(
    model: Model,
    prepared: Prepared,
    start: tuple[int, ...],
    forced: Mapping[int, Forced],
    options: Options,
    started: float,
    notices: Callable[[Written], tuple[str, ...]] = lambda written: (),
    settings: Mapping[str, object] = MappingProxyType({}),
) -> Record:
    """The record of a text that begins with ``start`` (decoder ids) and has the forced tokens at their positions.

    started: perf_counter when the work began. notices: builds the notices once the text is written.
    settings: entries for the record's provenance in addition to the options.
    """
    strategy = method(model, options)
    task, tape = planned(model, prepared, start, forced, options)
    beams = strategy.beams if isinstance(strategy, beam_search.Settings) else 1
    refuse_run(predicted(task, prepared, options, beams))
    with torch.inference_mode(), recording(tape):
        written = (
            loop.with_beams(task, tape, strategy)
            if isinstance(strategy, beam_search.Settings)
            else loop.single(task, tape, strategy)
        )
    given = {**settings_of(task, tape, strategy, options), **settings}
    return _recorded(task, written, prepared, started, given, notices(written))


def planned(
    model: Model, prepared: Prepared, start: tuple[int, ...], forced: Mapping[int, Forced], options: Options
) -> tuple[Task, Tape]:
    """The task, and the tape to record it on. Raises SettingError."""
    generation = generation_of(model, options)
    longest = longest_of(model, generation, len(start), options.max_new_tokens)
    source = torch.from_numpy(prepared.tokens.ids.copy())[None]  # (1, S); a decoder-only model's prompt
    active = rules.active(generation, prompt=len(start), longest=longest, source=source) if options.use_rules else ()
    summary = Summary(model.tokenizer, options.top_k)
    read = source if model.info.kind == "encoder-decoder" else None
    task = Task(model, start, read, longest, active, forced, summary, options.on_step, options.use_rules)
    tape = Tape(
        values=options.values,
        scale_heads=head_factors(model, options.ablate),
        cancelled=options.cancelled,
        open_cells=options.open_cells,
        toward=options.toward,
    )
    return task, tape


def predicted(task: Task, prepared: Prepared, options: Options, beams: int = 1) -> int:
    """The bytes that the record of a text may take."""
    return predicted_bytes(task.model, len(prepared.tokens), task.longest, values=options.values, beams=beams)


def _recorded(
    task: Task,
    written: Written,
    prepared: Prepared,
    started: float,
    settings: Mapping[str, object],
    notices: tuple[str, ...] = (),
) -> Record:
    return collect(
        task.model,
        written.tape,
        _result(task, written, prepared),
        started=started,
        settings=settings,
        notices=(*prepared.notices, *_unapplied(task), *notices),
        stopped=written.stopped,
    )


def _unapplied(task: Task) -> tuple[str, ...]:
    """The notice of a checkpoint's settings with which ``generate`` may write another text."""
    if not (names := task.model.unapplied) or not task.use_rules:
        return ()
    return (
        later(
            "The checkpoint's generation settings {names} are not applied here: generate() may write another text.",
            names=", ".join(names),
        ),
    )


def _check_writer(model: Model) -> None:
    if model.info.kind == "encoder":
        raise SettingError(
            later("An encoder-only model writes no text. Use capture(), or choose an encoder-decoder or GPT-2.")
        )


def settings_of(
    task: Task, tape: Tape, strategy: beam_search.Settings | Sampling | None, options: Options
) -> dict[str, object]:
    """The settings for the record's provenance; branch() reads them to decode the same way."""
    chosen = {"mode": GREEDY} if strategy is None else strategy.settings
    return {
        **chosen,
        "max_new_tokens": task.longest - len(task.start),
        "min_new_tokens": options.min_new_tokens,
        "no_repeat_ngram_size": options.no_repeat_ngram_size,
        "use_rules": None if options.use_rules else False,
        "rules": tuple(rule.name for rule in task.active),
        "forced": tuple(
            f"{position}: {entry.token}" for position, entry in task.forced.items() if entry.rule == CHOSEN_BY_YOU
        ),
        "ablated": ablated(tape),
    }


def _result(task: Task, written: Written, prepared: Prepared) -> Result:
    model = task.model
    target, output = tokenize.from_ids(model.tokenizer, written.ids[len(task.start) :])
    if model.info.kind == "encoder-decoder":
        query = shifted(model, written.ids[0], output)
    else:
        _, whole = tokenize.from_ids(model.tokenizer, written.ids)
        query, output = whole.take(slice(0, -1)), whole.take(slice(1, None))
    return Result(
        source=prepared.tokens if model.info.kind == "encoder-decoder" else query,
        text=prepared.text,
        target=target,
        query=query,
        output=output,
        steps=task.summary.steps(written.steps, written.ids),
        beams=written.tree,
        checks=written.checks,
        turns=extended(prepared.turns, len(query)),
    )
