"""The measures of every head for each text of a batch, from the tensors of one pass.

The same definitions as ``analysis.measures``, for all texts at once: a text's numbers do not depend on the others, or
on what it was padded with. Letters in shapes: B texts, L layers, H heads, Q query rows, K key columns, d head width,
D model width, T and S words of rows and columns, M measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bartviz.analysis.corpus_definitions import of_text
from bartviz.analysis.look_ahead import RESTS
from bartviz.arrays import Floats
from bartviz.corpus.encode import Encoded, Padded, padding_token
from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from bartviz.tape.tape import Entry, Tape, depths, projection_weights, recording

TOKENS = 4_096  # of a batch, padding included
CELLS = 1 << 19  # of a batch: texts x rows x columns
_MASKED = -1e9  # a score, so that its weight is exactly 0 and 0 times it is 0


@dataclass(frozen=True, eq=False)
class Values:
    """The measures of one kind for the texts of a batch: values (B, L, H, M), NaN where undefined, and ``even`` (B, M),
    those of even attention."""

    names: tuple[str, ...]
    values: Floats
    even: Floats


def names_of(kind: Kind) -> tuple[str, ...]:
    """The measures of a kind that a text has, in reading order."""
    return tuple(measure.name for measure in of_text(kind))


def batches(rows: Sequence[Encoded]) -> list[list[int]]:
    """The indices of the rows of each batch: rows of about the same length, within ``TOKENS`` and ``CELLS``."""
    order = sorted(range(len(rows)), key=lambda index: (rows[index].size, index))
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


def measure(model: Model, rows: Sequence[Encoded]) -> dict[Kind, Values]:
    """The measures of all heads for texts that fit one batch."""
    source, inputs, output = padded(model, rows)
    tape = run(model, source, inputs)
    found: dict[Kind, Values] = {}
    for kind, depth in depths(model.network).items():
        reads = source if kind == "encoder" or inputs is None else inputs
        query = output if kind == "cross" and output is not None else reads
        key = source if kind == "cross" else reads
        mask = whole_mask(tape, kind).expand(len(rows), -1, -1)  # (B, Q, K)
        texts = _Texts(kind, query, reads, key, mask)
        if kind == "cross" and any(row.gold is not None for row in rows):
            texts.gold = _Links.of(rows)
        found[kind] = texts.measured(tape, depth)
    return found


@torch.inference_mode()
def run(model: Model, source: Padded, inputs: Padded | None) -> Tape:
    """What one pass wrote down. Only the stacks run, for the output layer has no attention."""
    tape = Tape(values=True)
    with recording(tape):
        forward(model, model.network.base_model, source, inputs)
    return tape


def forward(model: Model, network: nn.Module, source: Padded, inputs: Padded | None) -> None:
    """One pass of a network of that model, or of its stacks."""
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
    network(**arguments)


def whole_mask(tape: Tape, kind: Kind) -> Tensor:
    """(B or 1, Q, K) the mask of a layer without a window; where all have one, what the windows are cut out of."""
    masks = {window: parts[0] for (name, window), parts in tape.masks.items() if name == kind}
    if 0 in masks:
        return masks[0]
    widest = masks[max(masks)]
    whole = widest.any(dim=1, keepdim=True).expand_as(widest)
    return whole.tril() if kind == "decoder" else whole


def weights_of(tape: Tape, kind: Kind, layer: int) -> Tensor:
    """(B, H, Q, K) the weights of a layer."""
    return _scores(tape, kind, layer).softmax(dim=-1)


def _scores(tape: Tape, kind: Kind, layer: int) -> Tensor:
    """(B, H, Q, K), very low where a row may not look. Raises ModelError for a network with sinks."""
    entry = tape.entries[kind, layer]
    if entry.sinks is not None:
        raise ModelError(later("This model has sinks, which the measures of a corpus do not know. Choose another one."))
    assert entry.k is not None
    scores = (entry.q[0] * entry.scale) @ entry.k.mT
    bias = tape.biases.get((kind, layer)) or tape.biases.get((kind, 0))
    if bias is not None:
        scores += bias[0]
    if entry.softcap is not None:
        scores = (scores / entry.softcap).tanh_() * entry.softcap
    return scores.masked_fill_(~tape.masks[kind, entry.window][0][:, None], _MASKED)


def padded(model: Model, rows: Sequence[Encoded]) -> tuple[Padded, Padded | None, Padded | None]:
    """The texts of a batch, what the decoder reads, and what its rows predict."""
    pad = padding_token(model)
    inputs = [row.inputs for row in rows if row.inputs is not None]
    output = [row.output for row in rows if row.output is not None]
    return (
        Padded.of([row.source for row in rows], pad),
        Padded.of(inputs, pad) if inputs else None,
        Padded.of(output, pad) if output else None,
    )


class _Texts:
    """What the measures of one kind need to know of the texts, the same for all layers."""

    def __init__(self, kind: Kind, query: Padded, reads: Padded, key: Padded, mask: Tensor) -> None:
        self.kind, self.query, self.reads, self.key, self.mask = kind, query, reads, key, mask
        self.own = kind != "cross"
        self.gold: _Links | None = None
        visible = mask.sum(dim=-1)  # (B, Q)
        self.seen = query.valid & (visible > 0)
        self.counts = (query.valid & ~query.special & (visible > 1)).float()  # (B, Q)
        self.number = self.counts.sum(dim=-1)  # (B,)
        self.even = mask / visible.clamp(min=1)[:, :, None]  # (B, Q, K)
        self.most = visible.clamp(min=2).float().log2()  # (B, Q)
        self.members = () if self.own else (_members(query), _members(reads))  # (B, T, Q) each
        self.columns = _members(key)  # (B, S, K)
        self.factors, self.rows = self._linear()
        self.stacked = torch.stack(list(self.factors.values()), dim=-1).flatten(1, 2)  # (B, Q K, M)

    def _linear(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """The factor of each cell (B, Q, K) for the measures that sum weights, and (B, Q) the rows that count."""
        factors, rows = {}, {}
        for name, wanted in self._wanted().items():
            open_cells = wanted * self.mask * self.counts[:, :, None]
            rows[name] = (open_cells != 0).any(dim=-1)  # (B, Q)
            factors[name] = open_cells.float()
        return factors, rows

    def _wanted(self) -> dict[str, Tensor]:
        query, key = self.query, self.key
        place = torch.arange(self.mask.shape[2])
        offset = place - torch.arange(self.mask.shape[1])[:, None]  # (Q, K)
        same = (query.codes[:, :, None] == key.codes[:, None]) & (query.codes >= 0)[:, :, None]
        other = (offset != 0) | (not self.own)
        wanted: dict[str, Tensor] = {}
        if self.own:
            same &= query.groups[:, :, None] != key.groups[:, None]
            wanted["distance"] = offset.abs()[None]
            wanted |= {name: (offset == step)[None] for name, step in (("previous", -1), ("next", 1), ("itself", 0))}
        else:
            queries, keys = query.valid.sum(dim=-1), key.valid.sum(dim=-1)
            slope = (keys - 1).double() / (queries - 1).clamp(min=1)  # (B,)
            line = torch.arange(self.mask.shape[1])[None, :, None] * slope[:, None, None]  # (B, Q, 1)
            wanted["diagonal"] = (line - place).abs() <= 1
        wanted["same"] = same
        wanted["first"] = ((place == 0) & other)[None]
        wanted["special"] = key.special[:, None]
        wanted["punctuation"] = key.punctuation[:, None] & other
        names = names_of(self.kind)
        return {name: cells for name, cells in wanted.items() if name in names}

    def measured(self, tape: Tape, depth: int) -> Values:
        """The measures of all layers."""
        kind = self.kind
        layers = [self._layer(_scores(tape, kind, layer), tape.entries[kind, layer]) for layer in range(depth)]
        names = names_of(self.kind)
        values = torch.stack([torch.stack([layer[name] for name in names], dim=-1) for layer in layers], dim=1)
        even = self._even(values.shape[2])
        missing = torch.full((len(values),), torch.nan)
        stacked = torch.stack([even.get(name, missing) for name in names], dim=-1)  # (B, M)
        return Values(names, values.numpy(), stacked.float().numpy())

    def _even(self, heads: int) -> dict[str, Tensor]:
        """(B,) the value of even attention by measure."""
        even = {
            name: _mean((self.even * self.factors[name]).sum(dim=(1, 2)), rows.sum(dim=-1))
            for name, rows in self.rows.items()
        }
        even["share"] = torch.full((len(self.mask),), 1 / heads)
        even["entropy"] = _mean((self.most * self.counts).sum(dim=-1), self.number)
        even["evenness"] = _mean(self.number, self.number)
        even["peak"] = _mean((self.even.amax(dim=-1) * self.counts).sum(dim=-1), self.number)
        even["coverage"] = self._coverage((self.even * self.seen[:, :, None]).sum(dim=1)[:, None])[:, 0]
        return even

    def _layer(self, scores: Tensor, entry: Entry) -> dict[str, Tensor]:
        """(B, H) each, from the scores (B, H, Q, K) of a layer."""
        weights = scores.softmax(dim=-1)
        found = self._rows(scores, weights)
        sums = weights.flatten(2) @ self.stacked  # (B, H, M)
        for place, (name, rows) in enumerate(self.rows.items()):
            found[name] = _mean(sums[..., place], rows.sum(dim=-1)[:, None])
        columns = (self.seen.float()[:, None, None] @ weights)[:, :, 0]  # (B, H, K)
        found["coverage"] = self._coverage(columns)
        found |= self._by_norm(entry, weights)
        if not self.own:
            found |= self._aligned(weights)
        return found

    def _rows(self, scores: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """Entropy, evenness and peak. With z the sum of exponentials, -Σ a log a = log z - Σ a s, and the largest
        weight is exp(max s) / z."""
        peak = weights.amax(dim=-1)  # (B, H, Q)
        bits = (scores.amax(dim=-1) - peak.log() - (weights * scores).sum(dim=-1)).clamp(min=0) / np.log(2)
        number, counts = self.number[:, None], self.counts[:, None]  # (B, 1), (B, 1, Q)
        return {
            "entropy": _mean((bits * counts).sum(dim=-1), number),
            "evenness": _mean((bits * (counts / self.most[:, None])).sum(dim=-1), number),
            "peak": _mean((peak * counts).sum(dim=-1), number),
        }

    def _coverage(self, columns: Tensor) -> Tensor:
        """(B, H) from the weight (B, H, K) that each key received."""
        rows = self.seen.sum(dim=-1)[:, None]  # (B, 1)
        keys = (self.mask & self.seen[:, :, None]).any(dim=1)  # (B, K)
        count = keys.sum(dim=-1)[:, None]
        fair = rows / count  # (B, 1)
        return _mean((((columns / fair[:, :, None]).clamp(max=1)) * keys[:, None]).sum(dim=-1), count)

    def _by_norm(self, entry: Entry, weights: Tensor) -> dict[str, Tensor]:
        """The measures that need the values. |W_O^h x| is the root of x G x with G = W_O^h' W_O^h (H, d, d)."""
        assert entry.v is not None
        assert entry.projection is not None
        out = projection_weights(entry.projection, entry.q[0].shape[1])[0]  # (D, H, d)
        out = out.transpose(0, 1)  # (H, D, d)
        gram = out.mT @ out  # (H, d, d)
        lengths = _length(entry.v, gram)  # (B, H, K)
        special = lengths * self.key.special[:, None]
        wide = torch.cat([entry.v, lengths[..., None], special[..., None]], dim=-1)  # (B, H, K, d + 2)
        mixed = weights @ wide  # (B, H, Q, d + 2)
        outputs = _length(mixed[..., :-2], gram)  # (B, H, Q)
        total = outputs.sum(dim=1, keepdim=True)
        shares = torch.where(total > 0, outputs / total, 1 / outputs.shape[1])
        counts, number = self.counts[:, None], self.number[:, None]
        rows = self.rows["special"]  # (B, Q)
        by_norm = mixed[..., -1] / mixed[..., -2].clamp(min=1e-30)
        keys = self.key.valid[:, None]
        mean = (lengths * keys).sum(dim=-1) / keys.sum(dim=-1)
        return {
            "share": _mean((shares * counts).sum(dim=-1), number),
            "special_by_norm": _mean((by_norm * rows[:, None]).sum(dim=-1), rows.sum(dim=-1)[:, None]),
            "first_value": lengths[..., 0] / mean,
        }

    def _aligned(self, weights: Tensor) -> dict[str, Tensor]:
        """The weight on pairs of words that choose each other, and the error rates by both readings.

        Rows of heads that look back are named by the word that they have read. A given output counts as complete.
        """
        columns = weights @ self.columns.mT[:, None]  # (B, H, Q, S)
        predicted, read = (_Mutual.of(columns, rows, self.columns) for rows in self.members)
        alignment = torch.where(self._looks_back(weights), read.score(), predicted.score())
        unknown = torch.full(alignment.shape, torch.nan)
        return {
            "alignment": alignment,
            "error_predicts": unknown if self.gold is None else predicted.error(self.gold),
            "error_reads": unknown if self.gold is None else read.error(self.gold),
        }

    def _looks_back(self, weights: Tensor) -> Tensor:
        """(B, H) the heads that look at the word just read, as in ``analysis.look_ahead``."""
        words = self.query.valid & ~self.query.special  # (B, Q)
        count = words.sum(dim=-1)
        first = words.int().argmax(dim=-1)  # (B,)
        end = words.shape[1] - words.flip(-1).int().argmax(dim=-1)  # (B,) after the last word
        behind = words.clone()
        behind[torch.arange(len(words)), first] = False
        single = (count == 1) & (end < self.query.valid.sum(dim=-1))
        behind[single, end[single]] = True
        known = (count > 0) & behind.any(dim=-1) & self.key.special.logical_and(self.key.valid).any(dim=-1)
        rests = weights @ (self.key.special & self.key.valid).float()[:, None, :, None]
        rests = rests[..., 0]  # (B, H, Q)
        before = rests.gather(-1, first[:, None, None].expand(-1, rests.shape[1], 1))[..., 0]
        after = (rests * behind[:, None]).sum(dim=-1) / behind.sum(dim=-1).clamp(min=1)[:, None]
        return (before - after > RESTS) & known[:, None]


@dataclass(frozen=True, eq=False)
class _Mutual:
    """Words that choose each other: ``chosen`` (B, H, T) the column that a row's word looks at most, ``weight`` that
    weight, ``mutual`` whether the column's word looks at the row most, too; ``words`` (B,) of the rows."""

    chosen: Tensor
    weight: Tensor
    mutual: Tensor
    words: Tensor

    @classmethod
    def of(cls, weights: Tensor, named: Tensor, columns: Tensor) -> _Mutual:
        """From weights (B, H, Q, S), the tokens of the rows' words (B, T, Q), and those of the columns' (B, S, K)."""
        size = named.sum(dim=-1)  # (B, T) tokens of each word
        merged = (named / size.clamp(min=1)[..., None])[:, None] @ weights  # (B, H, T, S)
        there = (size > 0)[:, None, :, None] & (columns.sum(dim=-1) > 0)[:, None, None]
        merged = merged.masked_fill(~there, -1.0)
        weight, chosen = merged.max(dim=-1)  # (B, H, T)
        mutual = merged.argmax(dim=-2).gather(-1, chosen) == torch.arange(merged.shape[2])
        words = (size > 0).sum(dim=-1) * (columns.sum(dim=(-1, -2)) > 0)
        return cls(chosen, weight, mutual & (weight > 0), words)

    def score(self) -> Tensor:
        """(B, H)."""
        return _mean((self.weight * self.mutual).sum(dim=-1), self.words[:, None])

    def error(self, gold: _Links) -> Tensor:
        """(B, H) the error rate (Och and Ney 2003)."""
        there = gold.sure[:, None].expand(-1, self.chosen.shape[1], -1, -1), gold.possible[:, None]
        right = sum(
            (links.expand_as(there[0]).gather(-1, self.chosen[..., None])[..., 0] & self.mutual).sum(dim=-1)
            for links in there
        )  # (B, H)
        whole = self.mutual.sum(dim=-1) + gold.sure.sum(dim=(1, 2))[:, None]
        rate = 1 - right / whole.clamp(min=1)
        return torch.where(gold.known[:, None] & (whole > 0), rate, torch.nan)


@dataclass(frozen=True, eq=False)
class _Links:
    """Alignments by hand: ``sure`` and ``possible`` (B, T, S), and (B,) whether a text has one."""

    sure: Tensor
    possible: Tensor
    known: Tensor

    @classmethod
    def of(cls, rows: Sequence[Encoded]) -> _Links:
        targets = max(1, *(0 if row.output is None else row.output.word_count for row in rows))
        sources = max(1, *(row.source.word_count for row in rows))
        sure, possible = (torch.zeros(len(rows), targets, sources, dtype=torch.bool) for _ in range(2))
        for index, row in enumerate(rows):
            gold = row.gold
            for source, target in () if gold is None else gold.possible:
                possible[index, target, source] = True
                sure[index, target, source] = gold is not None and (source, target) in gold.sure
        return cls(sure, possible, torch.tensor([row.gold is not None for row in rows]))


def _length(vectors: Tensor, gram: Tensor) -> Tensor:
    """(B, H, n) the lengths of projected vectors (B, H, n, d)."""
    return ((vectors @ gram) * vectors).sum(dim=-1).clamp(min=0).sqrt()


def _members(tokens: Padded) -> Tensor:
    """(B, T, n) 1 where a token belongs to a word."""
    count = int(tokens.words.max()) + 1
    return (tokens.words[:, None] == torch.arange(max(count, 1))[None, :, None]).float()


def _mean(total: Tensor, number: Tensor) -> Tensor:
    """The total by the number, NaN where that is 0."""
    return torch.where(number > 0, total / number.clamp(min=1), torch.nan)
