"""One head and one query token: every number between the query and what the head adds to the layer's output.

score_j = (q . k_j) * scale + bias_j, weight = softmax of the scores over the keys that may be seen, output = sum over j
of weight_j v_j (Vaswani et al. 2017, equation 1), and W_O^h of that output is what the head adds to its layer.

Letters in shapes: H heads, K keys, d head width, D model width.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import contributions, plain_words, sentence_words
from bartviz.analysis.masks import in_word, no_row
from bartviz.arrays import Bools, Floats
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark
from bartviz.language.percentages import percent
from bartviz.record.attention import Attention, Kind
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

Which = Literal["strongest", "first", "last", "near"]
MOST = 24  # keys that are shown one by one
_WIDEST = 8  # times the width of a head: a scale below one over the root of that is written as it is
ROUNDED = mark("The numbers shown are rounded: computed by hand, the last digit may differ by one.")


@dataclass(frozen=True, eq=False)
class Inside:
    """The arithmetic of one head for one query token, as computed by the model.

    q (d,), k (K, d), v (K, d); dots (K,) = q . k_j; scaled (K,) = dots * scale; bias (K,) or None; scores (K,) = scaled
    + bias; mask (K,) True where the key may be seen; weights (K,) sum to 1.
    context (d,) = sum of weight_j v_j; added (D,) = W_O^h context; block (D,) what all heads and the bias add together;
    shares (H,) of the heads in the lengths of what they add, sum 1. None where the record was made without values.
    ``projection_bias``: whether the block adds one (T5's does not).
    ``masked``: all keys of the row are masked, so its weights are uniform and mean nothing.
    """

    kind: Kind
    layer: int
    head: int
    row: int
    query: Tokens
    keys: Tokens
    scale: float
    q: Floats
    k: Floats
    dots: Floats
    scaled: Floats
    bias: Floats | None
    scores: Floats
    mask: Bools
    weights: Floats
    masked: bool
    v: Floats | None = None
    context: Floats | None = None
    added: Floats | None = None
    block: Floats | None = None
    shares: Floats | None = None
    projection_bias: bool = False
    softcap: float | None = None
    sink: float | None = None  # a score in addition to those of the keys

    @property
    def name(self) -> str:
        return sentence_words.head(self.kind, self.layer, self.head)

    @property
    def width(self) -> int:
        """d, the width of the head's queries and keys."""
        return len(self.q)

    @property
    def query_label(self) -> str:
        """The token of the row."""
        return self.query.labels[self.row]

    @property
    def asks(self) -> str:
        """The token of the row in a sentence, with the word that it is a piece of."""
        return in_word(self.query, self.row)

    @property
    def root(self) -> int | None:
        """The number by whose square root the sums are divided; None where the scale is another number."""
        if self.scale <= 0 or self.scale == 1:
            return None
        square = 1 / self.scale**2
        nearest = round(square)
        return nearest if nearest <= _WIDEST * self.width and math.isclose(square, nearest, rel_tol=1e-5) else None

    @property
    def factor(self) -> str:
        """The scale as it is written everywhere, with the digits that the arithmetic needs: "÷ √32", "× 0.2"."""
        return f"× {self.scale:.6g}" if self.root is None else f"÷ √{self.root}"

    @property
    def divisor(self) -> str:
        """The square root that the sums are divided by, and its value; empty where the scale is another number."""
        if self.root is None:
            return ""
        value = math.sqrt(self.root)
        return f"√{self.root} {'=' if value.is_integer() else '≈'} {value:.4g}"

    def label(self, key: int) -> str:
        return self.keys.labels[key]

    def named(self, key: int) -> str:
        """A key in a sentence, with the word that it is a piece of."""
        return in_word(self.keys, key)

    @cached_property
    def strongest(self) -> int:
        """The key of the largest weight."""
        return int(self.weights.argmax())

    def products(self, key: int) -> Floats:
        """(d,) q_m * k_jm, dimension by dimension; they sum to ``dots[key]``."""
        product: Floats = self.q * self.k[key]
        return product


def inside(attention: Attention, layer: int, head: int, row: int) -> Inside:
    """The arithmetic of one head for one row. Raises SettingError for a layer, head or row that is not there."""
    attention.check(layer, head)
    check_row(attention, row)
    q, k = attention.queries[layer, head, row], attention.keys[layer, head]  # (d,), (K, d)
    dots = k @ q  # (K,)
    scaled = dots * np.float32(attention.scale)
    biases = attention.bias_of(layer)
    bias = None if biases is None else biases[head, row]
    scores = attention.capped(scaled.copy() if bias is None else scaled + bias)
    mask = attention.allowed(layer)[row]
    weights = attention.weigh(scores[None].copy(), layer, head, slice(row, row + 1))[0]
    return Inside(
        attention.kind,
        layer,
        head,
        row,
        attention.query,
        attention.key,
        attention.scale,
        q,
        k,
        dots,
        scaled,
        bias,
        scores,
        mask,
        weights,
        masked=bool(attention.masked_rows[row]),
        projection_bias=attention.out_bias is not None,
        softcap=attention.softcap,
        sink=None if attention.sinks is None else float(attention.sinks[layer, head]),
        **_output(attention, layer, head, row, weights),
    )


def check_row(attention: Attention, row: int) -> None:
    """Raise SettingError, with the choices, for a row that is not there."""
    rows = attention.shape[2]
    if not 0 <= row < rows:
        raise no_row(row, rows)


def _output(attention: Attention, layer: int, head: int, row: int, weights: Floats) -> dict[str, Floats]:
    """The fields after the weights, as far as the record has values."""
    if attention.v is None:
        return {}
    v = attention.v[layer, head]  # (K, d)
    found = {"v": v, "context": weights @ v}
    if attention.out is None:
        return found
    parts = row_outputs(attention, layer, row)  # (H, D)
    lengths = np.linalg.norm(parts, axis=1)  # (H,)
    shares = lengths / lengths.sum() if lengths.sum() > 0 else np.full_like(lengths, 1 / len(lengths))
    block = parts.sum(axis=0)
    if attention.out_bias is not None:
        block = block + attention.out_bias[layer]
    return found | {"added": parts[head], "block": block, "shares": shares}


def row_outputs(attention: Attention, layer: int, row: int) -> Floats:
    """(H, D) what each head of a layer adds to one row: W_O^h applied to its output. Needs values."""
    assert attention.v is not None
    assert attention.out is not None
    scores = np.einsum("hd,hkd->hk", attention.queries[layer, :, row], attention.keys[layer]) * np.float32(
        attention.scale
    )
    bias = attention.bias_of(layer)
    if bias is not None:
        scores = scores + bias[:, row]
    scores = attention.capped(scores)[:, None]  # (H, 1, K)
    weights = attention.weigh(scores, layer, slice(None), slice(row, row + 1))[:, 0]  # (H, K)
    contexts = np.einsum("hk,hkd->hd", weights, attention.v[layer])
    parts: Floats = np.einsum("hd,ehd->he", contexts, attention.out[layer])
    return parts


def growth(attention: Attention, row: int) -> Floats:
    """(L,) the length of what each layer's attention block adds to one row: |block output|. Needs values."""
    if not contributions.available(attention):
        raise SettingError(later("This record was made without values. Run the text again."))
    check_row(attention, row)
    lengths = []
    for layer in range(attention.shape[0]):
        whole = row_outputs(attention, layer, row).sum(axis=0)  # (D,)
        lengths.append(np.linalg.norm(whole if attention.out_bias is None else whole + attention.out_bias[layer]))
    return np.array(lengths, np.float32)


@dataclass(frozen=True, eq=False)
class Shown:
    """The keys that are shown one by one, in text order, and the others merged into one row.

    rest: how many others there are; their weights add up to ``rest_weight``, their scores act as one score
    ``rest_score`` = log sum exp (so that the softmax over the rows shown is the same), their values as one value
    ``rest_value`` (d,), the mean by weight (so that weight times value is what they add). None where nothing is left.
    """

    keys: tuple[int, ...]
    rest: int
    rest_weight: float = 0.0
    rest_score: float | None = None
    rest_value: Floats | None = None


def shown(one: Inside, which: Which = "strongest", most: int = MOST, keep: int | None = None) -> Shown:
    """All keys of a short text; of a longer one ``most``: the strongest, the first, the last, or those near the query.

    ``keep`` is a key that is always shown. Raises SettingError for another word.
    """
    if which not in get_args(Which):
        raise SettingError(later("Choose which keys are shown: {choices}.", choices=choices(get_args(Which))))
    count = len(one.keys)
    if count <= most:
        return Shown(tuple(range(count)), 0)
    order: NDArray[np.int64] = {
        "strongest": np.argsort(-one.weights, kind="stable"),
        "first": np.arange(count),
        "last": np.arange(count)[::-1],
        "near": np.argsort(np.abs(np.arange(count) - min(one.row, count - 1)), kind="stable"),
    }[which]
    chosen = order[:most].tolist()
    if keep is not None and keep not in chosen:
        chosen[-1] = keep
    others = np.setdiff1d(np.arange(count), chosen)
    weights, scores = one.weights[others], one.scores[others][one.mask[others]]
    total = float(weights.sum())
    score = float(np.logaddexp.reduce(scores)) if len(scores) else None
    value = weights @ one.v[others] / np.float32(total) if one.v is not None and total > 0 else None
    return Shown(tuple(sorted(chosen)), len(others), total, score, value)


def sentence(one: Inside, predicts: str | None = None, *, plain: bool = False) -> str:
    """One or two sentences on this row; ``predicts`` is what a decoder's row predicts, as in a sentence
    (``masks.in_word``); ``plain``: for a beginner, one without scores."""
    if one.masked:
        row = row_label(one, predicts, start=False)
        return _("All keys of {row} are masked: its weights are uniform and mean nothing.", row=row)
    row = row_label(one, predicts)
    key = one.strongest
    visible = int(one.mask.sum())
    if visible == 1 and one.sink is not None:
        return _(
            "{row} may see {key} and the sink, which is not a token: its weight is {weight:.3f}.",
            row=row,
            key=one.named(key),
            weight=one.weights[key],
        )
    if visible == 1:
        return _("{row} may see only {key}: its weight is 1 whatever the score.", row=row, key=one.named(key))
    ordered = np.sort(one.scores[one.mask])
    if plain:
        asked = (
            mark("For {word}, {head} looks most at {key}: with {share} of its attention.")
            if predicts is None
            else mark("To write {word}, {head} looks most at {key}: with {share} of its attention.")
        )
        said = _(
            asked,
            head=sentence_words.head_in_words(one.layer, one.head),
            word=predicts or one.asks,
            key=one.named(key),
            share=percent(float(one.weights[key])),
        )
        return f"{plain_words.head()} {said}"
    said = _(
        "{row} fits {key} best: score {score}, the next {second}, so its weight is {weight:.3f}.",
        row=row,
        key=one.named(key),
        score=_number(one.scores[key]),
        second=_number(ordered[-2]),
        weight=one.weights[key],
    )
    if one.shares is None:
        return said
    share = _("This head makes up {share:.0%} of what its layer adds.", share=one.shares[one.head])
    return f"{said} {share}"


def row_label(one: Inside, predicts: str | None, *, start: bool = True) -> str:
    """The label of the row: what it reads and, in a decoder, what it predicts."""
    if predicts is None:
        return one.asks
    said = _("the row that reads {own} and predicts {predicted}", own=one.asks, predicted=predicts)
    return sentence_words.capitalized(said) if start else said


def equation(one: Inside, key: int) -> tuple[tuple[str, str], ...]:
    """From the products to the weight of one key: (number, what it is), in the order in which they are computed;
    with enough digits to compute the three digits of the weight: see ``ROUNDED``."""
    scale = _("scale: none in this family") if one.scale == 1 else _("scale of this model")
    if one.divisor:
        scale = _("scale: {divisor}", divisor=one.divisor)
    products = _("q · k, the sum of {count} products", count=one.width)
    steps = [(_number(one.dots[key], 4), products), (one.factor, scale)]
    if one.bias is not None:
        bias = float(one.bias[key])
        steps.append((f"{'−' if bias < 0 else '+'} {abs(bias):.4f}", _("bias of the relative position")))
    if one.softcap is not None:
        cap = f"{one.softcap:.4g}"
        steps.append((f"{cap} · tanh(… / {cap})", _("cap: scores stay between −{cap} and {cap}", cap=cap)))
    if one.masked:
        nothing = _("weight: the same for all keys of a fully masked row; it means nothing")
        return (*steps, ("−∞", _("mask: may not be seen")), (f"= {_weight(one.weights[key])}", nothing))
    if not one.mask[key]:
        return (*steps, ("−∞", _("mask: may not be seen")), ("0", _("weight, exactly")))
    steps.append((f"= {_number(one.scores[key], 4)}", _("score")))
    top = float(one.scores[one.mask].max())
    less = f"− {_number(top, 4)}" if top >= 0 else f"+ {_number(-top, 4)}"
    softmax = f"e^({_number(one.scores[key], 4)} {less}) / {_normaliser(one):.4f}"
    over = _("softmax: e to the score minus the largest, divided by the sum over all keys")
    if one.sink is not None:
        over = _("softmax: e to the score minus the largest, divided by the sum over all keys and the sink")
    steps.append((softmax, over))
    return (*steps, (f"= {_weight(one.weights[key])}", _("weight")))


def _weight(value: float | np.floating) -> str:
    """Three decimals; two significant digits for a weight that would be rounded to 0.000."""
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.2g}".replace("e-0", "e-").replace("-", "−")


def _number(value: float | np.floating, places: int = 2) -> str:
    """The number with a minus sign instead of a hyphen."""
    return f"{value:.{places}f}".replace("-", "−")


def _normaliser(one: Inside) -> float:
    """The sum over the visible keys, and the sink, of e^(score - largest score), 1 to K without a sink."""
    scores = one.scores[one.mask].astype(float)
    sink = 0.0 if one.sink is None else float(np.exp(one.sink - scores.max()))
    return float(np.exp(scores - scores.max()).sum()) + sink


def table(one: Inside) -> pd.DataFrame:
    """One line for each key: q . k, scale, scaled, bias, visible, score, weight, and what it adds through this head."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "key": range(len(one.keys)),
            "token": one.keys.labels,
            "q·k": one.dots,
            "scale": one.scale,
            "scaled": one.scaled,
            "bias": 0.0 if one.bias is None else one.bias,
            "visible": one.mask,
            "score": one.scores,
            "weight": one.weights,
        }
    )
    if one.v is not None:
        frame["length of v"] = np.linalg.norm(one.v, axis=1)  # (K,)
        frame["length of weight × v"] = one.weights * frame["length of v"]
    return frame


def dimensions(one: Inside, key: int) -> pd.DataFrame:
    """One line for each of the d dimensions: q, k, their product, and the sum so far."""
    import pandas as pd

    products = one.products(key)
    return pd.DataFrame(
        {"dimension": range(one.width), "q": one.q, "k": one.k[key], "product": products, "sum": np.cumsum(products)}
    )


def arrays(one: Inside) -> Mapping[str, NDArray[np.generic]]:
    """All arrays by name: q, k, v, dots, scores, bias, mask, weights, output, added, block."""
    names = ("q", "k", "v", "dots", "scaled", "bias", "scores", "mask", "weights", "added", "block", "shares")
    found = {name: getattr(one, name) for name in names if getattr(one, name) is not None}
    return found if one.context is None else found | {"output": one.context}
