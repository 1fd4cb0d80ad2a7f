"""One kind of attention over all layers, and the names of its heads. Frozen, read-only, NumPy only.

Letters in shapes: L layers, H heads, Q query rows, K key columns, d head width, D model width, n tokens.
Axes are (query, key) everywhere: a row attends to columns. Layers and heads count from 0 and are shown as ``L3H7``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import TypeAlias, TypeGuard, get_args

import numpy as np

from bartviz.arrays import Bools, Floats, Ints, Rebuilt, frozen, same
from bartviz.errors import RecordError, SettingError, choices
from bartviz.families import family
from bartviz.language import later
from bartviz.record.sample import Sample
from bartviz.record.softmax import masked_softmax, softmax_with_sink
from bartviz.record.validation import check_heads, check_numbers, check_weights, weights_only
from bartviz.text.tokens import Tokens

Kind = family.Kind
KINDS: tuple[Kind, ...] = get_args(Kind)

_HEAD = re.compile(rf"\s*(?:({'|'.join(KINDS)})\s+)?L([0-9]{{1,9}})H([0-9]{{1,9}})\s*", re.IGNORECASE)


@dataclass(frozen=True, order=True, slots=True)
class Head:
    """The name of one attention head, such as ``cross L2H5``: its kind, its layer and its number in the layer, both
    counted from 0. Heads can be sorted and compared.

    >>> head = bartviz.Head("cross", 2, 5)
    >>> str(head), bartviz.Head.parse("cross L2H5") == head
    ('cross L2H5', True)
    """

    kind: Kind
    layer: int
    head: int

    @classmethod
    def parse(cls, name: HeadName, *, kinds: Sequence[Kind] = KINDS) -> Head:
        """A head in any form: ``"cross L2H5"``, in capitals or not, ``("cross", 2, 5)``, or a head itself. Where heads
        are of a single kind, ``kinds``, ``"L2H5"`` and ``(2, 5)`` are enough. Raises SettingError for anything else."""
        if isinstance(name, Head):
            return name
        formed = is_head(name)
        if formed and isinstance(name, tuple):
            name = " ".join([*map(str, name[:-2]), f"L{name[-2]}H{name[-1]}"])
        match = _HEAD.fullmatch(name) if isinstance(name, str) else None
        if match is None:
            raise SettingError(
                later(
                    'A head is written as "{example}": the kind ({kinds}), the layer, the head.',
                    example=f"{kinds[-1]} L2H5",
                    kinds=choices(kinds),
                )
            )
        head = f"L{int(match[2])}H{int(match[3])}"
        if match[1] is None and len(kinds) > 1:
            raise SettingError(
                later(
                    "{head} can be a head of several kinds of attention: write {choices}.",
                    head=head,
                    choices=choices([f'"{kind} {head}"' for kind in kinds]),
                )
            )
        kind = kinds[0] if match[1] is None else next(kind for kind in KINDS if kind == match[1].lower())
        return cls(kind, int(match[2]), int(match[3]))

    @property
    def short(self) -> str:
        return f"L{self.layer}H{self.head}"

    def __str__(self) -> str:
        return f"{self.kind} {self.short}"


HeadName: TypeAlias = Head | str | tuple[str, int, int] | tuple[int, int]
"""The forms of a head's name, which ``Head.parse`` reads."""


def is_head(name: object) -> TypeGuard[HeadName]:
    """Whether it has the form of a single head's name."""
    if not isinstance(name, tuple):
        return isinstance(name, Head | str)
    numbers = len(name) in (2, 3) and all(isinstance(one, Integral) for one in name[-2:])
    return numbers and all(isinstance(one, str) for one in name[:-2])


@dataclass(frozen=True)
class Attention(Rebuilt):
    """One kind of attention over all layers of its stack: softmax(q k^T * scale + bias, over what the mask allows).

    Vaswani et al. 2017, equation 1. Kept as queries and keys: each head is computed on demand, never all at once. Or,
    where somebody else has computed them (``bartviz.from_attentions``), as the weights themselves: see ``of_weights``.

    q (L, H, Q, d), k (L, H, K, d), v (L, H, K, d) or None: float32.
    weights (L, H, Q, K) or None: the weights that were given; then q and k are None, and so is all that belongs to
    them. Read ``queries`` and ``keys`` where both kinds may come: they raise an error that says what is missing.
    bias (H, Q, K) or None: added to the scores of every layer (T5's relative positions, shared by the stack); of a
    model whose layers differ in it (umT5) (L, H, Q, K).
    mask (Q, K): True where a row may attend. ``query`` labels rows, ``key`` columns.
    windows (L,) or None: in a layer a row attends only to keys that are fewer positions away; 0: to all of the mask.
    softcap or None: scores s become softcap * tanh(s / softcap) before the mask (Gemma 2).
    sinks (L, H) or None: a learned score in addition to those of the keys, whose weight goes to no key (gpt-oss).
    out (L, D, H, d) or None: the output projection W_O of each layer as the run used it, split by head (0 for a
    silenced head); out_bias (L, D) or None: what the projection adds. The block's output for row i is
    sum over heads h and keys j of weight_hij * out_h v_hj, plus out_bias.
    sample: the fast kernel's output for some heads and rows of every layer; None if it was not captured.
    borrowed: whether out and out_bias belong to the model, one array for all of its records.
    """

    kind: Kind
    q: Floats | None
    k: Floats | None
    scale: float
    mask: Bools
    query: Tokens
    key: Tokens
    v: Floats | None = None
    bias: Floats | None = None
    windows: Ints | None = None
    softcap: float | None = None
    sinks: Floats | None = None
    out: Floats | None = None
    out_bias: Floats | None = None
    sample: Sample | None = None
    borrowed: bool = field(default=False, compare=False)
    weights: Floats | None = None

    @classmethod
    def of_weights(cls, kind: Kind, weights: Floats, mask: Bools, query: Tokens, key: Tokens) -> Attention:
        """Attention of given weights (L, H, Q, K), which are 0 where the mask (Q, K) is False. Raises RecordError."""
        return cls(kind, None, None, 1.0, mask, query, key, weights=weights)

    def __post_init__(self) -> None:
        for name in ("q", "k", "v", "bias", "sinks", "out", "out_bias", "weights"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), np.float32))
        if self.windows is not None:
            object.__setattr__(self, "windows", frozen(self.windows, np.int64))
        object.__setattr__(self, "mask", frozen(self.mask, np.bool_))
        self._validate()

    def __repr__(self) -> str:
        layers, heads, rows, columns = self.shape
        return f"<{self.kind} attention: {layers} layers x {heads} heads, {rows} rows attend to {columns} columns>"

    def _validate(self) -> None:
        if self.kind not in KINDS:
            raise RecordError(f"The kind of attention is one of {choices(KINDS)}.")
        self._validate_origin()
        layers, heads, rows, columns = self.shape
        check_heads(layers, heads)
        expected = {
            "mask": (self.mask, (rows, columns)),
            "bias": (self.bias, (heads, rows, columns)),
            "windows": (self.windows, (layers,)),
            "sinks": (self.sinks, (layers, heads)),
        }
        if self.bias is not None and self.bias.ndim == 4:
            expected["bias"] = (self.bias, (layers, heads, rows, columns))
        for name, (array, shape) in expected.items():
            if array is not None and array.shape != shape:
                raise RecordError(f"The {self.kind} {name} has shape {array.shape}, but {shape} is needed.")
        if self.v is not None and (self.v.ndim != 4 or self.v.shape[:3] != (layers, heads, columns)):
            raise RecordError(
                f"The {self.kind} v has shape {self.v.shape}, but ({layers}, {heads}, {columns}, d) is needed."
            )
        self._validate_projection()
        self._validate_sample()
        if (len(self.query), len(self.key)) != (rows, columns):
            raise RecordError(
                f"{self.kind}: {rows} rows and {columns} columns, "
                f"but {len(self.query)} query and {len(self.key)} key tokens."
            )
        sampled = (None, None) if self.sample is None else (self.sample.output, self.sample.v)
        if (self.softcap is not None and not 0 < self.softcap < np.inf) or (
            self.windows is not None and self.windows.min() < 0
        ):
            raise RecordError(f"The {self.kind} attention's softcap is above 0, its windows are at least 0.")
        if self.q is None or self.k is None:
            return
        optional = (self.v, self.bias, self.sinks, *(() if self.borrowed else (self.out, self.out_bias)), *sampled)
        check_numbers(self.kind, self.scale, self.q, self.k, *(array for array in optional if array is not None))

    def _validate_origin(self) -> None:
        """Raise RecordError unless there are queries and keys that fit together, or weights and nothing else."""
        if self.weights is not None:
            products = (
                self.q,
                self.k,
                self.v,
                self.bias,
                self.windows,
                self.softcap,
                self.sinks,
                self.out,
                self.sample,
            )
            if any(part is not None for part in (*products, self.out_bias)):
                raise RecordError(f"The {self.kind} attention has weights: no queries, keys or values belong to it.")
            check_weights(self.kind, self.weights)
            return
        if self.q is None or self.k is None:
            raise RecordError(f"The {self.kind} attention needs queries and keys, or weights.")
        if self.q.ndim != 4 or self.k.ndim != 4:
            raise RecordError(
                f"Queries and keys must have four axes (L, H, n, d), not {self.q.shape} and {self.k.shape}."
            )
        layers, heads, _, width = self.q.shape
        needed = (layers, heads, self.k.shape[2], width)
        if self.k.shape != needed:
            raise RecordError(f"The {self.kind} k has shape {self.k.shape}, but {needed} is needed.")

    def _validate_projection(self) -> None:
        if self.out is None and self.out_bias is None:
            return
        if self.out is None or self.v is None or self.out.ndim != 4:
            raise RecordError(f"The {self.kind} projection needs four axes (L, D, H, d), and values.")
        layers, heads = self.shape[:2]
        width = self.out.shape[1]
        if self.out.shape != (layers, width, heads, self.v.shape[3]):
            raise RecordError(f"The {self.kind} projection has shape {self.out.shape}, which does not fit the values.")
        if self.out_bias is not None and self.out_bias.shape != (layers, width):
            raise RecordError(
                f"The {self.kind} projection's bias has shape {self.out_bias.shape}: ({layers}, {width})."
            )

    def _validate_sample(self) -> None:
        if self.sample is None:
            return
        sample, (layers, heads, rows, columns) = self.sample, self.shape
        chosen, sampled_rows, width = (
            array.shape[-1] if array.ndim else 0 for array in (sample.heads, sample.rows, sample.output)
        )
        shapes = (sample.heads.shape, sample.rows.shape, sample.output.shape)
        values = None if self.v is None else (layers, chosen, columns, self.v.shape[3])
        if sample.v is not None:
            values = sample.v.shape
        if (
            not chosen
            or not sampled_rows
            or shapes != ((layers, chosen), (layers, sampled_rows), (layers, chosen, sampled_rows, width))
            or values != (layers, chosen, columns, width)
            or not _within(sample.heads, heads)
            or not _within(sample.rows, rows)
        ):
            raise RecordError(f"The {self.kind} kernel's sample does not fit the attention.")

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(L, H, Q, K)."""
        if self.weights is not None:
            layers, heads, rows, columns = self.weights.shape
            return layers, heads, rows, columns
        layers, heads, rows, _ = self.queries.shape
        return layers, heads, rows, self.keys.shape[2]

    @property
    def has_scores(self) -> bool:
        """Whether there are queries and keys, and so scores; False where weights were given."""
        return self.weights is None

    @property
    def queries(self) -> Floats:
        """q (L, H, Q, d). Raises WeightsOnlyError."""
        return _there(self.q)

    @property
    def keys(self) -> Floats:
        """k (L, H, K, d). Raises WeightsOnlyError."""
        return _there(self.k)

    @property
    def nbytes(self) -> int:
        """Bytes of its own arrays; a borrowed projection belongs to the model."""
        arrays = [self.q, self.k, self.v, self.bias, self.mask, self.windows, self.sinks, self.weights]
        arrays += [] if self.borrowed else [self.out, self.out_bias]
        arrays += [] if self.sample is None else [self.sample.output, self.sample.v]
        return sum(array.nbytes for array in arrays if array is not None)

    @cached_property
    def masked_rows(self) -> Bools:
        """(Q,) True where a row may attend to nothing: its weights come out uniform and mean nothing."""
        return np.logical_not(self.mask.any(axis=1))

    @property
    def plain(self) -> bool:
        """Whether weights are computed as a softmax of q k^T * scale + bias over the mask, with nothing else: no
        windows, no cap, no sinks."""
        return self.has_scores and self.windows is None and self.softcap is None and self.sinks is None

    def allowed(self, layer: int) -> Bools:
        """(Q, K): where a row of this layer may attend, its window applied."""
        window = 0 if self.windows is None else int(self.windows[layer])
        if not window:
            return self.mask
        rows, columns = (np.arange(length) for length in self.mask.shape)
        near: Bools = np.abs(rows[:, None] - columns) < window
        return self.mask & near

    def bias_of(self, layer: int) -> Floats | None:
        """(H, Q, K): what is added to the scores of a layer, or None."""
        return self.bias[layer] if self.bias is not None and self.bias.ndim == 4 else self.bias

    def capped(self, scores: Floats) -> Floats:
        """The scores below the cap, where the model has one. Overwrites ``scores``."""
        if self.softcap is not None:
            scores /= np.float32(self.softcap)
            np.tanh(scores, out=scores)
            scores *= np.float32(self.softcap)
        return scores

    def weigh(
        self, scores: Floats, layer: int, heads: int | Sequence[int] | slice, rows: slice | Ints = slice(None)
    ) -> Floats:
        """Weights (..., R, K) of one or several heads from their scores for some rows. Overwrites ``scores``."""
        mask = np.broadcast_to(self.allowed(layer)[rows], scores.shape)
        if self.sinks is None:
            return masked_softmax(scores, mask)
        return softmax_with_sink(scores, mask, np.asarray(self.sinks[layer, heads])[..., None, None])

    def scores(self, layer: int, head: int) -> Floats:
        """(Q, K) float32: q k^T * scale + bias, capped where the model does so, before the mask and the softmax.

        Raises SettingError, WeightsOnlyError.
        """
        self.check(layer, head)
        scores: Floats = self.queries[layer, head] @ self.keys[layer, head].T  # (Q, K)
        scores *= np.float32(self.scale)
        bias = self.bias_of(layer)
        if bias is not None:
            scores += bias[head]
        return self.capped(scores)

    def place(self, head: HeadName) -> tuple[int, int]:
        """The layer and the number of a head of this attention, such as "L2H5" or "cross L2H5". Raises SettingError for
        one of another kind, or that is not there."""
        named = Head.parse(head, kinds=(self.kind,))
        if named.kind != self.kind:
            raise SettingError(f"{named} is no head of {self.kind} attention: choose one such as {self.kind} L0H0.")
        self.check(named.layer, named.head)
        return named.layer, named.head

    def head(self, layer: int, head: int) -> Floats:
        """(Q, K) float32 weights of one head; masked cells are exactly 0; rows sum to 1, or to less if there is a sink.

        A fully masked row is uniform, as in the model: see ``masked_rows``. Raises SettingError.
        """
        if self.weights is not None:
            self.check(layer, head)
            return np.array(self.weights[layer, head])
        return self.weigh(self.scores(layer, head), layer, head)

    def row_weights(self, layer: int, rows: slice) -> Floats:
        """(H, b, K) float32 weights of all heads of a layer for some rows."""
        if self.weights is not None:
            return np.array(self.weights[layer][:, rows])
        scores: Floats = self.queries[layer][:, rows] @ self.keys[layer].swapaxes(-1, -2)  # (H, b, K)
        scores *= np.float32(self.scale)
        bias = self.bias_of(layer)
        if bias is not None:
            scores += bias[:, rows]
        return self.weigh(self.capped(scores), layer, slice(None), rows)

    def layer(self, layer: int) -> Floats:
        """(H, Q, K) float32 weights of every head of one layer."""
        self.check(layer, 0)
        return np.stack([self.head(layer, head) for head in range(self.shape[1])])

    def compare(self) -> float | None:
        """How far weights times values are from the fast kernel's output, for the sampled heads and rows of every
        layer: the largest difference in a layer, relative to the layer's largest number. None without a sample."""
        if self.sample is None:
            return None
        sample, layers, worst = self.sample, np.arange(self.shape[0]), 0.0
        rows = sample.rows  # (L, R)
        mask = np.stack([self.allowed(layer)[rows[layer]] for layer in range(len(rows))])  # (L, R, K)
        seen = mask.any(axis=-1)  # (L, R)
        scale = np.maximum(np.abs(sample.output).max(axis=(1, 2, 3), initial=0.0), 1e-6)  # (L,)
        for index, heads in enumerate(sample.heads.T):  # (L,)
            q = self.queries[layers[:, None], heads[:, None], rows]  # (L, R, d)
            scores = q @ self.keys[layers, heads].mT * np.float32(self.scale)  # (L, R, K)
            if self.bias is not None:
                by_layer = (layers[:, None],) if self.bias.ndim == 4 else ()
                scores += self.bias[(*by_layer, heads[:, None], rows)]
            self.capped(scores)
            v = self._values(layers, heads, index)  # (L, K, d)
            if self.sinks is None:
                weights = masked_softmax(scores, mask)
            else:
                weights = softmax_with_sink(scores, mask, self.sinks[layers, heads][:, None, None])
            recomputed = weights @ v  # (L, R, d)
            difference = np.abs(recomputed - sample.output[:, index]).max(axis=-1, initial=0.0) * seen  # (L, R)
            worst = max(worst, float((difference.max(axis=-1, initial=0.0) / scale).max(initial=0.0)))
        return worst

    def _values(self, layers: Ints, heads: Ints, index: int) -> Floats:
        """(L, K, d) the values of one sampled head per layer."""
        if self.v is not None:
            return np.asarray(self.v[layers, heads])
        assert self.sample is not None
        assert self.sample.v is not None  # validated: one of the two holds values
        return np.asarray(self.sample.v[:, index])

    @cached_property
    def difference(self) -> float | None:
        """The result of ``compare``, computed once: the arrays are read-only."""
        return self.compare()

    def check(self, layer: int, head: int) -> None:
        """Raise SettingError, with the choices, for a layer or head that does not exist."""
        layers, heads = self.shape[:2]
        for name, index, count in (("layer", layer, layers), ("head", head, heads)):
            if not isinstance(index, Integral) or not 0 <= index < count:
                raise SettingError(
                    later(
                        "There is no {kind} {name} {index}: choose 0 to {count}.",
                        kind=self.kind,
                        name=name,
                        index=index,
                        count=count - 1,
                    )
                )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attention) and same(self, other)

    __hash__ = None  # type: ignore[assignment]  # arrays inside


def _there(array: Floats | None) -> Floats:
    if array is None:
        raise weights_only()
    return array


def _within(indexes: Ints, count: int) -> bool:
    return bool(indexes.min(initial=0) >= 0 and indexes.max(initial=0) < count)
