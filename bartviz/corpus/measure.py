"""Texts in batches of about the same length, each measured while one pass runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from bartviz.analysis.own_measures import Own
from bartviz.callbacks import never
from bartviz.corpus.batch_looks import TokenNames
from bartviz.corpus.batch_measures import BatchMeasures, Values
from bartviz.corpus.encode import Encoded, Padded, padding_token
from bartviz.corpus.mutual import Links
from bartviz.corpus.own import OfBatch
from bartviz.corpus.trees import Arcs
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from bartviz.tape.tape import Tape, depths, recording

TOKENS = 3_072  # of a batch, padding included
CELLS = 1 << 19  # of a batch: texts x rows x columns


def batches(rows: Sequence[Encoded]) -> list[list[int]]:
    """The indices of the rows of each batch: rows of about the same length, within ``TOKENS`` and ``CELLS``."""
    order = sorted(range(len(rows)), key=lambda index: (*_snaking(*rows[index].size), index))
    found: list[list[int]] = []
    longest, widest = 0, 0
    for index in order:
        target, source = rows[index].size
        longest, widest = max(longest, target), max(widest, source)
        across, count = max(longest, widest), len(found[-1]) + 1 if found else 0
        if not found or count * (longest + widest) > TOKENS or count * across * across > CELLS:
            found.append([])
            longest, widest = target, source
        found[-1].append(index)
    return found


def _snaking(target: int, source: int) -> tuple[int, int]:
    """The place of a row among others: by the target, two lengths at a time, and within these by the source, upwards
    and downwards in turn, so that neighbours are alike in both."""
    return target // 2, source if target // 2 % 2 == 0 else -source


def measure(
    model: Model,
    rows: Sequence[Encoded],
    edges: float | None = None,
    cancelled: Callable[[], bool] = never,
    functions: Mapping[str, Own] = MappingProxyType({}),
) -> dict[Kind, Values]:
    """The measures of all heads for texts that fit one batch, and the edges above a weight; those of the caller's own
    ``functions`` last, for which the rows need their labels."""
    with model.creating():
        source, inputs, output = padded(model, rows)
        gold = Links.of(rows) if any(row.gold is not None for row in rows) else None
        arcs = None
        if any(row.tree is not None for row in rows):
            arcs = Arcs.of([row.tree for row in rows], source.ids.shape[1])
        kinds: dict[Kind, BatchMeasures] = {}
        for kind in depths(model.network):
            reads = source if kind == "encoder" or inputs is None else inputs
            query = output if kind == "cross" and output is not None else reads
            more = OfBatch.of(kind, functions, rows) if functions else None
            key = source if kind == "cross" else reads
            kinds[kind] = BatchMeasures(kind, TokenNames.of(model), query, reads, key, gold, edges, more)
            if reads is source and kind != "cross":
                kinds[kind].arcs = arcs
        left = sum(depths(model.network).values())

        def kernel(tape: Tape, kind: Kind, layer: int) -> Tensor:
            nonlocal left
            outputs, left = kinds[kind].layer(tape, layer), left - 1
            if left == 0:
                raise _AllMeasured
            return outputs

        with suppress(_AllMeasured):
            run(model, source, inputs, Tape(kernel=kernel, cancelled=cancelled))
        return {kind: texts.values() for kind, texts in kinds.items()}


class _AllMeasured(Exception):
    """Ends a pass after its last attention: the feed-forward layer behind it changes no measure."""


@torch.inference_mode()
def run(model: Model, source: Padded, inputs: Padded | None, tape: Tape) -> None:
    """One pass that is written down. Only the stacks run, for the output layer has no attention."""
    with recording(tape):
        forward(model, model.runner.base_model, source, inputs)


def forward(model: Model, network: nn.Module, source: Padded, inputs: Padded | None, *, states: bool = False) -> Any:
    """One pass of a network of that model, or of its stacks -> its output, with the states of every layer if asked."""
    arguments: dict[str, Any] = {"input_ids": source.ids}
    if not source.valid.all():
        arguments["attention_mask"] = source.valid.long()
    if model.info.kind == "encoder" and getattr(model.config, "type_vocab_size", 0) > 1:
        arguments["token_type_ids"] = source.segments
    if inputs is not None:
        arguments["decoder_input_ids"] = inputs.ids
        if not inputs.valid.all():
            arguments["decoder_attention_mask"] = inputs.valid.long()
    if model.info.kind != "encoder":
        arguments["use_cache"] = False
    if states:
        arguments["output_hidden_states"] = True
    return network(**arguments)


def padded(model: Model, rows: Sequence[Encoded]) -> tuple[Padded, Padded | None, Padded | None]:
    """The texts of a batch, what the decoder reads, and what its rows predict."""
    pad = padding_token(model)
    inputs = [row.inputs for row in rows if row.inputs is not None]
    output = [row.output for row in rows if row.output is not None]
    return (
        Padded.of([row.source for row in rows], pad, model.device),
        Padded.of(inputs, pad, model.device) if inputs else None,
        Padded.of(output, pad, model.device) if output else None,
    )
