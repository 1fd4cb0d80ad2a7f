"""Attention patterns of the models named here, and T5's relative positions.

Shapes: n tokens; a pattern is (n, n) bool, True where the row may look at the column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bartviz.arrays import Bools, Floats, Ints
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark
from bartviz.record.attention import Attention, Kind

LONGEST = 4_096  # tokens of a pattern: (n, n) bytes


@dataclass(frozen=True, slots=True)
class Setting:
    """A number that a pattern depends on, ``named`` in English: its default and its smallest value."""

    named: str
    default: int
    lowest: int

    @property
    def title(self) -> str:
        return _(self.named)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A named pattern: the models that use it and why (with the paper), and its settings.

    ``kind`` is the self-attention that has it: of encoders, or of decoders. Its texts are stored in English (``named``,
    ``users``, ``description``) and translated by the properties (``title``, ``models``, ``note``).
    """

    name: str
    named: str
    kind: Kind
    users: str
    description: str
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return _(self.named)

    @property
    def models(self) -> str:
        return _(self.users)

    @property
    def note(self) -> str:
        return _(self.description)


_WINDOW = {"window": Setting(mark("tokens to each side"), 2, 0)}
_GLOBAL = {"reach": Setting(mark("global tokens"), 1, 0)}

PATTERNS: Mapping[str, Pattern] = {
    known.name: known
    for known in (
        Pattern(
            "full",
            mark("full (bidirectional)"),
            "encoder",
            mark("BERT, RoBERTa, the encoders of BART, T5 and Marian"),
            mark("Every token looks at every token, itself included (Devlin et al. 2019)."),
        ),
        Pattern(
            "causal",
            mark("causal"),
            "decoder",
            mark("GPT-2, the decoders of BART, T5 and Marian"),
            mark(
                "A token looks at itself and at what came before it, so that it can be trained to predict "
                "what comes next (Vaswani et al. 2017)."
            ),
        ),
        Pattern(
            "prefix",
            mark("prefix"),
            "decoder",
            mark("UniLM, the prefix language model of the T5 paper"),
            mark(
                "The given part is read in both directions, what is generated after it only backwards "
                "(Dong et al. 2019; Raffel et al. 2020)."
            ),
            {"prefix": Setting(mark("tokens of the prefix"), 5, 0)},
        ),
        Pattern(
            "bigram",
            mark("bigram"),
            "decoder",
            mark("a language model of word pairs"),
            mark("A token looks at itself and at the one before it: all that a table of word pairs knows."),
        ),
        Pattern(
            "window",
            mark("sliding window"),
            "encoder",
            mark("the local layers of Longformer; Mistral with the causal half of it"),
            mark(
                "A token looks at its neighbours. The number of cells grows with n, not with n squared; "
                "through L layers a token is still affected by tokens L windows away (Beltagy et al. 2020)."
            ),
            _WINDOW,
        ),
        Pattern(
            "dilated",
            mark("dilated window"),
            "encoder",
            mark("some heads of Longformer"),
            mark("A window with gaps: it reaches further for the same number of cells (Beltagy et al. 2020)."),
            _WINDOW | {"dilation": Setting(mark("dilation"), 2, 1)},
        ),
        Pattern(
            "longformer",
            mark("window and global"),
            "encoder",
            "Longformer, LED",
            mark(
                "A window, and a few tokens ([CLS], the question) that see all and are seen by all "
                "(Beltagy et al. 2020)."
            ),
            _WINDOW | _GLOBAL,
        ),
        Pattern(
            "bigbird",
            mark("window, global and random"),
            "encoder",
            "BigBird",
            mark(
                "As Longformer, and each row also looks at a few random tokens: a short path between any two "
                "(Zaheer et al. 2020; there in blocks of 64 tokens, here token by token)."
            ),
            _WINDOW
            | _GLOBAL
            | {"random": Setting(mark("random tokens per row"), 2, 0), "seed": Setting(mark("seed"), 0, 0)},
        ),
    )
}


def pattern(name: str, n: int, **settings: int) -> Bools:
    """(n, n) bool: a pattern of ``PATTERNS``, True where a row may attend; omitted settings have their defaults.

    Every row may look at itself. Raises SettingError for an unknown name or setting, or a value below its lowest.
    """
    if name not in PATTERNS:
        raise SettingError(later("There is no pattern of that name: choose {choices}.", choices=choices(PATTERNS)))
    if not 1 <= n <= LONGEST:
        raise SettingError(later("A pattern has 1 to {limit:,} tokens, not {count:,}.", limit=LONGEST, count=n))
    known = PATTERNS[name].settings
    for key, value in settings.items():
        if key not in known:
            raise SettingError(
                later("The pattern {name} accepts {choices}, not {key}.", name=name, choices=choices(known), key=key)
            )
        if value < known[key].lowest:
            title, lowest = later(known[key].named), known[key].lowest
            raise SettingError(later("{title}: a pattern needs at least {lowest}.", title=title, lowest=lowest))
    chosen = {key: settings.get(key, setting.default) for key, setting in known.items()}
    return _build(name, n, **chosen)


def _build(
    name: str,
    n: int,
    *,
    prefix: int = 0,
    window: int = 0,
    dilation: int = 1,
    reach: int = 0,
    random: int = 0,
    seed: int = 0,
) -> Bools:
    offset = offsets(n)
    if name == "full":
        return np.ones((n, n), bool)
    if name == "causal":
        return np.less_equal(offset, 0)
    if name == "prefix":
        return np.less_equal(offset, 0) | (np.arange(n) < prefix)
    if name == "bigram":
        return np.isin(offset, (0, -1))
    seen: Bools = (np.abs(offset) <= window * dilation) & (offset % dilation == 0)
    seen[:reach] = True
    seen[:, :reach] = True
    return seen | _drawn(seen, random, seed)


def _drawn(seen: Bools, random: int, seed: int) -> Bools:
    """(n, n) bool: in each row ``random`` columns that it does not see yet, or all of those if there are fewer."""
    order = np.random.default_rng(seed).random(seen.shape)
    order[seen] = 2.0  # behind every column that may be drawn
    rank = order.argsort(axis=1).argsort(axis=1)  # (n, n) place of each column in its row's order
    return np.asarray((rank < random) & ~seen, np.bool_)


def offsets(n: int) -> Ints:
    """(n, n) key position minus query position: 0 on the diagonal, negative to the left of it."""
    place = np.arange(n)
    offset: Ints = place[None, :] - place[:, None]
    return offset


def relative_buckets(offset: Ints, *, both_ways: bool = True) -> Ints:
    """Which of T5's learned biases a cell gets, by key position minus query position (Raffel et al. 2020, 2.1).

    Half of the buckets of a direction are single distances, the others grow with the logarithm of the distance up to
    128, beyond which all share the last. An encoder has half of the buckets for each direction; in a decoder
    (``both_ways`` False) all buckets look back, and everything ahead shares bucket 0. Offsets and buckets have the same
    shape.
    """
    buckets, furthest = 32, 128
    first = np.zeros_like(offset)
    if both_ways:
        buckets //= 2
        first = np.where(offset > 0, buckets, 0)
        distance = np.abs(offset)
    else:
        distance = np.maximum(-offset, 0)
    exact = buckets // 2
    ratio = np.log(np.maximum(distance, 1).astype(np.float32) / exact) / np.float32(np.log(furthest / exact))
    far = np.minimum(exact + (ratio * (buckets - exact)).astype(np.int64), buckets - 1)
    return first + np.where(distance < exact, distance, far)


def example_bias(n: int) -> Floats:
    """(n, n) float32 example of T5's relative bias: 0 for a token itself, 0.4 less for each further bucket.

    In a trained model each head has a learned number for each bucket.
    """
    return (-0.4 * (relative_buckets(offsets(n)) % 16)).astype(np.float32)


def cut(attention: Attention, n: int) -> Attention:
    """Self-attention of the first n tokens (or fewer), without mask and bias."""
    n = min(n, *attention.shape[2:])
    tokens = attention.query.take(slice(n))
    open_ = np.ones((n, n), np.bool_)
    return Attention(
        attention.kind, attention.queries[:, :, :n], attention.keys[:, :, :n], attention.scale, open_, tokens, tokens
    )
