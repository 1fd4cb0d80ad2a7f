"""capture(): one pass of a model -> Record; capture_batch(): several texts in one pass.

Encoder-only models run once. An encoder-decoder decodes greedily (generate.py), or is given the target and runs once
(teacher forcing). A decoder-only model runs once over the text; its steps show what it would predict at each position.
A model that was fine-tuned to label texts runs once, and the record has its prediction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from bartviz.callbacks import never
from bartviz.errors import SettingError, TextError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.models.output import OutputLayer, Rows
from bartviz.models.wrap import model_of
from bartviz.record.record import Record
from bartviz.record.turns import extended
from bartviz.record.vocabulary import GIVEN_TARGET, ONE_PASS
from bartviz.run import predict
from bartviz.run.batch import Batch, Heads, head_factors
from bartviz.run.candidates import Summary
from bartviz.run.chat import Message
from bartviz.run.collect import Result, ablated, collect
from bartviz.run.generate import decode, write_batch
from bartviz.run.inputs import Given, Ids, of_many, prepared_from, target_of
from bartviz.run.memory_limit import check_run
from bartviz.run.options import Options
from bartviz.run.prepare import OUTPUT, Prepared, prepare_all, prepare_target
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape, recording
from bartviz.text import tokenize
from bartviz.text.clean import Truncate
from bartviz.text.tokens import Tokens


@torch_defaults()
def capture(
    model: Model | torch.nn.Module,
    text: str | None = None,
    *,
    tokens: Ids | None = None,
    words: Sequence[str] | None = None,
    messages: Sequence[Message] | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    pair: str | None = None,
    target: str | Ids | None = None,
    top_k: int = 10,
    max_new_tokens: int | None = None,
    values: bool = False,
    ablate: Heads = (),
    allow_special: bool = False,
    truncate: Truncate | None = None,
    cancelled: Callable[[], bool] = never,
) -> Record:
    """Run a model once on a text and record all its attention.

    model: as ``bartviz.load`` returns it, or a network of transformers with its tokenizer, which is wrapped for this
        call (``bartviz.wrap`` says how; for several calls wrap it once).
    tokens, words, messages: the text in another form. tokens: ids, special tokens included, as ``record.source.ids``.
        words: a list of words without spaces (``is_split_into_words`` of transformers): they are joined by spaces, and
        the record's tokens belong to them. messages: a chat in the tokenizer's own template, of decoder-only models:
        ``[{"role": "user", "content": "..."}, ...]``; ``decode`` begins the answer after them, and ``record.roles()``
        are the roles of the tokens.
    pair: second sentence of an encoder-only model. If it was trained to judge whether one follows the other, as BERT
        was, the record's ``prediction`` says so.
    target: given output (teacher forcing), a text or ids such as ``record.output.ids``: of an encoder-decoder, which
        without it decodes greedily, or, if it was fine-tuned to label texts, reads the same text; of a decoder-only
        model the continuation, character for character (a new word begins with a space); only its tokens are steps.
    values: keep the value vectors too.
    ablate: heads to silence ("cross L2H5"), or a mapping to factors for their outputs.
    truncate: which part to keep of a text that is too long (else TextError).
    Raises TextError, SettingError, BudgetError, Cancelled; ModelError for a network that cannot be wrapped.

    >>> record = bartviz.capture(model, "I want to buy a car.")
    >>> record.target_text
    'Ich möchte ein Auto kaufen.'
    >>> record.cross.head(2, 5).shape  # (target tokens, source tokens)
    (8, 9)
    >>> bartviz.capture(model, tokens=record.source.ids).target_text  # the same text by its ids
    'Ich möchte ein Auto kaufen.'
    >>> bartviz.capture(model, words=["I", "want", "to", "buy", "a", "car."]).source.words
    (None, 0, 1, 2, 3, 4, 5, 5, None)
    """
    model = model_of(model, tokenizer)
    kind = model.info.kind
    if pair is not None and kind != "encoder":
        raise SettingError(
            later("A second sentence belongs to encoder models such as BERT. Leave it out, or choose one of those.")
        )
    if target is not None and kind == "encoder":
        raise SettingError(
            later("A target belongs to models that write, such as BART or GPT-2. Leave it out, or choose one of those.")
        )
    labels = model.head is not None and target is None
    if kind == "encoder-decoder" and target is None and not labels:
        return decode(
            model,
            text,
            tokens=tokens,
            words=words,
            messages=messages,
            max_new_tokens=max_new_tokens,
            top_k=top_k,
            ablate=ablate,
            values=values,
            allow_special=allow_special,
            truncate=truncate,
            cancelled=cancelled,
        )
    started = time.perf_counter()
    form = Given(text=text, tokens=tokens, words=words, messages=messages)
    prepared = prepared_from(
        model, form, pair=pair, allow_special=allow_special, truncate=truncate, begun=target is not None
    )
    given = None if target is None else _target(model, target)
    if labels and kind == "encoder-decoder":  # what was fine-tuned to label a text reads it on both sides
        given = replace(prepared, notices=())
    tape = Tape(values=values, scale_heads=head_factors(model, ablate), cancelled=cancelled)
    target_text, targets = (None, None) if given is None else (given.text, [given.tokens])
    result = _results(model, tape, [prepared], targets, [target_text], top_k)[0]
    notices = prepared.notices + (() if given is None else given.notices)
    settings = {"mode": ONE_PASS if given is None else GIVEN_TARGET, "ablated": ablated(tape)}
    return collect(model, tape, result, started=started, settings=settings, notices=notices)


@torch_defaults()
def capture_batch(
    model: Model | torch.nn.Module,
    texts: Iterable[str] | None = None,
    *,
    tokens: Iterable[Ids] | None = None,
    words: Iterable[Sequence[str]] | None = None,
    messages: Iterable[Sequence[Message]] | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    pairs: Iterable[str | None] | None = None,
    targets: Iterable[str] | None = None,
    top_k: int = 10,
    max_new_tokens: int | None = None,
    values: bool = False,
    ablate: Heads = (),
    allow_special: bool = False,
    truncate: Truncate | None = None,
    padded: bool = False,
    cancelled: Callable[[], bool] = never,
) -> tuple[Record, ...]:
    """Several texts in one pass: one Record each, as capture() gives it, up to rounding.

    texts may be any iterable; tokens, words, messages: the texts in another form, as in capture(), one list for each.
    pairs: second sentences of an encoder-only model, one for each text, None for none.
    targets: given outputs, one for each text, as in capture(). Without them an encoder-decoder decodes the texts, all
    of them step by step, as ``decode_batch`` does. All other options are those of capture().
    padded: keep the padding that the pass needs, masked: all records are then as long as the longest, to show what a
    batch is. An encoder-decoder without targets runs once on the outputs that it has decoded.
    Raises TextError, with the number of the text that it concerns, SettingError, BudgetError, Cancelled.

    >>> records = bartviz.capture_batch(model, ["I want to buy a car.", "It is late."])
    >>> [record.target_text for record in records]
    ['Ich möchte ein Auto kaufen.', 'Es ist spät.']
    >>> [len(record.source) for record in records]  # nothing is padded
    [9, 6]
    """
    model = model_of(model, tokenizer)
    if isinstance(texts, str):
        raise TextError("Several texts are expected, a list of str: for one text use capture().")
    forms = of_many(texts, tokens, words, messages)
    seconds = _seconds(model, len(forms), pairs)
    if not forms:
        raise TextError(later("There is no text to run. Give at least one."))
    if targets is not None:
        if model.info.kind == "encoder" or isinstance(targets, str):
            raise SettingError(later("Targets belong to models that write, such as BART or GPT-2: one for each text."))
        targets = tuple(targets)
        if len(targets) != len(forms):
            raise SettingError(
                later(
                    "There are {given:,} targets for {count:,} texts: give one for each text.",
                    given=len(targets),
                    count=len(forms),
                )
            )
    started = time.perf_counter()
    sources = prepare_all(
        tuple(zip(forms, seconds, strict=True)),
        lambda both: prepared_from(
            model, both[0], pair=both[1], allow_special=allow_special, truncate=truncate, begun=targets is not None
        ),
    )
    given: Sequence[Prepared] | None = None
    if targets is not None:
        given = prepare_all(targets, lambda text: prepare_target(model, text), OUTPUT)
    elif model.info.kind == "encoder-decoder" and model.head is not None:  # as capture(): it reads a text on both sides
        given = [replace(source, notices=()) for source in sources]
    elif model.info.kind == "encoder-decoder" and not padded:
        options = Options(max_new_tokens=max_new_tokens, top_k=top_k, ablate=ablate, values=values, cancelled=cancelled)
        return write_batch(model, sources, options)
    outputs: list[Tokens] | None = None if given is None else [part.tokens for part in given]
    target_texts: list[str | None] = [None] * len(forms) if given is None else [part.text for part in given]
    if model.info.kind == "encoder-decoder" and given is None:
        options = Options(max_new_tokens=max_new_tokens, ablate=ablate, cancelled=cancelled)
        decoded = write_batch(model, sources, options)
        target_texts = [record.target_text for record in decoded]
        outputs = [record.output for record in decoded if record.output is not None]
    tape = Tape(values=values, scale_heads=head_factors(model, ablate), cancelled=cancelled)
    results = _results(model, tape, sources, outputs, target_texts, top_k, padded=padded)
    mode = ONE_PASS if given is None else GIVEN_TARGET
    settings = {"mode": mode, "batch": len(forms), "ablated": ablated(tape)}
    notices = [source.notices for source in sources]
    if given is not None:
        notices = [before + part.notices for before, part in zip(notices, given, strict=True)]
    return tuple(
        collect(model, tape, result, started=started, settings=settings, notices=notices[item], item=item)
        for item, result in enumerate(results)
    )


def _target(model: Model, target: str | Ids) -> Prepared:
    return prepare_target(model, target) if isinstance(target, str) else target_of(model, target)


def _seconds(model: Model, count: int, pairs: Iterable[str | None] | None) -> tuple[str | None, ...]:
    """The second sentence of each text. Raises SettingError."""
    if pairs is None:
        return (None,) * count
    if model.info.kind != "encoder":
        raise SettingError(
            later("A second sentence belongs to encoder models such as BERT. Leave it out, or choose one of those.")
        )
    seconds = (pairs,) if isinstance(pairs, str) else tuple(pairs)
    if len(seconds) != count:
        raise SettingError(f"There are {len(seconds):,} second sentences for {count:,} texts: give one for each text.")
    return seconds


def _results(
    model: Model,
    tape: Tape,
    sources: Sequence[Prepared],
    targets: Sequence[Tokens] | None,
    target_texts: Sequence[str | None],
    top_k: int,
    *,
    padded: bool = False,
) -> list[Result]:
    """The results of one pass over the texts; their attention goes onto the tape. Raises TextError, BudgetError."""
    tokens = [source.tokens for source in sources]
    if model.info.kind == "decoder" and targets is not None:
        batch, results = _continued(model, tape, tokens, targets, top_k, padded=padded)
    else:
        batch = Batch.of(model, tokens, targets)
        check_run(model, batch, values=tape.values)
        labelled = [predict.predicts(model, source.pair) for source in sources]
        results = _run(model, batch, tape, top_k, labelled, padded=padded)
    if not padded:
        lengths = zip(results, batch.read, batch.lengths, strict=True)
        results = [result.cut(read, length) for result, read, length in lengths]
    texts = zip(results, sources, target_texts, batch.read, strict=True)
    return [
        replace(result, text=source.text, pair=source.pair, target=target, turns=extended(source.turns, read))
        for result, source, target, read in texts
    ]


@torch.inference_mode()
def _forward(model: Model, batch: Batch, tape: Tape, *, padded: bool) -> Any:
    """Run the network once under the tape -> its output; the base model's where no head is needed, and of a model whose
    logits are made from it."""
    if not padded:
        tape.lengths = batch.rows
    inputs = {name: part.to(model.device) for name, part in batch.inputs.items()}
    with recording(tape), guarded(run_failed()):
        if model.info.kind == "encoder":
            network = model.runner.base_model if model.head is None else model.runner
            return network(**inputs)
        if _apart(model):
            return model.runner.base_model(**inputs, use_cache=False)
        return model.runner(**inputs, use_cache=False, output_hidden_states=model.head is not None)


def _apart(model: Model) -> bool:
    """Whether logits are made from the last states, a few rows at a time, instead of by the network."""
    return model.output_alone and model.head is None


def _logits(model: Model, out: Any) -> list[Tensor | Rows]:
    """The logits of each text of a model that writes, from the output of its pass."""
    layer = OutputLayer.of(model.runner) if _apart(model) else None
    return list(out.logits.cpu()) if layer is None else [Rows(layer, states) for states in out.last_hidden_state]


def _run(model: Model, batch: Batch, tape: Tape, top_k: int, labelled: Sequence[bool], *, padded: bool) -> list[Result]:
    """The results of one pass, their text fields still empty; ``labelled``: which have a prediction."""
    out = _forward(model, batch, tape, padded=padded)
    logits = [None] * len(batch.source) if model.info.kind == "encoder" else _logits(model, out)
    results = [_result(model, batch, item, rows, top_k) for item, rows in enumerate(logits)]
    if not any(labelled):
        return results
    made = []
    for item, (source, length) in enumerate(zip(batch.source, batch.lengths, strict=True)):
        row = predict.row_read(model, source, batch.output[item] if batch.output else None)
        with torch.inference_mode(), guarded(run_failed()):
            label_logits = predict.logits(model, out, row)
        if not labelled[item]:
            label_logits = None
        made.append(None if label_logits is None else predict.prediction(model, label_logits[item], length, row))
    return [replace(result, prediction=said) for result, said in zip(results, made, strict=True)]


def _result(model: Model, batch: Batch, item: int, logits: Tensor | Rows | None, top_k: int) -> Result:
    """One text's result, with its text fields still empty; logits (Q, V).

    The output is the given target or, without one, the text shifted by one token.
    """
    source, query = batch.source[item], batch.query[item] if batch.query else None
    output = batch.output[item] if batch.output else None
    if logits is None:
        return Result(source=source, text="", query=query, output=output)
    if output is None:
        output = _next_tokens(model, source, batch.lengths[item], logits)
    # without a target the prediction after the last token is not a step of the text
    rows = batch.lengths[item] - (not batch.output)
    summary = Summary(model.tokenizer, top_k)
    numbers = summary.given(logits, output.ids[:rows].tolist())
    inputs = source if query is None else query
    steps = summary.steps(numbers, inputs.ids[:rows].tolist())
    checks = tuple(summary.compared(one, logits[one.row]) for one in numbers[-1:])
    return Result(source=source, text="", query=query, output=output, steps=steps, checks=checks)


def _continued(
    model: Model, tape: Tape, prompts: Sequence[Tokens], targets: Sequence[Tokens], top_k: int, *, padded: bool
) -> tuple[Batch, list[Result]]:
    """The batch and the results, text fields still empty, of a decoder-only model's prompts with given targets, in one
    pass.

    There is a step for each token of a target, as decode() has one for each token it writes. Raises TextError for more
    tokens than the model reads, BudgetError.
    """
    wholes = [_whole(model, prompt, target) for prompt, target in zip(prompts, targets, strict=True)]
    batch = Batch.of(model, [whole.take(slice(0, -1)) for whole in wholes], None)
    check_run(model, batch, values=tape.values)
    logits = _logits(model, _forward(model, batch, tape, padded=padded))
    summary, results = Summary(model.tokenizer, top_k), []
    for said, prompt, whole, reads in zip(logits, prompts, wholes, batch.source, strict=True):
        output, rows = whole.take(slice(1, None)), len(whole) - 1
        numbers = summary.given(said, output.ids.tolist(), first=len(prompt) - 1)
        steps = summary.steps(numbers, reads.ids[:rows].tolist())
        output = tokenize.pad(output, model.tokenizer, len(reads))
        checks = (summary.compared(numbers[-1], said[numbers[-1].row]),)
        results.append(Result(source=reads, text="", output=output, steps=steps, checks=checks))
    return batch, results


def _whole(model: Model, prompt: Tokens, target: Tokens) -> Tokens:
    """A prompt and its target as one text of a decoder-only model. Raises TextError."""
    whole = tokenize.from_ids(model.tokenizer, [*prompt.ids.tolist(), *target.ids.tolist()])[1]
    if model.info.positions is not None:
        tokenize.check_length(len(whole), model.info.positions, can_cut=False)
    return whole


def _next_tokens(model: Model, source: Tokens, length: int, logits: Tensor | Rows) -> Tokens:
    """The token after each token of a decoder-only model's text; after the last one, the model's first choice."""
    predicted = tokenize.from_ids(model.tokenizer, [int(logits[length - 1].argmax())])[1]
    predicted = replace(predicted, spans=(None,))  # it is not part of the text
    return tokenize.join(source.take(slice(1, length)), predicted, source.take(slice(length, None)))
