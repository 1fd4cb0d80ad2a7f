"""From the tape to Attention: stack the layers, build the masks, and check that they explain what was computed.

Letters in shapes: L layers, H heads, Q query rows, K key columns, d head width, D model width, B batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bartviz.record import Attention, Bools, Check, Floats, Kind, Tokens
from bartviz.tape import Entry, Tape, projection_weights

SUM_LIMIT = 1e-5  # |sum of a row - 1|
OUTPUT_LIMIT = 1e-4  # largest difference to the kernel's output, relative to its largest number
_CHECKED_HEADS = 2


@dataclass(frozen=True)
class Kept:
    """One kind of attention and what was found when it was checked."""

    attention: Attention
    checks: tuple[Check, ...]


def attention(tape: Tape, kind: Kind, depth: int, query: Tokens, key: Tokens, item: int = 0) -> Kept:
    """The attention of one kind and one text of the batch, with its self-check. Takes the entries off the tape
    where the batch holds one text, so that queries and keys are never in memory twice."""
    entries = [tape.entries[kind, layer] for layer in range(depth) if (kind, layer) in tape.entries]
    complete = Check(f"{kind} layers", len(entries) == depth, float(len(entries)), float(depth))
    last = entries[-1]
    values, outputs = last.v, last.outputs
    scale = entries[0].scale
    mask = _mask(tape.masks[kind], item)
    heads, width = entries[0].q[0].shape[1], entries[0].q[0].shape[3]
    q = np.empty((len(entries), heads, len(query), width), np.float32)  # (L, H, Q, d)
    k = np.empty((len(entries), heads, len(key), width), np.float32)  # (L, H, K, d)
    v = np.empty((*k.shape[:3], values.shape[3]), np.float32) if tape.values and values is not None else None
    single = entries[0].q[0].shape[0] == 1
    for layer, entry in enumerate(entries):
        _fill(entry, item, q[layer], k[layer], None if v is None else v[layer])
        if entry.scale != scale:  # GPT-2 may scale by layer: queries carry the ratio
            q[layer] *= entry.scale / scale
        if single:
            tape.entries.pop((kind, layer))
    out, out_bias = _projections(tape, kind, entries) if tape.values else (None, None)
    bias = _bias(tape.biases.get(kind), mask.shape)
    kept = Attention(kind, q, k, scale, mask, query, key, v=v, bias=bias, out=out, out_bias=out_bias)
    return Kept(kept, (complete, *_reproduce(kept, values, outputs, item)))


def _fill(entry: Entry, item: int, q: Floats, k: Floats, v: Floats | None) -> None:
    start = 0
    for rows in entry.q:  # (B, H, Q', d)
        stop = start + rows.shape[2]
        q[:, start:stop] = rows[item].numpy()
        start = stop
    assert entry.k is not None
    k[:] = entry.k[item].numpy()
    if v is not None and entry.v is not None:
        v[:] = entry.v[item].numpy()


def _projections(tape: Tape, kind: Kind, entries: list[Entry]) -> tuple[Floats, Floats | None]:
    """(L, D, H, d) and (L, D) or None: as the run used them, changed heads included; one copy for all of a batch."""
    if kind not in tape.projections:
        heads = entries[0].q[0].shape[1]
        weights, biases = [], []
        for layer, entry in enumerate(entries):
            assert entry.projection is not None
            weight, bias = projection_weights(entry.projection, heads)  # (D, H, d), (D,)
            factors = tape.factors(kind, layer, heads)  # (H, 1)
            weights.append((weight if factors is None else weight * factors).detach())
            biases.append(None if bias is None else bias.detach())
        given = [bias for bias in biases if bias is not None]
        tape.projections[kind] = (torch.stack(weights).numpy(), torch.stack(given).numpy() if given else None)
    return tape.projections[kind]


def _mask(parts: list[Tensor], item: int) -> Bools:
    """(Q, K): the rows of every call, one below the other; a later key was not there for an earlier row."""
    columns = parts[-1].shape[2]
    mask = np.zeros((sum(part.shape[1] for part in parts), columns), np.bool_)
    start = 0
    for part in parts:
        rows = part[item if part.shape[0] > 1 else 0].numpy()  # (Q', K')
        mask[start : start + len(rows), : rows.shape[1]] = rows
        start += len(rows)
    return mask


def _bias(parts: list[Tensor] | None, shape: tuple[int, ...]) -> Floats | None:
    """(H, Q, K) of the stack, or None where there is none; 0 where a key was not there yet."""
    if not parts:
        return None
    bias = np.zeros((parts[0].shape[0], *shape), np.float32)
    start = 0
    for part in parts:  # (H, Q', K')
        bias[:, start : start + part.shape[1], : part.shape[2]] = part.numpy()
        start += part.shape[1]
    return bias


def _reproduce(kept: Attention, values: Tensor | None, outputs: list[Tensor], item: int) -> tuple[Check, ...]:
    """Recompute two heads of the last layer from the record and compare with what the kernel put out."""
    assert values is not None
    layers, heads = kept.shape[:2]
    chosen = sorted({0, heads - 1})[:_CHECKED_HEADS]
    weights = np.stack([kept.head(layers - 1, head) for head in chosen])  # (h, Q, K)
    ours = weights @ values[item, chosen].numpy()  # (h, Q, d)
    real = torch.cat([part[item][:, chosen] for part in outputs]).transpose(0, 1).numpy()  # (h, Q, d)
    rows = ~kept.masked_rows
    size = max(float(np.abs(real).max(initial=0.0)), 1e-6)
    difference = float(np.abs(ours - real)[:, rows].max(initial=0.0)) / size
    sums = float(np.abs(weights.sum(axis=-1) - 1).max(initial=0.0))
    leak = float((weights * ~kept.mask)[:, rows].max(initial=0.0))
    return (
        Check(f"{kept.kind} rows sum to 1", sums <= SUM_LIMIT, sums, SUM_LIMIT),
        Check(f"{kept.kind} masks obeyed", leak == 0.0, leak, 0.0),
        Check(f"{kept.kind} output reproduced", difference <= OUTPUT_LIMIT, difference, OUTPUT_LIMIT),
    )


def predicted_bytes(
    layers: int, heads: int, rows: int, columns: int, width: int, *, values: bool = False, model_width: int = 0
) -> int:
    """Bytes of a captured kind of attention, before the run: float32 queries and keys, boolean mask.

    ``values`` adds the values and the output projection into ``model_width``, with its bias.
    """
    kept = 4 * layers * heads * width * (rows + columns) + rows * columns
    return kept + 4 * layers * (heads * width * (columns + model_width) + model_width) * values
