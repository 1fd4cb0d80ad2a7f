"""From the tape to Attention: stack the layers, build the masks, and keep a sample of the kernel's output.

Letters in shapes: L layers, H heads, Q query rows, K key columns, d head width, D model width, B batch.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from bartviz.arrays import Bools, Floats
from bartviz.record.attention import Attention, Kind
from bartviz.record.checks import TAPE, Check
from bartviz.record.sample import Sample
from bartviz.tape.tape import SAMPLED_ROWS, Entry, Tape, compared_head, projection_weights, sampled
from bartviz.text.tokens import Tokens

Projections = tuple[Floats, Floats | None]  # (L, D, H, d) and (L, D)
_PROJECTIONS: WeakKeyDictionary[PreTrainedModel, dict[Kind, Projections]] = WeakKeyDictionary()


def attention(
    network: PreTrainedModel, tape: Tape, kind: Kind, depth: int, query: Tokens, key: Tokens, item: int = 0
) -> tuple[Attention, Check]:
    """The attention of one kind for one text of the batch, and a check that every layer was on the tape, with a mask
    that follows from its window.

    Of a text that is padded, as many rows and columns are taken as it has tokens: arrays of its own, so that nothing of
    the batch stays in memory. With a single text the entries are removed from the tape, so that queries and keys are
    never in memory twice.
    """
    entries = [tape.entries[kind, layer] for layer in range(depth) if (kind, layer) in tape.entries]
    scale = entries[0].scale
    shape = len(query), len(key)
    masks = {window: _mask(parts, item, shape) for (name, window), parts in tape.masks.items() if name == kind}
    mask = _whole(masks, kind)
    windows = np.array([entry.window for entry in entries])  # (L,)
    cap = entries[0].softcap
    heads, width = entries[0].q[0].shape[1], entries[0].q[0].shape[3]
    q = np.empty((len(entries), heads, len(query), width), np.float32)  # (L, H, Q, d)
    k = np.empty((len(entries), heads, len(key), width), np.float32)  # (L, H, K, d)
    values = entries[0].v
    assert values is not None
    v = np.empty((len(entries), values.shape[1], len(key), values.shape[3]), np.float32)  # (L, H or 1, K, d)
    sample = _sample(entries, item, len(query), None if tape.values else v)
    single = entries[0].q[0].shape[0] == 1
    out, out_bias = _projections(network, tape, kind, entries) if tape.values else (None, None)
    for layer, entry in enumerate(entries):
        _fill(entry, item, q[layer], k[layer], v[layer])
        if entry.scale != scale:  # GPT-2 may scale by layer: queries carry the ratio
            q[layer] *= entry.scale / scale
        if single:
            tape.entries.pop((kind, layer))
    biases = [_bias(tape.biases[kind, layer], shape) for layer in range(depth) if (kind, layer) in tape.biases]
    bias = np.stack(biases) if len(biases) > 1 else biases[0] if biases else None
    sinks = [_host(entry.sinks) for entry in entries if entry.sinks is not None]
    made = Attention(
        kind,
        q,
        k,
        scale,
        mask,
        query,
        key,
        v=v if tape.values else None,
        bias=bias,
        windows=windows if windows.any() else None,
        softcap=cap,
        sinks=np.stack(sinks) if sinks else None,
        out=out,
        out_bias=out_bias,
        sample=sample,
        borrowed=tape.values and not tape.changes(kind),
    )
    odd = sum(
        not np.array_equal(masks[entry.window], made.allowed(layer)) or entry.softcap != cap
        for layer, entry in enumerate(entries)
    )
    return made, Check(TAPE, float(depth - len(entries) + odd), 0.0, kind)


def _sample(entries: list[Entry], item: int, length: int, v: Floats | None) -> Sample:
    """The kernel's output for the text's own rows: of every head if values are kept, else of the one head per layer
    whose values are."""
    count, width = entries[0].q[0].shape[1], entries[0].outputs[0].shape[3]
    starts = np.cumsum([0, *(rows.shape[2] for rows in entries[0].q)])
    heads, row_indices, output = [], [], []
    for layer, entry in enumerate(entries):
        calls = zip(starts, entry.q, strict=False)
        found = [start + sampled(min(part.shape[2], length - start), layer) for start, part in calls]
        rows = np.concatenate(found)
        chosen = sampled(len(rows), layer)
        kept = np.arange(count) if v is None else np.array([compared_head(layer, count)])
        parts = zip(found, entry.outputs, strict=True)
        made = np.concatenate(
            [_host(part[item if len(part) > 1 else 0, : len(own)]) for own, part in parts]
        )  # (R, H, d)
        heads.append(kept)
        row_indices.append(rows[chosen])
        output.append(made[chosen[:, None], kept].reshape(len(chosen), len(kept), width))  # (R, C, d)
    return Sample(np.stack(heads), np.stack(row_indices), np.stack(output).swapaxes(1, 2), v)


def _fill(entry: Entry, item: int, q: Floats, k: Floats, v: Floats) -> None:
    start = 0
    for rows in entry.q:  # (B, H, Q', d)
        stop = start + rows.shape[2]
        q[:, start:stop] = _host(rows[item, :, : q.shape[1] - start])
        start = stop
    assert entry.k is not None
    k[:] = _host(entry.k[item, :, : k.shape[1]])
    assert entry.v is not None
    v[:] = _host(entry.v[item, :, : v.shape[1]])


def _projections(network: PreTrainedModel, tape: Tape, kind: Kind, entries: list[Entry]) -> Projections:
    """(L, D, H, d) and (L, D) or None: one array shared by all records of the model; a copy if heads are scaled."""
    shared = _PROJECTIONS.setdefault(network, {})
    if kind not in shared:
        shared[kind] = _stacked(entries)
    if not tape.changes(kind):
        return shared[kind]
    out, bias = shared[kind]
    out = out.copy()
    for layer in range(len(out)):
        factors = tape.factors(kind, layer, out.shape[2])  # (H, 1)
        if factors is not None:
            out[layer] *= factors.numpy()
    return out, bias


def _stacked(entries: list[Entry]) -> Projections:
    weights, biases = [], []
    for entry in entries:
        assert entry.projection is not None
        weight, bias = projection_weights(entry.projection, entry.q[0].shape[1])  # (D, H, d), (D,)
        weights.append(_host(weight))
        biases.append(None if bias is None else _host(bias))
    given = [bias for bias in biases if bias is not None]
    stacked = (np.stack(weights), np.stack(given) if given else None)
    for array in stacked:
        if array is not None:
            array.flags.writeable = False
    return stacked


def _mask(parts: list[Tensor], item: int, shape: tuple[int, int]) -> Bools:
    """(Q, K): the rows of every call, stacked; an earlier row could not see later keys."""
    mask = np.zeros(shape, np.bool_)
    start = 0
    for part in parts:
        rows = _host(part[item if part.shape[0] > 1 else 0])[: shape[0] - start, : shape[1]]  # (Q', K')
        mask[start : start + len(rows), : rows.shape[1]] = rows
        start += len(rows)
    return mask


def _whole(masks: dict[int, Bools], kind: Kind) -> Bools:
    """(Q, K) the mask of a layer without a window; where all have one, what the windows are cut out of."""
    if 0 in masks:
        return masks[0]
    widest = masks[max(masks)]
    whole: Bools = np.broadcast_to(widest.any(axis=0), widest.shape)
    return np.tril(whole) if kind == "decoder" else whole


def _bias(parts: list[Tensor], shape: tuple[int, ...]) -> Floats:
    """(H, Q, K) of a layer, or of all; 0 where a key did not exist yet."""
    bias = np.zeros((parts[0].shape[0], *shape), np.float32)
    start = 0
    for part in parts:  # (H, Q', K')
        rows = _host(part)[:, : shape[0] - start, : shape[1]]
        bias[:, start : start + rows.shape[1], : rows.shape[2]] = rows
        start += part.shape[1]
    return bias


def _host(part: Tensor) -> NDArray[Any]:
    """The numbers of a tensor on any device; those of one on the CPU are not copied."""
    return part.detach().cpu().numpy()


def predicted_bytes(layers: int, heads: int, rows: int, columns: int, width: int, *, values: bool = False) -> int:
    """Bytes of a captured kind of attention, before the run: float32 queries and keys, boolean mask, values if they
    are kept, and the sample used for checking."""
    compared = heads if values else 1
    sample = 4 * layers * compared * width * min(rows, SAMPLED_ROWS)
    return 4 * layers * width * (heads * (rows + columns) + compared * columns) + sample + rows * columns
