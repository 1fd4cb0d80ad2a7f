"""branch(): what if one token had been different? Keep the beginning, change the token, and decode the rest."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from numbers import Integral
from typing import Any

import numpy as np

from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.record.vocabulary import BEAM_SEARCH, BRANCHED_AT, CHOSEN_BY_YOU, DECODER_START, KEPT, SAMPLING, TO_MEAN
from bartviz.run import generate
from bartviz.run.loop import Forced, Written
from bartviz.run.options import Options, forced_ids
from bartviz.run.prepare import Prepared
from bartviz.run.sampling import FILTERS, Sampling
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.text import tokenize

_LENGTHS = {"max_new_tokens": int, "min_new_tokens": int, "no_repeat_ngram_size": int, "use_rules": bool}
_SEARCH = {"beams": int, "length_penalty": float, "early_stopping": bool | str}
_DRAWN = {"temperature": float, "top_k": int, "top_p": float, "seed": int, **dict.fromkeys(FILTERS, float)}


@torch_defaults()
def branch(model: Model, record: Record, position: int, token: str | int, **options: Any) -> Record:
    """Keep the source and the tokens before step ``position``, put ``token`` there, and let the model continue.

    record: from decode(), or from capture() with a target or with a decoder-only model. token: an id, or text (with its
    leading space where it begins a word) that may be several tokens. options: those of decode(); the others are the
    record's own, so that its own token at a step gives its own text again. The text may differ if beams were used (a
    given beginning leaves only one to start from), if a later token was forced (forced tokens after ``position`` are
    dropped) or if the target was given (the model did not choose it). Steps before ``position`` keep the rule that
    decided them, or have "kept from the first text"; the new token has "chosen by you". Raises SettingError,
    BudgetError, Cancelled.

    >>> bartviz.branch(model, record, 4, " Haus").target_text
    'Ich möchte ein Haus kaufen.'
    """
    started = time.perf_counter()
    expect_model(model, record)
    if record.model.fingerprint != model.info.fingerprint:
        raise SettingError(
            later("The record was made by another model. Load that one, or decode the text with this model.")
        )
    if not record.steps or record.decoder is None:
        raise SettingError(
            later("This record has no steps to branch from: use one of decode(), or of capture() with a target.")
        )
    last = len(record.steps) - 1
    if not isinstance(position, Integral) or not 0 <= position <= last:
        raise SettingError(
            later("Position {position} is not a step of this record; choose 0 to {last}.", position=position, last=last)
        )
    unknown = sorted(set(options) - {field.name for field in fields(Options)})
    if unknown:
        raise SettingError(
            later(
                "branch() has no option {name}; it accepts those of decode() except force and the text's.",
                name=unknown[0],
            )
        )
    kept = {step.position: Forced(step.chosen.token_id, step.rule or KEPT) for step in record.steps[:position]}
    typed = _new_ids(model, int(position), token)
    new = {step_index: Forced(i, CHOSEN_BY_YOU) for step_index, i in typed.items()}
    prepared, start = beginning(model, record)

    def notices(written: Written) -> tuple[str, ...]:
        count = len(written.steps)
        if count >= position + len(new):
            return ()
        notice = later(
            "Only {placed} of the {all} typed tokens are in the text: it ends with token {count}.",
            placed=count - position,
            all=len(new),
            count=count,
        )
        return (notice,)

    return generate.write(
        model,
        prepared,
        start,
        kept | new,
        Options(**as_before(record) | options),
        started,
        notices,
        {BRANCHED_AT: int(position)} | _begun(record),
    )


def _new_ids(model: Model, position: int, token: str | int) -> dict[int, int]:
    """The new tokens by position. Raises SettingError with a message that names no position: the user typed none."""
    try:
        return forced_ids(model, {position: token})
    except SettingError:
        raise SettingError(
            later("The new token is empty or not in the model's vocabulary. Give another one.")
        ) from None


def _begun(record: Record) -> dict[str, object]:
    """The setting of a first token that is not the model's own, if the record has one."""
    settings = record.provenance.settings
    return {DECODER_START: settings[DECODER_START]} if DECODER_START in settings else {}


@torch_defaults()
def restarted(model: Model, record: Record, token: int, **options: Any) -> Record:
    """The record's text decoded again by a decoder that reads ``token`` first; other options as they were, or as given.

    The tokens are those of ``generate(decoder_start_token_id=token)``. Raises SettingError for a record of another
    model, for one without an encoder, and for a token that is not in the vocabulary; BudgetError, Cancelled.
    """
    started = time.perf_counter()
    expect_model(model, record)
    if record.model.fingerprint != model.info.fingerprint:
        raise SettingError(
            later("The record was made by another model. Load that one, or decode the text with this model.")
        )
    if record.encoder is None or not record.steps:
        raise SettingError(later("Only the decoder of an encoder-decoder reads a first token that is not in its text."))
    if not 0 <= token < model.info.vocabulary:
        raise SettingError(
            later("There is no token {token}: choose 0 to {last}.", token=token, last=model.info.vocabulary - 1)
        )
    prepared, _ = beginning(model, record)
    given = Options(**as_before(record) | options)
    return generate.write(model, prepared, (token,), {}, given, started, settings={DECODER_START: token})


def beginning(model: Model, record: Record) -> tuple[Prepared, tuple[int, ...]]:
    """The record's source without padding, and the decoder's tokens before the first step."""
    assert record.decoder is not None
    first = record.steps[0].row + 1
    turns = tuple(replace(turn, stop=min(turn.stop, first)) for turn in record.turns if turn.start <= first)
    start = record.decoder.query.take(slice(0, first))
    ids = tuple(start.ids.tolist())
    if record.encoder is None:
        text = tokenize.from_ids(model.tokenizer, ids)[0] if record.target_text is None else record.source_text
        return Prepared(text, start, turns=turns), ids
    length = int(np.count_nonzero(record.encoder.mask.any(axis=0)))  # padding is at the end
    return Prepared(record.source_text, record.source.take(slice(0, length))), ids


def as_before(record: Record) -> dict[str, Any]:
    """The options with which the record was made. Raises SettingError for values of the wrong type."""
    settings = record.provenance.settings
    mode = record.provenance.mode
    names = [*_LENGTHS, *(_SEARCH if mode == BEAM_SEARCH else ()), *(_DRAWN if mode == SAMPLING else ())]
    options: dict[str, Any] = {name: settings[name] for name in names if name in settings}
    kinds = _LENGTHS | _SEARCH | _DRAWN
    wrong = [name for name, value in options.items() if not isinstance(value, kinds[name])]
    if wrong:
        raise SettingError(later("The record's setting {name} cannot be read. Decode the text again.", name=wrong[0]))
    if mode == SAMPLING:
        options["sample"] = Sampling(**{name: options.pop(name) for name in _DRAWN if name in options})
    options["top_k"] = max(1, len(record.steps[0].candidates))
    options["values"] = any(record.attention(kind).v is not None for kind in record.kinds)
    options["ablate"] = scaled(record)
    return options


def scaled(record: Record) -> dict[Head, float]:
    """The scaled heads and their factors, parsed from provenance ("cross L2H5 x 0"). Raises SettingError."""
    entries = record.provenance.settings.get("ablated", ())
    if isinstance(entries, tuple) and any(str(entry).endswith(TO_MEAN) for entry in entries):
        raise SettingError(
            later("Heads of this record were replaced by a mean, which a record does not keep: run its text again.")
        )
    parts = [str(entry).rpartition(" x ") for entry in (entries if isinstance(entries, tuple) else ())]
    try:
        return {Head.parse(name): float(factor) for name, _, factor in parts}
    except ValueError:
        raise SettingError(later("The record's setting ablated cannot be read. Decode the text again.")) from None
