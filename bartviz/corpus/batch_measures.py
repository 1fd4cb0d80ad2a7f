"""The measures of one kind of attention for the texts of a batch, while its layers run.

The same definitions as ``analysis.measures``, for all texts at once: a text's numbers do not depend on the others, or
on what it was padded with. Letters in shapes: B texts, L layers, H heads, Q query rows, K key columns, d head width,
D model width, T and S words of rows and columns, M measures.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bartviz.analysis.corpus_definitions import TREES, of_text
from bartviz.analysis.look_ahead import RESTS
from bartviz.arrays import Floats
from bartviz.corpus.encode import Padded
from bartviz.corpus.mutual import Links, Mutual, mean, members
from bartviz.corpus.relations import Relations
from bartviz.corpus.trees import Arcs
from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.record.attention import Kind
from bartviz.tape.tape import Entry, Tape, projection_weights

_MASKED = -1e9  # a score, so that its weight is exactly 0 and 0 times it is 0


@dataclass(frozen=True, eq=False)
class Edges:
    """The E weights of a batch above a threshold: (E, 5) text of the batch, layer, head, query row and key column, and
    the weights (E,)."""

    places: NDArray[np.int64]
    weights: Floats


@dataclass(frozen=True, eq=False)
class Values:
    """The measures of one kind for the texts of a batch: values (B, L, H, M), NaN where undefined, and ``even`` (B, M),
    those of even attention. ``edges`` where single ones are kept, ``relations`` where texts have trees."""

    names: tuple[str, ...]
    values: Floats
    even: Floats
    edges: Edges | None = None
    relations: Relations | None = None


def names_of(kind: Kind) -> tuple[str, ...]:
    """The measures of a kind that a text has, in reading order."""
    return tuple(measure.name for measure in of_text(kind))


def visible(kind: Kind, query: Padded, key: Padded) -> Tensor:
    """(B, Q, K) the keys that a row may look at, whatever window a layer has."""
    rows = query.valid.shape[1]
    whole = key.valid[:, None].expand(-1, rows, -1)
    return whole.tril() if kind == "decoder" else whole


def scores_of(tape: Tape, kind: Kind, layer: int) -> Tensor:
    """(B, H, Q, K) the scores of a layer, very low where a row may not look: their softmax are the weights.

    Raises ModelError for a network with sinks.
    """
    entry = tape.entries[kind, layer]
    if entry.sinks is not None:
        raise ModelError(
            later("This model has attention sinks, which the corpus measures do not support. Choose another one.")
        )
    assert entry.k is not None
    scores = (entry.q[0] * entry.scale) @ entry.k.mT
    bias = tape.biases.get((kind, layer)) or tape.biases.get((kind, 0))
    if bias is not None:
        scores += bias[0]
    if entry.softcap is not None:
        scores = (scores / entry.softcap).tanh_() * entry.softcap
    mask = tape.masks[kind, entry.window][0]
    if not mask.all():
        scores += torch.where(mask, 0.0, _MASKED)[:, None]
    return scores


@dataclass
class _Layers:
    """What is kept of each layer until all have run.

    ``sums`` (B, H, M) of weights, ``bits`` (B, H, 2) of weights times scores, the weight that ``columns`` (B, H, K)
    received, the ``lengths`` (B, H, K) of values; (B, H, Q) the ``peaks`` of weights, the ``tops`` of scores, the
    lengths of the ``outputs``, the ``norms`` of all that a row adds up and of its ``special`` tokens; ``aligned``
    (B, H).
    """

    sums: list[Tensor] = field(default_factory=list)
    bits: list[Tensor] = field(default_factory=list)
    columns: list[Tensor] = field(default_factory=list)
    lengths: list[Tensor] = field(default_factory=list)
    peaks: list[Tensor] = field(default_factory=list)
    tops: list[Tensor] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)
    norms: list[Tensor] = field(default_factory=list)
    special: list[Tensor] = field(default_factory=list)
    aligned: list[dict[str, Tensor]] = field(default_factory=list)
    arcs: list[Tensor] = field(default_factory=list)


class Texts:
    """The texts of a batch and the measures of one kind: ``layer`` for each layer, in order, then ``values``."""

    def __init__(
        self,
        kind: Kind,
        query: Padded,
        reads: Padded,
        key: Padded,
        gold: Links | None = None,
        least: float | None = None,
    ) -> None:
        self.kind, self.query, self.key, self.gold, self.least = kind, query, key, gold, least
        self.edges: list[Edges] = []
        self.arcs: Arcs | None = None
        self.own = kind != "cross"
        self.mask = visible(kind, query, key)
        seen = self.mask.sum(dim=-1)  # (B, Q)
        self.counts = (query.valid & ~query.special & (seen > 1)).float()  # (B, Q)
        self.number = self.counts.sum(dim=-1)  # (B,)
        self.seen = (query.valid & (seen > 0)).float()  # (B, Q)
        self.even = self.mask / seen.clamp(min=1)[:, :, None]  # (B, Q, K)
        self.most = seen.clamp(min=2).float().log2()  # (B, Q)
        self.named = () if self.own else (members(query), members(reads))  # (B, T, Q) each
        self.words = members(key)  # (B, S, K)
        self.linear, self.factors, self.rows = self._linear()
        self.each = torch.stack([self.counts, self.counts / self.most], dim=1) / np.log(2)  # (B, 2, Q)
        self.bits = self.each[..., None].expand(-1, -1, -1, self.mask.shape[2]).flatten(2)  # (B, 2, Q K)
        self.added = self._added()
        self.done = _Layers()

    def _linear(self) -> tuple[tuple[str, ...], Tensor, Tensor]:
        """The measures that sum weights: their names, the factor of each cell (B, M, Q K), and the rows that count
        (B, M, Q)."""
        wanted = self._wanted()
        factors = torch.stack([cells.float().expand(self.mask.shape) for cells in wanted.values()], dim=1)
        factors *= (self.mask * self.counts[:, :, None])[:, None]  # (B, M, Q, K)
        return tuple(wanted), factors.flatten(2), factors @ torch.ones(factors.shape[-1]) > 0

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

    def _added(self) -> Tensor:
        """(B, 1, K, S + 1 or 0) what is averaged with the weights in addition to the values: the words of the columns,
        and
        which columns are special."""
        if self.own:
            return torch.empty(*self.key.valid.shape, 0)[:, None]
        rests = (self.key.special & self.key.valid).float()
        return torch.cat([self.words.mT, rests[..., None]], dim=-1)[:, None]

    def layer(self, tape: Tape, layer: int) -> Tensor:
        """Measure a layer that was recorded, and forget it. Returns the heads' outputs (B, Q, H, d)."""
        scores, entry, done = scores_of(tape, self.kind, layer), tape.entries.pop((self.kind, layer)), self.done
        weights = scores.softmax(dim=-1)
        if self.least is not None:
            self.edges.append(self._edges(weights, layer, self.least))
        if self.arcs is not None:
            done.arcs.append(self.arcs.followed(weights))
        done.sums.append(weights.flatten(2) @ self.factors.mT)
        done.columns.append((self.seen[:, None, None] @ weights)[:, :, 0])
        done.peaks.append(_largest(weights))
        done.tops.append(_largest(scores))
        outputs = self._outputs(entry, weights)
        done.bits.append(scores.mul_(weights).flatten(2) @ self.bits.mT)
        return outputs

    def _edges(self, weights: Tensor, layer: int, least: float) -> Edges:
        """The edges of a layer, padding left out."""
        there = (weights > least) & self.query.valid[:, None, :, None] & self.mask[:, None]
        text, head, query, key = there.nonzero(as_tuple=True)
        places = torch.stack([text, torch.full_like(text, layer), head, query, key], dim=-1)
        return Edges(places.cpu().numpy(), weights[there].cpu().numpy())

    def _every_edge(self) -> Edges:
        places, weights = ([getattr(layer, name) for layer in self.edges] for name in ("places", "weights"))
        return Edges(np.concatenate(places), np.concatenate(weights))

    def _outputs(self, entry: Entry, weights: Tensor) -> Tensor:
        """(B, Q, H, d) and, in the same product, what the measures average. |W_O^h x| is the root of x G x with
        G = W_O^h' W_O^h (H, d, d)."""
        assert entry.v is not None
        assert entry.projection is not None
        done, width, heads = self.done, entry.v.shape[-1], entry.v.shape[1]
        out = projection_weights(entry.projection, heads)[0].transpose(0, 1)  # (H, D, d)
        gram = out.mT @ out
        lengths = _lengths(entry.v.transpose(1, 2), gram)  # (B, H, K)
        special = lengths * self.key.special[:, None]
        added = self.added.expand(-1, heads, -1, -1)
        mixed = weights @ torch.cat(
            [entry.v, lengths[..., None], special[..., None], added], dim=-1
        )  # (B, H, Q, d + 2)
        outputs = mixed[..., :width].transpose(1, 2).contiguous()  # (B, Q, H, d)
        done.lengths.append(lengths)
        done.outputs.append(_lengths(outputs, gram))
        done.norms.append(mixed[..., width].clone())
        done.special.append(mixed[..., width + 1].clone())
        if not self.own:
            done.aligned.append(self._aligned(mixed[..., width + 2 : -1], mixed[..., -1]))
        return outputs

    def _aligned(self, columns: Tensor, rests: Tensor) -> dict[str, Tensor]:
        """(B, H) the weight on pairs of words that choose each other, and the error rates by both readings; from the
        weight of each row on words (B, H, Q, S), and on special tokens (B, H, Q).

        Rows of heads that look back are named by the word that they have read. A given output counts as complete.
        """
        predicted, read = (Mutual.of(columns, rows, self.words) for rows in self.named)
        unknown = torch.full(rests.shape[:2], torch.nan)
        return {
            "alignment": torch.where(self._looks_back(rests), read.score(), predicted.score()),
            "error_predicts": unknown if self.gold is None else predicted.error(self.gold),
            "error_reads": unknown if self.gold is None else read.error(self.gold),
        }

    def _looks_back(self, rests: Tensor) -> Tensor:
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
        before = rests.gather(-1, first[:, None, None].expand(-1, rests.shape[1], 1))[..., 0]
        after = (rests * behind[:, None]).sum(dim=-1) / behind.sum(dim=-1).clamp(min=1)[:, None]
        return (before - after > RESTS) & known[:, None]

    def values(self) -> Values:
        """The measures, once all layers have run."""
        done, number = self.done, self.number[:, None, None]  # (B, 1, 1)
        sums, lengths, peaks = _stacked(done.sums), _stacked(done.lengths), _stacked(done.peaks)
        # with z the sum of exponentials, -Σ a log a = log z - Σ a s, and the largest weight is exp(max s) / z
        logs = _stacked(done.tops) - peaks.log()  # (B, L, H, Q)
        bits = (logs @ self.each.mT[:, None] - _stacked(done.bits)).clamp(min=0)  # (B, L, H, 2)
        outputs, norms = _stacked(done.outputs), _stacked(done.norms)  # (B, L, H, Q)
        total = outputs.sum(dim=2, keepdim=True)
        shares = torch.where(total > 0, outputs / total, 1 / outputs.shape[2])
        by_norm = _stacked(done.special) / norms.clamp(min=1e-30)
        counts, rests = self.counts[:, None, :, None], self._counted("special").float()  # (B, 1, Q, 1), (B, Q)
        keys = self.key.valid[:, None, None]
        usual = (lengths * keys).sum(dim=-1) / keys.sum(dim=-1)
        found = {
            name: mean(sums[..., place], self.rows[:, place].sum(dim=-1)[:, None, None])
            for place, name in enumerate(self.linear)
        }
        found["entropy"], found["evenness"] = (mean(bits[..., place], number) for place in (0, 1))
        found["peak"] = mean((peaks @ counts)[..., 0], number)
        found["share"] = mean((shares @ counts)[..., 0], number)
        found["coverage"] = self._coverage(_stacked(done.columns))
        found["special_by_norm"] = mean((by_norm @ rests[:, None, :, None])[..., 0], rests.sum(dim=-1)[:, None, None])
        found["first_value"] = lengths[..., 0] / usual
        for name in done.aligned[0] if done.aligned else ():
            found[name] = _stacked([layer[name] for layer in done.aligned])
        names = names_of(self.kind)
        even, missing = self._even(outputs.shape[2]), torch.full_like(self.number, torch.nan)
        if self.own:
            found |= self._arcs(found["peak"])
        return Values(
            names,
            torch.stack([found[name] for name in names], dim=-1).cpu().numpy(),
            torch.stack([even.get(name, missing).float() for name in names], dim=-1).cpu().numpy(),
            None if self.least is None else self._every_edge(),
            None if self.arcs is None else self.arcs.relations_followed(done.arcs),
        )

    def _arcs(self, like: Tensor) -> dict[str, Tensor]:
        """(B, L, H) the share of arcs that are followed, NaN like ``like`` (B, L, H) where there are no trees."""
        if self.arcs is None:
            return {name: torch.full_like(like, torch.nan) for name in TREES}
        followed = _stacked(self.done.arcs)  # (B, L, 2, H, W)
        count = self.arcs.counted.sum(dim=-1)[:, None, None]
        return {name: mean(followed[:, :, way].sum(dim=-1), count) for way, name in enumerate(TREES)}

    def _counted(self, name: str) -> Tensor:
        """(B, Q) the rows that count for a measure that sums weights."""
        return self.rows[:, self.linear.index(name)]

    def _even(self, heads: int) -> dict[str, Tensor]:
        """(B,) the value of even attention by measure."""
        sums = (self.factors @ self.even.flatten(1)[..., None])[..., 0]  # (B, M)
        even = dict(zip(self.linear, mean(sums, self.rows.sum(dim=-1)).unbind(dim=1), strict=True))
        even["share"] = torch.full((len(self.mask),), 1 / heads)
        even["entropy"] = mean((self.most * self.counts).sum(dim=-1), self.number)
        even["evenness"] = mean(self.number, self.number)
        even["peak"] = mean((self.even.amax(dim=-1) * self.counts).sum(dim=-1), self.number)
        if self.arcs is not None and self.kind == "encoder":
            even |= dict.fromkeys(TREES, self.arcs.even())
        even["coverage"] = self._coverage((self.seen[:, None] @ self.even)[:, None])[:, 0, 0]
        return even

    def _coverage(self, columns: Tensor) -> Tensor:
        """(B, L, H) from the weight (B, L, H, K) that each key received."""
        keys = (self.seen[:, None] @ self.mask.float())[:, 0] > 0  # (B, K)
        count = keys.sum(dim=-1)  # (B,)
        fair = self.seen.sum(dim=-1) / count
        received = (columns / fair[:, None, None, None]).clamp(max=1) @ keys.float()[:, None, :, None]
        return mean(received[..., 0], count[:, None, None])


def _lengths(vectors: Tensor, gram: Tensor) -> Tensor:
    """(B, H, n) the lengths of projected vectors (B, n, H, d), contiguous."""
    flat = vectors.flatten(0, 1).transpose(0, 1)  # (H, B n, d)
    squares = (torch.bmm(flat, gram) * flat).sum(dim=-1)  # (H, B n)
    return squares.clamp(min=0).sqrt().view(len(gram), *vectors.shape[:2]).transpose(0, 1)


def _largest(scores: Tensor) -> Tensor:
    """(B, H, Q) of (B, H, Q, K): what ``amax`` returns, in a third of its time for few columns."""
    while (columns := scores.shape[-1]) > 1:
        half = (columns + 1) // 2
        scores = torch.maximum(scores[..., :half], scores[..., columns - half :])
    return scores[..., 0]


def _stacked(layers: list[Tensor]) -> Tensor:
    """(B, L, ...) of (B, ...) each."""
    return torch.stack(layers, dim=1)
