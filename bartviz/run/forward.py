"""capture(): one pass of a model -> Record; capture_batch(): several texts padded into one pass.

Encoder-only models run once. An encoder-decoder decodes greedily (generation.py), or is given the target and runs once
(teacher forcing). A decoder-only model runs once over the text; its steps say how it would have gone on at each place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from bartviz.errors import SettingError, TextError
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.record.checks import Check
from bartviz.record.record import Record
from bartviz.record.steps import Step
from bartviz.run import prepare
from bartviz.run.candidates import Summary
from bartviz.run.generate import decode
from bartviz.run.prepare import Ablation, Truncate
from bartviz.safety.foreign import guarded, run_failed
from bartviz.tape.tape import Tape, recording
from bartviz.text import tokenize
from bartviz.text.clean import check_length
from bartviz.text.tokens import Tokens


def capture(
    model: Model,
    text: str,
    *,
    pair: str | None = None,
    target: str | None = None,
    top_k: int = 10,
    max_new_tokens: int | None = None,
    values: bool = False,
    ablate: Ablation = (),
    allow_special: bool = False,
    truncate: Truncate | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Record:
    """Run a model once on a text and keep all its attention.

    pair: second sentence of an encoder-only model.
    target: given output (teacher forcing): of an encoder-decoder, which without it decodes greedily; of a decoder-only
        model how the text goes on, as it stands (a word begins with its space), and the steps are its tokens alone.
    values: keep the value vectors too.
    ablate: heads to silence ("cross L2H5"), or a mapping to factors for their outputs.
    truncate: which part to keep of a text that is too long (else TextError).
    Raises TextError, SettingError, BudgetError, Cancelled.
    """
    expect_model(model)
    kind = model.info.kind
    if pair is not None and kind != "encoder":
        raise SettingError(
            later("A second sentence belongs to encoder models such as BERT. Leave it out, or choose one of those.")
        )
    if target is not None and kind == "encoder":
        raise SettingError(
            later("A target belongs to models that write, such as BART or GPT-2. Leave it out, or choose one of those.")
        )
    if kind == "encoder-decoder" and target is None:
        return decode(
            model,
            text,
            max_new_tokens=max_new_tokens,
            top_k=top_k,
            ablate=ablate,
            values=values,
            allow_special=allow_special,
            truncate=truncate,
            cancelled=cancelled,
        )
    started = time.perf_counter()
    prepared = prepare.prepare(model, text, pair=pair, allow_special=allow_special, truncate=truncate)
    given = None if target is None else prepare.prepare_target(model, target)
    tape = Tape(values=values, scale_heads=prepare.head_factors(model, ablate), cancelled=cancelled)
    if given is not None and kind == "decoder":
        record = _continued(model, tape, [prepared.tokens], [given.tokens], top_k)[0]
    else:
        batch = prepare.Batch.of(model, [prepared.tokens], None if given is None else [given.tokens])
        prepare.check_budget(model, batch, values=values)
        record = _assemble(model, tape, batch, 0, _forward(model, batch, tape), top_k)
    target_text = None if given is None else given.text
    record = replace(record, source_text=prepared.text, target_text=target_text, pair_text=prepared.pair)
    notices = prepared.notices + (() if given is None else given.notices)
    settings = {"mode": "one pass" if given is None else "given target", "ablated": prepare.ablated(tape)}
    return prepare.finish(record, started, settings=settings, notices=notices)


def capture_batch(
    model: Model,
    texts: Sequence[str],
    *,
    targets: Sequence[str] | None = None,
    top_k: int = 10,
    values: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Record, ...]:
    """Several texts, padded to the longest, in one pass: one Record each, padding tokens kept and masked.

    targets: given outputs, one for each text, as capture() takes one. For an encoder-decoder without them each text is
    decoded first, then all run once with what came out.
    Raises TextError, SettingError, BudgetError, Cancelled.
    """
    expect_model(model)
    if isinstance(texts, str):
        raise TextError("Several texts are expected, a list of str: of one text use capture().")
    if not texts:
        raise TextError(later("There is no text to run. Give at least one."))
    if targets is not None and (model.info.kind == "encoder" or isinstance(targets, str) or len(targets) != len(texts)):
        raise SettingError(later("Targets belong to models that write, such as BART or GPT-2: one for each text."))
    started = time.perf_counter()
    sources = [prepare.prepare(model, text) for text in texts]
    given = None if targets is None else [prepare.prepare_target(model, target) for target in targets]
    outputs: list[Tokens] | None = None if given is None else [part.tokens for part in given]
    target_texts: list[str | None] = [None] * len(texts) if given is None else [part.text for part in given]
    if model.info.kind == "encoder-decoder" and given is None:
        decoded = [decode(model, text, cancelled=cancelled) for text in texts]
        target_texts = [record.target_text for record in decoded]
        outputs = [record.output for record in decoded if record.output is not None]
    tape = Tape(values=values, cancelled=cancelled)
    if model.info.kind == "decoder" and outputs is not None:
        made = _continued(model, tape, [source.tokens for source in sources], outputs, top_k)
    else:
        batch = prepare.Batch.of(model, [source.tokens for source in sources], outputs)
        prepare.check_budget(model, batch, values=values)
        logits = _forward(model, batch, tape)
        made = [_assemble(model, tape, batch, item, logits, top_k) for item in range(len(sources))]
    settings = {"mode": "one pass" if targets is None else "given target", "batch": len(texts)}
    records = []
    for item, source in enumerate(sources):
        record = replace(made[item], source_text=source.text, target_text=target_texts[item])
        notices = source.notices + (() if given is None else given[item].notices)
        records.append(prepare.finish(record, started, settings=settings, notices=notices))
    return tuple(records)


@torch.inference_mode()
def _forward(model: Model, batch: prepare.Batch, tape: Tape) -> torch.Tensor | None:
    """Run the network once under the tape -> logits (B, Q, V), or None for an encoder-only model."""
    with recording(tape), guarded(run_failed()):
        if model.info.kind == "encoder":
            model.network.base_model(**batch.inputs)
            return None
        logits: torch.Tensor = model.network(**batch.inputs, use_cache=False).logits
        return logits


def _assemble(
    model: Model,
    tape: Tape,
    batch: prepare.Batch,
    item: int,
    logits: torch.Tensor | None,  # (B, Q, V)
    top_k: int,
) -> Record:
    """One text's Record, its texts still empty. What follows each decoder row is the given target, or the next token of
    the text itself."""
    source = batch.source[item]
    output = batch.output[item] if batch.output else None
    steps: Sequence[Step] = ()
    checks: tuple[Check, ...] = ()
    if logits is not None:
        if output is None:
            output = _next_tokens(model, source, batch.lengths[item], logits[item])
        inputs = batch.query[item] if batch.query else source
        # a text that is read, not written, ends with its last token: what the model would add is no step of it
        rows = batch.lengths[item] - (not batch.output)
        summary = Summary(model.tokenizer, top_k)
        numbers = summary.given(logits[item], output.ids[:rows].tolist())
        steps = summary.steps(numbers, inputs.ids[:rows].tolist())
        checks = tuple(summary.compared(one, logits[item, one.row]) for one in numbers[-1:])
    axes = prepare.axes(model, source, batch.query[item] if batch.query else None)
    return prepare.record(model, tape, axes, output, steps, source_text="", target_text=None, item=item, checks=checks)


def _continued(
    model: Model, tape: Tape, prompts: Sequence[Tokens], targets: Sequence[Tokens], top_k: int
) -> list[Record]:
    """The Records, their texts still empty, of a decoder-only model's texts that go on as given, padded in one pass.

    Each has a step for each token of its target, as decode() has one for each that it writes. Raises TextError for more
    tokens than the model reads, BudgetError.
    """
    wholes = [_whole(model, prompt, target) for prompt, target in zip(prompts, targets, strict=True)]
    batch = prepare.Batch.of(model, [whole.take(slice(0, -1)) for whole in wholes], None)
    prepare.check_budget(model, batch, values=tape.values)
    logits = _forward(model, batch, tape)
    assert logits is not None  # (B, Q, V): only an encoder has none
    summary, made = Summary(model.tokenizer, top_k), []
    for item, (prompt, whole, reads) in enumerate(zip(prompts, wholes, batch.source, strict=True)):
        output, rows = whole.take(slice(1, None)), len(whole) - 1
        numbers = summary.given(logits[item], output.ids.tolist(), first=len(prompt) - 1)
        steps = summary.steps(numbers, reads.ids[:rows].tolist())
        output = tokenize.pad(output, model.tokenizer, len(reads))
        axes = prepare.axes(model, reads)
        checks = (summary.compared(numbers[-1], logits[item, numbers[-1].row]),)
        record = prepare.record(
            model, tape, axes, output, steps, source_text="", target_text=None, item=item, checks=checks
        )
        made.append(record)
    return made


def _whole(model: Model, prompt: Tokens, target: Tokens) -> Tokens:
    """A prompt and how it goes on, as one text of a decoder-only model. Raises TextError."""
    whole = tokenize.from_ids(model.tokenizer, [*prompt.ids.tolist(), *target.ids.tolist()])[1]
    if model.info.positions is not None:
        check_length(len(whole), model.info.positions, can_cut=False)
    return whole


def _next_tokens(model: Model, source: Tokens, length: int, logits: torch.Tensor) -> Tokens:
    """What follows each token of a decoder-only model's text; after the last one, the model's own first choice."""
    own = tokenize.from_ids(model.tokenizer, [int(logits[length - 1].argmax())])[1]
    own = replace(own, spans=(None,))  # it stands for none of the text
    return tokenize.join(source.take(slice(1, length)), own, source.take(slice(length, None)))
