"""What capture() and decode() share: texts in, a budget kept, a batch made, a Record assembled."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
import transformers
from torch import Tensor

from bartviz.errors import BudgetError, TextError
from bartviz.families.registry import FAMILIES
from bartviz.language import later, mark
from bartviz.models.model import Model
from bartviz.record.attention import Attention, Head, Kind
from bartviz.record.checks import Check
from bartviz.record.record import Provenance, Record
from bartviz.record.steps import Step
from bartviz.tape import assemble
from bartviz.tape.tape import Tape, check_heads, depths
from bartviz.text import clean, tokenize
from bartviz.text.labels import is_blank
from bartviz.text.tokens import Tokens
from bartviz.version import __version__

Truncate = Literal["first", "last"]
Ablation = Mapping[str | Head, float] | Iterable[str | Head] | str | Head
MAX_BYTES = 2 << 30  # of captured attention in one run


@dataclass(frozen=True)
class Prepared:
    """A text that can be run: cleaned, tokenized, within the model's limit; notices say what was done to it."""

    text: str
    tokens: Tokens
    notices: tuple[str, ...] = ()
    pair: str | None = None  # the second sentence, cleaned


def prepare(
    model: Model, text: str, *, pair: str | None = None, allow_special: bool = False, truncate: Truncate | None = None
) -> Prepared:
    """Clean and tokenize a source text. Raises TextError: empty, or longer than the model takes."""
    cleaned = clean.clean(text)
    if pair is not None and _is_empty(pair):
        raise TextError(later("The second sentence is empty, or only white space. Type one, or leave it out."))
    second = None if pair is None else clean.clean(pair)
    notices = cleaned.notices + (() if second is None else second.notices)
    after = None if second is None else second.text

    def encode(part: str) -> Tokens:
        return tokenize.encode(model.tokenizer, part, pair=after, allow_special=allow_special)

    encoded = encode(cleaned.text)
    limit = model.info.positions
    if limit is None or len(encoded) <= limit:
        return Prepared(cleaned.text, encoded, notices + _unknown(model, encoded), after)
    if truncate is None:
        clean.check_length(len(encoded), limit)
    shorter, encoded = _cut(cleaned.text, encoded, limit, truncate or "first", encode)
    which = (
        mark("The last {count:,} of {all:,} tokens are shown.")
        if truncate == "last"
        else mark("The first {count:,} of {all:,} tokens are shown.")
    )
    notice = later(which, count=len(encoded), all=_count(cleaned.text, encode))
    return Prepared(shorter, encoded, (*notices, notice, *_unknown(model, encoded)), after)


def _cut(text: str, full: Tokens, limit: int, side: Truncate, encode: object) -> tuple[str, Tokens]:
    """The first or last part of a text that fits into ``limit`` tokens, cut between two tokens."""
    assert callable(encode)
    spans = [span for span, segment in zip(full.spans, full.segments, strict=True) if span is not None and segment == 0]
    room = limit - (len(full) - len(spans))
    while room > 0:
        part = text[: spans[room - 1][1]] if side == "first" else text[spans[-room][0] :]
        encoded: Tokens = encode(part)
        if len(encoded) <= limit:
            return part, encoded
        room -= len(encoded) - limit
    raise TextError(later("The second sentence alone is longer than the model takes. Shorten it."))


def _count(text: str, encode: object) -> int:
    assert callable(encode)
    return len(encode(text))


def _unknown(model: Model, encoded: Tokens) -> tuple[str, ...]:
    share = tokenize.unknown_share(encoded, model.tokenizer)
    if share < 0.5:
        return ()
    return (later("{share:.0%} of the tokens are unknown to this model: it cannot tell them apart.", share=share),)


def _is_empty(text: str) -> bool:
    return not text or is_blank(text)


def prepare_target(model: Model, target: str) -> Prepared:
    """Clean and tokenize a given output. Raises TextError."""
    if _is_empty(target):
        raise TextError(later("The given output is empty, or only white space. Type one, or leave it out."))
    cleaned = clean.clean(target)
    encoded = tokenize.encode(model.tokenizer, cleaned.text, target=True)
    if model.info.positions is not None:
        clean.check_length(len(encoded), model.info.positions, can_cut=False)
    return Prepared(cleaned.text, encoded, cleaned.notices)


@dataclass(frozen=True)
class Batch:
    """Tokens of every text, padded, and what the network is called with.

    ``source`` the encoder's (or only) tokens, ``query`` the decoder's inputs, ``output`` what follows each of them;
    ``lengths`` the rows of the last stack that are not padding.
    """

    source: tuple[Tokens, ...]
    query: tuple[Tokens, ...]
    output: tuple[Tokens, ...]
    lengths: tuple[int, ...]
    inputs: Mapping[str, Tensor]

    @classmethod
    def of(cls, model: Model, sources: Sequence[Tokens], outputs: Sequence[Tokens] | None) -> Batch:
        source, mask = _padded(model, sources)
        inputs = {"input_ids": _ids(source)} | ({} if mask is None else {"attention_mask": mask})
        if model.info.kind == "encoder" and getattr(model.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = torch.from_numpy(np.stack([part.segments for part in source]))
        if outputs is None:
            return cls(source, (), (), tuple(map(len, sources)), inputs)
        output, target_mask = _padded(model, outputs)
        query = tuple(
            shifted(model, start_token(model, given), part) for given, part in zip(outputs, output, strict=True)
        )
        inputs["decoder_input_ids"] = _ids(query)
        if target_mask is not None:
            inputs["decoder_attention_mask"] = target_mask
        return cls(source, query, output, tuple(map(len, outputs)), inputs)


def _padded(model: Model, parts: Sequence[Tokens]) -> tuple[tuple[Tokens, ...], Tensor | None]:
    """All padded on the right to the longest, and the mask (B, n), or None where nothing was padded."""
    longest = max(len(part) for part in parts)
    if all(len(part) == longest for part in parts):
        return tuple(parts), None
    mask = torch.tensor([[1] * len(part) + [0] * (longest - len(part)) for part in parts])
    return tuple(tokenize.pad(part, model.tokenizer, longest) for part in parts), mask


def _ids(parts: Sequence[Tokens]) -> Tensor:
    return torch.from_numpy(np.stack([part.ids for part in parts]))  # (B, n)


def start_token(model: Model, output: Tokens | None = None) -> int:
    """The id that the decoder reads first. mBART begins a given output with its last token, the language."""
    if FAMILIES[model.info.family].start == "language" and output is not None:
        return int(output.ids[-1])
    for settings in (model.generation, model.config):
        for name in ("decoder_start_token_id", "bos_token_id"):
            found = getattr(settings, name, None)
            if found is not None:
                return int(found)
    return int(model.tokenizer.pad_token_id)


def shifted(model: Model, start: int, output: Tokens) -> Tokens:
    """The decoder's inputs for an output: the start token, then every output token but the last."""
    first = tokenize.from_ids(model.tokenizer, [start])[1]
    return tokenize.join(first, output.take(slice(0, -1)))


def check_budget(model: Model, batch: Batch, *, values: bool) -> None:
    """Raise BudgetError where the captured attention would be larger than MAX_BYTES."""
    source = len(batch.source[0])
    target = len(batch.query[0]) if batch.query else source
    refuse_over(len(batch.source) * predicted_bytes(model, source, target, values=values))


def predicted_bytes(model: Model, source: int, target: int, *, values: bool = False, beams: int = 1) -> int:
    """Bytes that one record of so many source and target tokens will hold, and that the other beams hold meanwhile."""
    info, total = model.info, 0
    for kind, layers in depths(model.network).items():
        heads = info.encoder_heads if kind == "encoder" else info.decoder_heads
        rows = source if kind == "encoder" else target
        columns = source if kind != "decoder" else target
        width = getattr(model.config, "d_kv", None) or info.width // heads
        total += assemble.predicted_bytes(layers, heads, rows, columns, width, values=values)
        if kind != "encoder":
            total += (beams - 1) * assemble.predicted_bytes(layers, heads, rows, columns, width, values=values)
        if FAMILIES[info.family].positions == "relative" and kind != "cross":  # T5 keeps what it adds
            total += 4 * heads * rows * columns
    return total


def refuse_over(size: int) -> None:
    if size > MAX_BYTES:
        raise BudgetError(
            later(
                "The attention of this run would take {size:.1f} GB; the limit is {limit:.1f} GB. Use a "
                "shorter text or a smaller model.",
                size=size / 1e9,
                limit=MAX_BYTES / 1e9,
            )
        )


def head_factors(model: Model, ablate: Ablation) -> dict[Head, float]:
    """Heads by name -> factor of their output (0 silences). Raises SettingError for a head that is not there."""
    named = (ablate,) if isinstance(ablate, str | Head) else ablate
    pairs = named.items() if isinstance(named, Mapping) else ((name, 0.0) for name in named)
    factors = {name if isinstance(name, Head) else Head.parse(name): float(factor) for name, factor in pairs}
    check_heads(model.network, factors)
    return factors


Axes = Mapping[Kind, tuple[Tokens, Tokens]]


def ablated(tape: Tape) -> tuple[str, ...]:
    """The heads whose output a run changed, by name, with their factors."""
    return tuple(f"{name} x {factor:g}" for name, factor in tape.scale_heads.items())


def axes(model: Model, source: Tokens, query: Tokens | None = None) -> Axes:
    """The tokens of the rows and of the columns of each kind; ``query`` are the decoder's inputs."""
    if model.info.kind == "encoder":
        return {"encoder": (source, source)}
    query = source if query is None else query
    if model.info.kind == "decoder":
        return {"decoder": (query, query)}
    return {"encoder": (source, source), "decoder": (query, query), "cross": (query, source)}


def record(
    model: Model,
    tape: Tape,
    named: Axes,
    output: Tokens | None,
    steps: Sequence[Step],
    *,
    source_text: str,
    target_text: str | None,
    pair_text: str | None = None,
    item: int = 0,
    checks: tuple[Check, ...] = (),
) -> Record:
    """The Record of one text of the batch on the tape; ``checks`` are what only the run could compare."""
    attention: dict[Kind, Attention] = {}
    for kind, depth in depths(model.network).items():
        attention[kind], complete = assemble.attention(model.network, tape, kind, depth, *named[kind], item=item)
        checks += (complete,)
    return Record(
        model.info,
        source_text,
        target_text,
        attention.get("encoder"),
        attention.get("decoder"),
        attention.get("cross"),
        output=output,
        steps=steps,
        provenance=Provenance(checks=checks),
        pair_text=pair_text,
    )


def finish(
    made: Record,
    started: float,
    *,
    settings: Mapping[str, object],
    notices: tuple[str, ...] = (),
    stopped: str | None = None,
) -> Record:
    """The record with its provenance complete: versions, settings, time since ``started`` (perf_counter), notices.

    Its attention is compared with the kernel's output here, where that is part of the run.
    """
    for kind in made.kinds:
        _ = made.attention(kind).difference
    versions = {"bartviz": __version__, "transformers": transformers.__version__, "torch": torch.__version__}
    provenance = replace(
        made.provenance,
        versions=versions,
        settings={key: value for key, value in settings.items() if value not in (None, (), [])},
        seconds=time.perf_counter() - started,
        stopped=stopped,
        notices=notices,
    )
    return replace(made, provenance=provenance)
