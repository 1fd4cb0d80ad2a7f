"""What the heads of one kind look at, and how far, for the texts of a batch, while its layers run.

Letters in shapes: B texts, L layers, H heads, Q query rows, K key columns, D bins of distances.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from bartviz.arrays import Bools, Floats, Ints
from bartviz.corpus.encode import Padded
from bartviz.corpus.looks import BINS, Looks, Types, bins_of, continues, whole_words
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from bartviz.text import tokenize
from bartviz.text.labels import CONTINUES
from bartviz.text.tokenize import encoder_of

_NOTHING = 1e-6  # weight, which may be the rounding of 0


class BatchLooks:
    """The texts of a batch and one kind of attention: ``layer`` for each layer, in order, then ``sums``.

    ``mask`` (B, Q, K) what a row may see, ``counts`` (B, Q) the rows that count.
    """

    def __init__(self, kind: Kind, names: TokenNames, query: Padded, key: Padded, mask: Tensor, counts: Tensor) -> None:
        self.names = names
        self.query, self.key, self.mask, self.counts = query, key, mask, counts
        self.own = kind != "cross"
        self.rows = counts.float()[:, None, None]  # (B, 1, 1, Q)
        self.cells = (counts[..., None] & ~key.special[:, None]).float()[:, None]  # (B, 1, Q, K)
        rows, columns = query.ids.shape[1], key.ids.shape[1]
        diagonals = np.arange(rows + columns + 1)  # as ``_distances`` makes them: those before the row come last
        distances = np.where(diagonals < columns, diagonals, diagonals - len(diagonals))
        distances -= 0 if self.own else _opening(key) - _opening(query)
        bins = np.eye(len(BINS), dtype=np.float32)[bins_of(distances)]
        self.bins = torch.from_numpy(bins).to(mask.device)  # (Q + K + 1, D)
        self.sinks = (key.special & key.valid).float()  # (B, K) what a row gives away when it looks at no word
        if kind == "decoder":
            self.sinks[:, 0] = 1.0  # which every row sees, also where no special token opens a text
        self.distances: list[Tensor] = []  # of each layer: (B, H, D), (B, H, K), (B, H, Q)
        self.received: list[Tensor] = []
        self.given: list[Tensor] = []

    def layer(self, weights: Tensor, on_sinks: Tensor) -> None:
        """Look at the weights (B, H, Q, K) of a layer, and at those of each row on ``sinks`` (B, H, Q)."""
        self.distances.append(self._distances(weights))
        self.received.append((self.rows @ weights)[:, :, 0])
        own = torch.diagonal(weights, dim1=-2, dim2=-1) if self.own else 0.0
        given = 1.0 - on_sinks - own  # no row that counts is a sink
        self.given.append(torch.where(given > _NOTHING, given, 0.0) * self.rows[:, :, 0])

    def _distances(self, weights: Tensor) -> Tensor:
        """(B, H, D). Rows that are written Q + K apart and read Q + K + 1 apart stand one further left each: a column
        then has the cells of one distance."""
        texts, heads, rows, columns = weights.shape
        wide = rows + columns
        skewed = weights.new_zeros(texts, heads, rows * (wide + 1))
        cells = skewed[..., : rows * wide].view(texts, heads, rows, wide)[..., :columns]
        torch.mul(weights, self.cells, out=cells)
        return skewed.view(texts, heads, rows, wide + 1).sum(dim=2) @ self.bins

    def sums(self) -> Looks:
        """The sums of all layers, once they have run."""
        distances, received, given = (
            torch.stack(layers, dim=1).flatten(1, 2).cpu().numpy()
            for layers in (self.distances, self.received, self.given)
        )  # (B, C, D), (B, C, K), (B, C, Q)
        seen = self.mask.sum(dim=-1, keepdim=True).clamp(min=1)
        even = (self.mask / seen)[:, None]  # (B, 1, Q, K)
        expected = (self.rows @ even)[:, 0, 0].cpu().numpy()  # (B, K)
        n = self.counts.sum(dim=-1).cpu().numpy().astype(np.float64)  # (B,)
        of_bins = distances.astype(np.float64)
        squares, products = (of_bins**2).sum(axis=0), np.tensordot(n, of_bins, axes=1)
        counts = self.counts.cpu().numpy()
        return Looks(
            np.array([np.count_nonzero(n), n.sum(), (n**2).sum()]),
            np.stack([of_bins.sum(axis=0), squares, products]),
            self._distances(even)[:, 0].sum(dim=0).cpu().numpy().astype(np.float64),
            given.sum(axis=(0, 2), dtype=np.float64),
            {
                "key": self._types(self.key, expected > 0, received, expected),
                "query": self._types(self.query, counts, given, counts.astype(np.float32)),
            },
        )

    def _types(self, tokens: Padded, counted: Bools, x: Floats, y: Floats) -> Types:
        """The sums of tokens: x (B, C, n) and y (B, n)."""
        ids, groups, special = (getattr(tokens, name).cpu().numpy() for name in ("ids", "groups", "special"))
        follows = continues(groups, self.names.blank(ids))
        flags = np.stack([counted, whole_words(follows), special])
        return Types.of(self.names.codes(ids, follows), self.names.names, flags, x.swapaxes(1, 2), y)


class TokenNames:
    """The tokens of a model as the app shows them, numbered as they are met: ``names``."""

    def __init__(self, model: Model) -> None:
        self.model, self.names = model, list[str]()
        self.numbers: dict[str, int] = {}
        self.known: dict[int, int] = {}  # of an id, times two, and one more where it continues a word

    @classmethod
    def of(cls, model: Model) -> TokenNames:
        """Those of a model, the same object each time."""
        if model not in _NAMES:
            _NAMES[model] = cls(model)
        return _NAMES[model]

    def codes(self, ids: Ints, follows: Bools) -> Ints:
        """(B, n) the places of tokens in ``names``, from their ids and whether they continue a word."""
        types, places = np.unique(2 * ids + follows, return_inverse=True)
        return np.array([self._code(number) for number in types.tolist()], np.int64)[places].reshape(ids.shape)

    def blank(self, ids: Ints) -> Bools:
        """(B, n) the tokens that are only a space."""
        known, places = np.unique(ids, return_inverse=True)
        encoder = encoder_of(self.model.tokenizer)
        return np.array([encoder.piece(token).blank for token in known.tolist()], np.bool_)[places].reshape(ids.shape)

    def _code(self, number: int) -> int:
        if number not in self.known:
            (label,) = tokenize.from_ids(self.model.tokenizer, [number // 2])[1].labels
            name = f"{CONTINUES}{label}" if number % 2 else label
            self.known[number] = self.numbers.setdefault(name, len(self.names))
            if self.known[number] == len(self.names):
                self.names.append(name)
        return self.known[number]


_NAMES: WeakKeyDictionary[Model, TokenNames] = WeakKeyDictionary()


def _opening(tokens: Padded) -> int:
    """How many special tokens open each text: as many as the model puts there."""
    words = (~tokens.special).cpu().numpy()
    opening = words.argmax(axis=1)[words.any(axis=1)]
    return int(opening.min(initial=words.shape[1]))
