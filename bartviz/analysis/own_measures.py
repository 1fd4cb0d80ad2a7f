"""Measures of the caller's own: a function of a layer's weights and of their tokens, one number for each head.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from bartviz import plugins
from bartviz.analysis.corpus_measures import ALL
from bartviz.analysis.measures import Measured, padding
from bartviz.analysis.words import word_numbers
from bartviz.arrays import Bools, Floats, Ints
from bartviz.errors import SettingError
from bartviz.plugins import Plugin
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_ .-]{0,59}")


@dataclass(frozen=True, eq=False)
class Labelled:
    """The tokens of one axis: ids (n,), ``labels`` as a reader sees them, ``special`` (n,) which are special tokens,
    and ``words`` (n,), the number of the word that each belongs to, from 0, -1 for none."""

    ids: Ints
    labels: tuple[str, ...]
    special: Bools
    words: Ints

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class BothTokens:
    """The tokens of rows and columns of one kind, and where a row may look: ``mask`` (Q, K)."""

    kind: Kind
    query: Labelled
    key: Labelled
    mask: Bools

    @property
    def even(self) -> Floats:
        """(Q, K) the weights of attention that looks evenly at all that it may see."""
        seen = self.mask.sum(axis=1, keepdims=True)
        return np.asarray(self.mask / np.maximum(seen, 1), np.float32)


Own: TypeAlias = Callable[[Floats, BothTokens], Floats]
"""A measure: weights (H, Q, K) of a layer, tokens -> (H,)."""


def check(measures: Mapping[str, Own]) -> None:
    """Raise SettingError for a name that another measure has or that tables cannot hold, or for what is no function."""
    for name, function in measures.items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise SettingError(
                "The name of a measure has 1 to 60 letters a-z, digits, spaces, dots, hyphens or underscores, and "
                f"begins with a letter: {name!r} does not."
            )
        if name in ALL:
            raise SettingError(f"There is a measure {name!r} already: give yours another name.")
        if not callable(function):
            raise SettingError(
                f"The measure {name!r} is no function, but {type(function).__name__}. It is called with the weights "
                "(heads, rows, columns) of a layer and the tokens, and returns one number for each head."
            )


def with_plugins(measures: Mapping[str, Own]) -> dict[str, Own]:
    """The measures of plugins, then the caller's. Raises SettingError for what is no measure, as ``check``."""
    found = {plugin.name: _accepted(plugin) for plugin in plugins.found("measures").values()}
    check(measures)
    for name in measures:
        if name in found:
            raise SettingError(f"There is a measure {called(name)} already: give yours another name.")
    return {**found, **measures}


def _accepted(plugin: Plugin) -> Own:
    try:
        check({plugin.name: plugin.added})
    except SettingError as error:
        raise plugin.refused(str(error).rstrip(".")) from error
    function: Own = plugin.added
    return function


def called(name: str) -> str:
    """A measure for messages: with its package where it is of a plugin."""
    plugin = plugins.found("measures").get(name)
    off = "" if plugin is None else f" of the package {plugin.package} ({plugins.SETTING}=off leaves it out)"
    return f"{name!r}{off}"


@contextmanager
def blamed(name: str, kind: Kind, layer: int | None, text: str = "") -> Iterator[None]:
    """Raise SettingError that names the measure, the layer (None: even attention) and the text, whatever a function
    raises."""
    where = f" The text: {text}." if text else ""
    try:
        yield
    except SettingError as error:
        raise SettingError(f"{error}{where}") from error
    except Exception as error:
        raise SettingError(
            f"The measure {called(name)} raised {type(error).__name__} for {place(kind, layer)}: {error}.{where}"
        ) from error


def computed(name: str, function: Own, weights: Floats, tokens: BothTokens, layer: int | None = None) -> Floats:
    """(H,) what the function says of weights (H, Q, K) of a layer, None for even attention. Raises SettingError for
    something else than H numbers; what the function itself raises passes."""
    weights.setflags(write=False)
    found = np.asarray(function(weights, tokens))
    where = place(tokens.kind, layer)
    if found.shape != weights.shape[:1] or found.dtype.kind not in "fiub":
        raise SettingError(
            f"The measure {called(name)} returned {found.dtype.name} of shape {found.shape} for {where}: expected is "
            f"shape {weights.shape[:1]}, a finite number for each head, or NaN where it is not defined."
        )
    with np.errstate(over="ignore"):
        numbers = found.astype(np.float32)
    if np.isinf(numbers).any():
        head = int(np.isinf(numbers).argmax())
        of = where if layer is None else str(Head(tokens.kind, layer, head))
        raise SettingError(
            f"The measure {called(name)} is infinite for {of}: it must be finite, or NaN where it is not defined."
        )
    return numbers


def place(kind: Kind, layer: int | None) -> str:
    """What a function was asked about, for messages: a layer, or even attention."""
    return f"even {kind} attention" if layer is None else f"layer {layer} of {kind} attention"


def even(name: str, function: Own, tokens: BothTokens, heads: int) -> float:
    """What the function says of even attention."""
    return float(computed(name, function, np.repeat(tokens.even[None], heads, axis=0), tokens)[0])


def added(measured: Measured, record: Record, measures: Mapping[str, Own]) -> Measured:
    """The measures of a record with the caller's own ones after them. Raises SettingError."""
    if not measures:
        return measured
    attention, kept = record.attention(measured.kind), ~padding(record, measured.kind)
    columns = np.asarray(attention.mask[kept].any(axis=0), np.bool_)
    tokens = BothTokens(
        measured.kind,
        _labelled(record.rows(measured.kind), kept),
        _labelled(attention.key, columns),
        attention.mask[kept][:, columns],
    )
    layers, heads = measured.shape
    values = {name: np.empty((layers, heads), np.float32) for name in measures}
    for layer in range(layers):
        weights = attention.layer(layer)[:, kept][:, :, columns]
        for name, function in measures.items():
            with _plain(name, tokens.kind, layer):
                values[name][layer] = computed(name, function, weights, tokens, layer)
    evens = dict.fromkeys(measures, np.nan)
    for name, function in measures.items():
        with _plain(name, tokens.kind, None):
            evens[name] = even(name, function, tokens, heads)
    return replace(
        measured,
        values={**measured.values, **values},
        even={**measured.even, **evens},
        rows={**measured.rows, **dict.fromkeys(measures, len(tokens.query))},
    )


def _plain(name: str, kind: Kind, layer: int | None) -> AbstractContextManager[None]:
    """What a caller's function raises passes, for whoever writes it; that of a plugin is named."""
    return blamed(name, kind, layer) if name in plugins.found("measures") else nullcontext()


def _labelled(tokens: Tokens, kept: Bools) -> Labelled:
    words = word_numbers(tokens)
    labels = tuple(label for label, there in zip(tokens.labels, kept, strict=True) if there)
    return Labelled(tokens.ids[kept], labels, tokens.special[kept], words[kept])
