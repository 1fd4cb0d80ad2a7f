"""The measures of one kind of attention for the texts of a batch, while its layers run.

The same definitions as ``analysis.measures``, for all texts at once: a text's numbers do not depend on the others, or
on what it was padded with. Letters in shapes: B texts, L layers, H heads, Q query rows, K key columns, d head width,
D model width, T and S words of rows and columns, M measures.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bartviz.analysis.corpus_measures import TREES, of_text
from bartviz.analysis.look_ahead import BACK, directions
from bartviz.analysis.measure_inputs import Cells, Received, Weights, mean
from bartviz.analysis.measures import Block, of_columns, of_words
from bartviz.analysis.mutual import OnWords
from bartviz.arrays import Floats
from bartviz.corpus.batch_looks import BatchLooks, TokenNames
from bartviz.corpus.encode import Padded
from bartviz.corpus.looks import Looks
from bartviz.corpus.mutual import Links, error, members
from bartviz.corpus.relations import Relations
from bartviz.corpus.trees import Arcs
from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.patterns.pair import ALL, Pair, Side
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
    those of even attention; what heads look at. ``edges`` where single ones are kept, ``relations`` where texts have
    trees."""

    names: tuple[str, ...]
    values: Floats
    even: Floats
    looks: Looks
    edges: Edges | None = None
    relations: Relations | None = None


class More(Protocol):
    """Measures of the caller's own, of the texts of a batch: M numbers of each head."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def layer(self, weights: Tensor, layer: int) -> Floats:
        """(B, H, M) of the weights (B, H, Q, K) of a layer."""

    def even(self, heads: int) -> Floats:
        """(B, M) of even attention."""


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
    scores = (entry.q[0] * entry.scale) @ entry.k.contiguous().mT  # of keys as they come the product copies a transpose
    bias = tape.biases.get((kind, layer)) or tape.biases.get((kind, 0))
    if bias is not None:
        scores += bias[0]
    if entry.softcap is not None:
        scores = (scores / entry.softcap).tanh_() * entry.softcap
    mask = tape.masks[kind, entry.window][0]
    if not mask.all():
        scores += ((1.0 - mask.float()) * _MASKED)[:, None]
    return scores


class BatchMeasures:
    """The texts of a batch and the measures of one kind: ``layer`` for each layer, in order, then ``values``.

    ``more``: measures of the caller's own, which come last.
    """

    def __init__(
        self,
        kind: Kind,
        names: TokenNames,
        query: Padded,
        reads: Padded,
        key: Padded,
        gold: Links | None = None,
        least: float | None = None,
        more: More | None = None,
    ) -> None:
        self.kind, self.query, self.key, self.gold, self.least = kind, query, key, gold, least
        self.more, self.of_more = more, list[Floats]()
        self.arcs: Arcs | None = None
        self.own = kind != "cross"
        self.mask = visible(kind, query, key)
        seen = self.mask.sum(dim=-1)  # (B, Q)
        rows = _side(query)
        self.cells = Cells(
            Pair(kind, rows, rows if self.own else _side(key), rows, self.mask),
            seen=query.valid & (seen > 0),
            counts=query.valid & ~query.special & (seen > 1),
            rows=ALL,
        )
        self.block = Block(kind, self.cells, torch.get_default_dtype())
        self.giving, self.keys = self.cells.seen.sum(dim=-1), (self.block.seen[:, None] @ self.mask.float())[:, 0] > 0
        self.named: tuple[Tensor, ...] = () if self.own else (members(query), members(reads))  # (B, T, Q) each
        self.words = members(key)  # (B, S, K)
        self.looks = BatchLooks(kind, names, query, key, self.mask, self.cells.counts)
        self.added = self._added()
        self.edges: list[Edges] = []
        self.followed: list[Tensor] = []
        # of each layer: (B, H, N), (B, H, K), those of _outputs (B, H, Q), and (B, H) by name
        self.sums: list[Tensor] = []
        self.received: list[Tensor] = []
        self.norms: list[tuple[Tensor, Tensor, Tensor]] = []
        self.found: dict[str, list[Tensor]] = defaultdict(list)

    def _added(self) -> Tensor:
        """(B, 1, K, S + 1 or 1) what is averaged with the weights in addition to the values: the words of the columns
        of another text, and which columns are sinks, of another text the special ones."""
        sinks = self.looks.sinks[..., None]
        return (sinks if self.own else torch.cat([self.words.mT, sinks], dim=-1))[:, None]

    def layer(self, tape: Tape, layer: int) -> Tensor:
        """Measure a layer that was recorded, and forget it. Returns the heads' outputs (B, Q, H, d)."""
        scores, entry = scores_of(tape, self.kind, layer), tape.entries.pop((self.kind, layer))
        weights = scores.softmax(dim=-1)
        if self.least is not None:
            self.edges.append(self._edges(weights, layer, self.least))
        if self.more is not None:
            self.of_more.append(self.more.layer(weights, layer))
        if self.arcs is not None:
            self.followed.append(self.arcs.followed(weights))
        outputs, lengths = self._outputs(entry, weights)
        heads = Weights(self.cells, weights, scores, lengths)
        self.received.append(self.block.received(heads))
        self.sums.append(self.block.sums(heads))
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

    def _outputs(self, entry: Entry, weights: Tensor) -> tuple[Tensor, Tensor]:
        """(B, Q, H, d) and their lengths (B, H, Q); and, in the same product, what other measures average. |W_O^h x| is
        the root of x G x with G = W_O^h' W_O^h (H, d, d)."""
        assert entry.v is not None
        assert entry.projection is not None
        width, heads = entry.v.shape[-1], entry.v.shape[1]
        out = projection_weights(entry.projection, heads)[0].transpose(0, 1)  # (H, D, d)
        gram = out.mT @ out
        lengths = _lengths(entry.v.transpose(1, 2), gram)  # (B, H, K)
        special = lengths * self.key.special[:, None]
        added = self.added.expand(-1, heads, -1, -1)
        mixed = weights @ torch.cat(
            [entry.v, lengths[..., None], special[..., None], added], dim=-1
        )  # (B, H, Q, d + 3 or more)
        outputs = mixed[..., :width].transpose(1, 2).contiguous()  # (B, Q, H, d)
        self.norms.append((lengths, mixed[..., width].clone(), mixed[..., width + 1].clone()))
        self.looks.layer(weights, mixed[..., -1])
        if not self.own:
            self._words(mixed[..., width + 2 : -1], mixed[..., -1])
        return outputs, _lengths(outputs, gram)

    def _norms(self) -> dict[str, Tensor]:
        """(B, L, H) from the lengths (B, H, K) of values, and (B, H, Q) the norms of all that a row adds up and of its
        special tokens."""
        lengths, norms, special = (torch.stack(layers, dim=1) for layers in zip(*self.norms, strict=True))
        rows = self.block.rows[:, self.block.names.index("special"), :, None]  # (B, Q, 1)
        by_norm = ((special / norms.clamp(min=1e-30)) @ rows[:, None])[..., 0]
        keys = self.key.valid[:, None, None]
        return {
            "special_by_norm": mean(by_norm, rows.sum(dim=1)[:, None]),
            "first_value": lengths[..., 0] / ((lengths * keys).sum(dim=-1) / keys.sum(dim=-1)),
        }

    def _words(self, columns: Tensor, rests: Tensor) -> None:
        """From the weight of each row on words (B, H, Q, S), and on special tokens (B, H, Q). A given output counts as
        complete."""
        predicts, reads = self.named
        ends = self.query.valid.sum(dim=-1)
        looking, _ = directions(
            rests, self.query.valid & ~self.query.special, ends, torch.ones_like(ends, dtype=torch.bool)
        )
        words = OnWords(columns, self.words.sum(dim=-1) > 0, predicts, reads, looking == BACK)
        for name, values in of_words(self.kind, words).items():
            self.found[name].append(values)
        if self.gold is not None:
            self.found["error_predicts"].append(error(words.predicted, self.gold))
            self.found["error_reads"].append(error(words.read, self.gold))

    def values(self) -> Values:
        """The measures, once all layers have run."""
        names = names_of(self.kind)
        found = {name: torch.stack(layers, dim=1) for name, layers in self.found.items()}  # (B, L, H)
        sums = mean(torch.stack(self.sums, dim=1), self.block.number[:, None, None])  # (B, L, H, N)
        found |= dict(zip(self.block.names, sums.unbind(dim=-1), strict=True))
        received = Received(torch.cat(self.received, dim=1), self.keys, self.giving)  # (B, L H, K)
        found |= {name: of.view(sums.shape[:3]) for name, of in of_columns(self.kind, received).items()}
        found |= self._norms()
        even = self._even(sums.shape[2])
        if self.arcs is not None:
            found |= self._arcs(self.arcs)
        unknown = torch.full_like(found["peak"], torch.nan)
        values = torch.stack([found.get(name, unknown) for name in names], dim=-1).cpu().numpy()
        evens = torch.stack([even.get(name, unknown[:, 0, 0]) for name in names], dim=-1).cpu().numpy()
        if self.more is not None:
            names = (*names, *self.more.names)
            values = np.concatenate([values, np.stack(self.of_more, axis=1)], axis=-1)
            evens = np.concatenate([evens, self.more.even(values.shape[2])], axis=-1)
        return Values(
            names,
            values,
            evens,
            self.looks.sums(),
            None if self.least is None else self._every_edge(),
            None if self.arcs is None else self.arcs.relations_followed(self.followed),
        )

    def _arcs(self, arcs: Arcs) -> dict[str, Tensor]:
        """(B, L, H) the share of arcs that are followed."""
        followed = torch.stack(self.followed, dim=1)  # (B, L, 2, H, W)
        count = arcs.counted.sum(dim=-1)[:, None, None]
        return {name: mean(followed[:, :, way].sum(dim=-1), count) for way, name in enumerate(TREES)}

    def _even(self, heads: int) -> dict[str, Tensor]:
        """(B,) the value of even attention by measure."""
        evenly = self.block.even(heads)
        sums = mean(self.block.sums(evenly)[:, 0], self.block.number)  # (B, N)
        even = dict(zip(self.block.names, sums.unbind(dim=-1), strict=True))
        received = Received(self.block.received(evenly), self.keys, self.giving)
        even |= {name: values[:, 0] for name, values in of_columns(self.kind, received).items()}
        if self.arcs is not None and self.kind == "encoder":
            even |= dict.fromkeys(TREES, self.arcs.even())
        return even


def _side(tokens: Padded) -> Side:
    """The tokens of a batch as patterns see them."""
    return Side(
        ids=tokens.ids,
        special=tokens.special,
        punctuation=tokens.punctuation,
        groups=tokens.groups,
        words=tokens.words,
        codes=tokens.codes,
        length=tokens.valid.sum(dim=-1),
    )


def _lengths(vectors: Tensor, gram: Tensor) -> Tensor:
    """(B, H, n) the lengths of projected vectors (B, n, H, d), contiguous."""
    flat = vectors.flatten(0, 1).transpose(0, 1)  # (H, B n, d)
    squares = (torch.bmm(flat, gram) * flat).sum(dim=-1)  # (H, B n)
    return squares.clamp(min=0).sqrt().view(len(gram), *vectors.shape[:2]).transpose(0, 1)
