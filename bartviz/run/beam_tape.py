"""Extract one text from the tape of a beam search: its query rows, and the keys and values of its beam.

A text moves between batch rows from step to step, so its queries are gathered step by step. Its keys are copied when it
ends, because another beam then reuses its cache.
Letters in shapes: B beams, H heads, K key columns, d head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from bartviz.record.attention import Kind
from bartviz.tape.tape import Entry, Tape


@dataclass(frozen=True)
class Cached:
    """Keys and values of one beam, for every layer of the decoder: (1, H, K, d) each."""

    keys: dict[int, Tensor | None]
    values: dict[int, Tensor | None]


def cached(tape: Tape, row: int) -> Cached:
    """A copy of the keys and values that the decoder's layers hold now for this batch row."""
    entries = {layer: entry for (kind, layer), entry in tape.entries.items() if kind == "decoder"}
    return Cached(
        {layer: _row(entry.k, row, copy=True) for layer, entry in entries.items()},
        {layer: _row(entry.v, row, copy=True) for layer, entry in entries.items()},
    )


def follow(tape: Tape, rows: Sequence[int], kept: Cached) -> Tape:
    """The tape of one text, as if it had been decoded alone: ``rows[i]`` is its batch row at call i."""
    return replace(
        tape,
        entries={
            (kind, layer): _entry(kind, entry, rows, kept, layer) for (kind, layer), entry in tape.entries.items()
        },
        masks={key: _gather(parts, rows) if key[0] != "encoder" else parts for key, parts in tape.masks.items()},
        biases={key: parts[: len(rows)] if key[0] != "encoder" else parts for key, parts in tape.biases.items()},
    )


def _entry(kind: Kind, entry: Entry, rows: Sequence[int], kept: Cached, layer: int) -> Entry:
    if kind == "encoder":
        return entry
    k, v = (kept.keys[layer], kept.values[layer]) if kind == "decoder" else (_row(entry.k, 0), _row(entry.v, 0))
    return replace(entry, q=_gather(entry.q, rows), k=k, v=v, outputs=_gather(entry.outputs, rows))


def _gather(parts: Sequence[Tensor], rows: Sequence[int]) -> list[Tensor]:
    """One row (1, ...) of each call (B, ...); calls before the beams split have one row for all."""
    return [part[row : row + 1] if len(part) > 1 else part for part, row in zip(parts, rows, strict=False)]


def _row(part: Tensor | None, row: int, *, copy: bool = False) -> Tensor | None:
    if part is None:
        return None
    own = part[row : row + 1] if len(part) > 1 else part  # (1, H, K, d)
    return own.clone() if copy else own
