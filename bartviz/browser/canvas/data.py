"""The data of the attention canvas: one buffer of bytes.

Streamlit sends only bytes unchanged: other values would import pandas, and bytes inside a dict would become a string.

**The buffer**: ``BVC1``, the length of the header (4 bytes, little endian), the header (JSON, UTF-8), then the arrays
one after the other, C order, little endian. The header's ``arrays`` name them: [name, type, shape].

- ``tiles`` (N, Q, K) uint16: maps whose weights are exact to at least three decimals (see ``codes``). The
  header's ``tiles`` are their N numbers: layer * (H + 1) + head, H for the mean of the layer, and L * (H + 1) for the
  mean of all heads. If that takes fewer bytes, they are sent as two arrays (see ``split``):
- ``low`` (N, Q, K) uint8, codes below 255; where it is 255 the code is the next one of ``high`` (M,) uint16.
- ``hidden`` (N, Q) uint16, if columns are hidden: the share of each row that goes to them.
- ``small`` (L, H, h, w) uint8, if all heads are shown but not all tiles are sent: ``bartviz.analysis.thumbnails``.
- ``mask`` (Q, ceil(K / 8)) uint8, if any cell is masked: bits, highest first, 1 where a row may look.

The header also has ``revision`` (changes with the picture), ``serial`` and ``begin`` (a choice that the canvas adopts
when the serial is new), ``layers`` (those of the small maps), ``light`` (the fixed data and known maps are left out),
and the fixed data: see ``Picture``.
"""

from __future__ import annotations

import json
import secrets
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import distance, head_view
from bartviz.analysis.thumbnails import MASKED, ONE, thumbnails
from bartviz.analysis.weight_scale import Range
from bartviz.analysis.word_colors import Numbers, grouped
from bartviz.analysis.words import pieces_of, word_groups
from bartviz.arrays import Floats
from bartviz.browser.canvas.messages import messages
from bartviz.drawing import theme
from bartviz.drawing.colors import word_palette, word_places
from bartviz.record.attention import KINDS, Attention
from bartviz.text.labels import CONTINUES
from bartviz.text.tokens import Tokens

What = Literal["head", "layer", "all"]
Views = Literal["map", "lines", "text"]
Small = Literal["all", "layer"]
Codes = NDArray[np.uint16]

MAGIC = b"BVC1"
UNIT = 65535  # the code of a weight of 1
EVEN = UNIT - 1  # the code of the largest difference; half of it is none
FEW = 255  # in ``low``: the code is in ``high``
LONGEST = 128  # tokens up to which every map is sent, within the byte limits
EXACT = 1_900_000  # bytes of all maps together; above it, small maps are sent, and exact ones on demand
NAMED = ("revision", "kind", "label", "shape")  # header fields of a light buffer
AT_ONCE = 400_000  # bytes of one map; a larger one is sent after the small maps are drawn
LAYER = 700_000  # bytes up to which all heads of one layer are sent together


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice: the weights, the row and the view; ``rows`` and ``keys`` if several tokens are chosen.

    Rows and keys index what is shown: words if pieces are merged, and only columns that are not hidden.
    """

    layer: int = 0
    head: int = 0
    what: What = "head"
    row: int = 0
    view: Views = "map"
    rows: tuple[int, ...] = ()
    keys: tuple[int, ...] = ()

    @property
    def core(self) -> tuple[int, int, str, int, str]:
        """The parts that a link contains."""
        return self.layer, self.head, self.what, self.row, self.view


@dataclass(frozen=True)
class Against:
    """Two heads whose difference is shown, whatever the choice is: the weights of ``second``, (layer, head) in
    ``attention``, minus those of ``first`` in the attention of the picture. ``query`` are the rows of the second.
    """

    attention: Attention
    first: tuple[int, int]
    second: tuple[int, int]
    query: Tokens | None = None


class Steps(NamedTuple):
    """The steps of a player that a canvas follows: its record's revision, and the row of each step."""

    record: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Shown:
    """How an attention is shown: the arguments of ``bartviz.analysis.head_view.view``, colours, and page context.

    ``colors``: the numbers of the tokens of rows and columns on the palette of words (``analysis.word_colors``).
    """

    query: Tokens | None = None
    words: bool = False
    hide_sinks: bool = False
    renormalise: bool = False
    span: Range = "fixed"
    overview: bool = True  # False: one head alone, and ``label`` names the canvas
    label: str = ""
    page_keys: bool = True  # whether the canvas handles keys pressed without a focus
    steps: Steps | None = None
    language: str = "en"
    colors: tuple[Numbers, Numbers] | None = None
    plain: bool = False  # the sentences are for a beginner, with weights in per cent
    beside: tuple[str, ...] = ()  # labels of a map beside this one: both leave room for the widest, and are level
    against: Against | None = None


Cached = Callable[[partial[head_view.View]], head_view.View]


def view_of(attention: Attention, choice: Choice, shown: Shown, cached: Cached = lambda call: call()) -> head_view.View:
    """The weights of a choice, as shown. ``cached`` computes means of heads: a page and its canvas need the same."""
    call = partial(
        head_view.view,
        attention,
        None if choice.what == "all" else choice.layer,
        choice.head if choice.what == "head" else None,
        query=shown.query,
        words=shown.words,
        hide_sinks=shown.hide_sinks,
        renormalise=shown.renormalise,
    )
    return call() if choice.what == "head" else cached(call)


def apart(attention: Attention, shown: Shown, against: Against) -> head_view.View:
    """B minus A as weights between -1 and 1, each row and column named by both tokens; a cell is masked if it is for
    both."""
    a = view_of(attention, Choice(*against.first), shown)
    b = head_view.view(against.attention, *against.second, query=against.query, words=shown.words)
    return replace(
        a,
        weights=b.weights - a.weights,
        mask=a.mask | b.mask,
        query_labels=distance.paired(a.query_labels, b.query_labels),
        key_labels=distance.paired(a.key_labels, b.key_labels),
    )


class Picture:
    """One attention as shown; packs the buffers for the canvas."""

    def __init__(self, attention: Attention, shown: Shown, cached: Cached = lambda call: call()) -> None:
        self.attention, self.shown, self._cached = attention, shown, cached
        self.revision = secrets.token_hex(8)
        self._apart = None if shown.against is None else apart(attention, shown, shown.against)
        self._limit = 1.0 if self._apart is None else distance.limit(self._apart.weights)
        self.first = self.view(Choice())
        layers, count = attention.shape[:2]
        rows, columns = self.first.weights.shape
        self.shape: tuple[int, int, int, int] = layers, count, rows, columns
        few = max(self.shape[2:]) <= LONGEST and self._bytes(layers * (count + 1) + 1) <= EXACT
        self.exact = shown.overview and few
        self.late = shown.overview and not few and self._bytes(1) > AT_ONCE
        self._meta = self._describe()
        self._fixed = self._mask() | (self._thumbnails() if shown.overview and not self.exact else {})

    def view(self, choice: Choice) -> head_view.View:
        """The weights of a choice, as shown."""
        return self._apart or view_of(self.attention, choice, self.shown, self._cached)

    @property
    def fixed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The header and the arrays of every buffer but for its maps: for a host that packs the buffers itself."""
        return dict(self._meta), dict(self._fixed)

    def number(self, choice: Choice) -> int:
        """The number of a choice's map."""
        layers, count = self.shape[:2]
        if choice.what == "all":
            return layers * (count + 1)
        return choice.layer * (count + 1) + (count if choice.what == "layer" else choice.head)

    def pack(self, begin: Choice, serial: int, *, small: Small = "all", light: bool = False) -> bytes:
        """The buffer. If not all maps are sent, it has that of ``begin``, with the rest of its layer if that is small.
        Without the overview it has only that map, exact.

        ``small``: whether the small maps of all layers are shown, or those of the chosen layer. ``light``: for a
        browser that has this picture already; the fixed data is left out. A ``late`` picture has no exact map at first:
        the browser draws it from the small maps, and requests the exact one.
        """
        sent = [] if (self.exact if light else self.late) else self._sent(begin)
        views = [self.view(choice) for _, choice in sent]
        arrays: dict[str, NDArray[Any]] = {} if light else dict(self._fixed)
        arrays |= split(_stacked([self._codes(view.weights) for view in views], self.shape[2:]))
        if self.first.hidden_labels:
            arrays["hidden"] = _stacked([codes(view.hidden) for view in views], self.shape[2:3])
        meta = {name: self._meta[name] for name in NAMED} if light else self._meta
        meta = meta | {"serial": serial, "begin": asdict(begin), "layers": small, "light": light}
        return encode(meta | {"tiles": [number for number, _ in sent]}, arrays)

    def _sent(self, wanted: Choice) -> list[tuple[int, Choice]]:
        """(number, choice) of the maps that are sent together."""
        layers, count = self.shape[:2]
        every = [Choice(layer, head) for layer in range(layers) for head in range(count)]
        means = [*(Choice(layer, 0, "layer") for layer in range(layers)), Choice(what="all")]
        if self.exact:
            chosen = every + means
        elif self.shown.overview and wanted.what == "head" and self._bytes(count) <= LAYER:
            chosen = [choice for choice in every if choice.layer == wanted.layer]
        else:
            chosen = [wanted]
        return [(self.number(choice), choice) for choice in chosen]

    def _codes(self, weights: Floats) -> Codes:
        if self._apart is None:
            return codes(weights)
        return np.asarray(np.rint((weights / self._limit + 1) * (EVEN / 2)), np.uint16)

    def _bytes(self, maps: int) -> int:
        return 2 * maps * self.shape[2] * self.shape[3]

    def _thumbnails(self) -> dict[str, NDArray[Any]]:
        keys = ~head_view.sinks(self.attention) if self.shown.hide_sinks else None
        return {"small": thumbnails(self.attention, keys=keys, span=self.shown.span).cells}

    def _mask(self) -> dict[str, NDArray[Any]]:
        mask = self.first.mask  # (Q, K)
        return {} if mask.all() else {"mask": np.packbits(mask, axis=1)}

    def _describe(self) -> dict[str, Any]:
        view, attention = self.first, self.attention
        return {
            "revision": self.revision,
            "shape": self.shape,
            "exact": self.exact,
            "unit": UNIT if self._apart is None else EVEN,
            "limit": None if self._apart is None else self._limit,
            "small": {"one": ONE, "masked": MASKED},
            "kind": attention.kind,
            "predicts": view.predicts,
            "plain": self.shown.plain,
            "span": self.shown.span,
            "alone": not self.shown.overview,
            "label": self.shown.label,
            "beside": list(self.shown.beside),
            "page_keys": self.shown.page_keys,
            "steps": None if self.shown.steps is None else self.shown.steps._asdict(),
            "query": list(view.query_labels),
            "key": list(view.key_labels),
            "query_words": {} if self.shown.words else pieces_of(self.shown.query or attention.query),
            "key_words": {} if self.shown.words else _kept_pieces(attention, view),
            "query_special": np.flatnonzero(view.query_special).tolist(),
            "key_special": np.flatnonzero(view.key_special).tolist(),
            "query_text": _chips(self.shown.query or attention.query, view.query_labels, words=self.shown.words),
            "key_text": _key_chips(attention, self.shown, view),
            "hidden": list(dict.fromkeys(view.hidden_labels)),
            "renormalised": view.renormalised,
            "words": messages(
                attention,
                predicts=view.predicts,
                renormalised=view.renormalised,
                plain=self.shown.plain,
                apart=self._apart is not None,
            ),
            "ramps": {kind: [theme.stops(kind), theme.stops(kind, dark=True)] for kind in KINDS},
            "between": [theme.difference_stops(), theme.difference_stops(dark=True)],
            "palette": word_palette(),
        } | _colors(attention, self.shown, view)


def _kept_pieces(attention: Attention, view: head_view.View) -> dict[int, str]:
    """The word of each column that is a piece of one."""
    words = pieces_of(attention.key)
    return {column: words[key] for column, (key, *_rest) in enumerate(view.key_groups) if key in words}


Chip = tuple[str, int, bool, bool]  # text, its column (or row) or -1 where hidden, special, touches the one before


def _chips(tokens: Tokens, labels: Sequence[str], *, words: bool) -> list[Chip]:
    """The text itself, token by token or word by word; a word's pieces touch, and lose their continuation mark."""
    if words:
        groups = word_groups(tokens)
        return [
            (label, index, bool(tokens.special[group[0]]), False)
            for index, (label, group) in enumerate(zip(labels, groups, strict=True))
        ]
    return [
        ((label.removeprefix(CONTINUES) or label) if joined else label, index, special, joined)
        for index, (label, special, joined) in enumerate(
            zip(labels, tokens.special.tolist(), tokens.joined, strict=True)
        )
    ]


def _key_chips(attention: Attention, shown: Shown, view: head_view.View) -> list[Chip]:
    """The text of the keys, including the hidden ones, whose column is -1."""
    tokens = attention.key
    groups = word_groups(tokens) if shown.words else tuple((columns,) for columns in range(len(tokens)))
    hidden_columns = np.logical_or.reduceat(head_view.sinks(attention), [group[0] for group in groups])  # (columns,)
    kept = ~hidden_columns if view.hidden_labels else np.ones_like(hidden_columns)
    rest, hidden = iter(view.key_labels), iter(view.hidden_labels)
    labels = [next(rest if keep else hidden) for keep in kept.tolist()]
    columns = np.where(kept, np.cumsum(kept) - 1, -1).tolist()
    chips = _chips(tokens, labels, words=shown.words)
    return [(text, columns[at], special, joined) for text, at, special, joined in chips]


def _colors(attention: Attention, shown: Shown, view: head_view.View) -> dict[str, Any]:
    """The place on the palette of each row and column, -1 where it has no colour."""
    if shown.colors is None:
        return {"query_colors": [], "key_colors": []}
    rows, keys = shown.colors
    return {
        "query_colors": word_places(grouped(rows, view.query_groups)),
        "key_colors": word_places(grouped(keys, view.key_groups)),
    }


def _stacked(maps: Sequence[Codes], shape: tuple[int, ...]) -> Codes:
    return np.stack(maps) if maps else np.empty((0, *shape), np.uint16)


def codes(weights: Floats) -> Codes:
    """Weights 0..1 as uint16, 65535 for 1, within 1.6e-5; rounded to three decimals, each is unchanged."""
    wide = weights.astype(np.float64)
    sent = np.rint(wide * UNIT)
    sent += np.rint(wide * 1000) - np.rint(
        sent * (1000 / UNIT)
    )  # one step, if rounding to three decimals would differ; else 0
    np.clip(sent, 0, UNIT, out=sent)
    return sent.astype(np.uint16)


def split(tiles: Codes) -> dict[str, NDArray[Any]]:
    """Maps in as few bytes as possible: one per weight and two more for each code from 255 on, or two per weight.

    A row sums to 1, so at most 257 of its codes are that large: a map of 1,024 x 1,024 takes 1.6 MB at most, not 2.1.
    """
    large = tiles >= FEW
    high = tiles[large]
    if tiles.size + high.nbytes >= tiles.nbytes:
        return {"tiles": tiles}
    low = tiles.astype(np.uint8)
    low[large] = FEW
    return {"low": low, "high": high}


def encode(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """One buffer, as described above."""
    described = [(name, array.dtype.name, array.shape) for name, array in arrays.items()]
    text = json.dumps({**meta, "arrays": described}, separators=(",", ":"), ensure_ascii=False)
    header = text.encode("utf-8", "replace")  # half a surrogate pair has no UTF-8
    parts = [array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays.values()]
    return b"".join([MAGIC, struct.pack("<I", len(header)), header, *parts])


def decode(buffer: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The inverse of ``encode``; the browser decodes the buffer in the same way."""
    (length,) = struct.unpack_from("<I", buffer, len(MAGIC))
    offset = len(MAGIC) + 4 + length
    meta: dict[str, Any] = json.loads(buffer[len(MAGIC) + 4 : offset])
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, shape in meta["arrays"]:
        dtype = np.dtype(kind).newbyteorder("<")
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(buffer, dtype, count, offset).reshape(shape)
        offset += count * dtype.itemsize
    if "low" in arrays:
        low, high = arrays.pop("low"), arrays.pop("high")
        tiles = low.astype(np.uint16)
        tiles[low == FEW] = high
        arrays["tiles"] = tiles
    return meta, arrays
