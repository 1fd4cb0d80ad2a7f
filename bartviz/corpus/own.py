"""Measures of the caller's own over a corpus: the functions of a run, asked about each text, layer and head.

Letters in shapes: B texts of a batch, L layers, H heads, Q query rows, K key columns, M measures.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from torch import Tensor

from bartviz.analysis import own_measures
from bartviz.analysis.own_measures import BothTokens, Labelled, Own
from bartviz.arrays import Floats
from bartviz.corpus.edges import sides_of
from bartviz.corpus.encode import Encoded
from bartviz.corpus.sums import Bins
from bartviz.errors import SettingError
from bartviz.record.attention import Kind


@dataclass(frozen=True, eq=False)
class OfBatch:
    """What the functions are asked of the texts of a batch, for one kind of attention."""

    kind: Kind
    functions: Mapping[str, Own]
    rows: Sequence[Encoded]
    tokens: Sequence[BothTokens]

    @classmethod
    def of(cls, kind: Kind, functions: Mapping[str, Own], rows: Sequence[Encoded]) -> OfBatch:
        """Of rows that were encoded with their labels."""
        return cls(kind, functions, rows, [tokens_of(row, kind) for row in rows])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.functions)

    def layer(self, weights: Tensor, layer: int) -> Floats:
        """(B, H, M) of the weights (B, H, Q, K) of a layer, padding included."""
        whole = weights.detach().float().cpu().numpy()
        found = np.empty((*whole.shape[:2], len(self.functions)), np.float32)
        for text, (row, tokens) in enumerate(zip(self.rows, self.tokens, strict=True)):
            own = whole[text, :, : len(tokens.query), : len(tokens.key)]
            for measure, (name, function) in enumerate(self.functions.items()):
                with own_measures.blamed(name, self.kind, layer, _text(row)):
                    found[text, :, measure] = own_measures.computed(name, function, own, tokens, layer)
        return found

    def even(self, heads: int) -> Floats:
        """(B, M) of even attention."""
        found = np.empty((len(self.rows), len(self.functions)), np.float32)
        for text, (row, tokens) in enumerate(zip(self.rows, self.tokens, strict=True)):
            for measure, (name, function) in enumerate(self.functions.items()):
                with own_measures.blamed(name, self.kind, None, _text(row)):
                    found[text, measure] = own_measures.even(name, function, tokens, heads)
        return found


def _text(row: Encoded) -> str:
    """Which text it is, for messages."""
    return f"{row.line.file}, line {row.line.line:,}"


def tokens_of(row: Encoded, kind: Kind) -> BothTokens:
    """The tokens of rows and columns of a text, as ``bartviz.measures`` gives them to a function."""
    query, key = (_labelled(row, name) for name in sides_of(kind, row.inputs is not None))
    mask = np.ones((len(query), len(key)), np.bool_)
    return BothTokens(kind, query, key, np.tril(mask) if kind == "decoder" else mask)


def _labelled(row: Encoded, name: str) -> Labelled:
    side = getattr(row, name)
    return Labelled(side.ids, row.labels[name], side.special != 0, side.words)


def about(functions: Mapping[str, Own], bins: Mapping[str, Bins]) -> dict[str, dict[str, Any]]:
    """What an atlas says of each measure: the function by name, a digest of its source, and the bins of histograms."""
    return {
        name: {
            "function": where(function),
            "source": _source(function),
            "start": bins[name].start,
            "width": bins[name].width,
        }
        for name, function in functions.items()
    }


def where(function: Own) -> str:
    """The name of a function, with its module: "package.module:function"."""
    known = function if hasattr(function, "__qualname__") else type(function)
    return f"{known.__module__}:{known.__qualname__}"


def _source(function: Own) -> str:
    """A digest of the function as it is written, empty where nobody knows that."""
    try:
        return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()[:16]
    except (OSError, TypeError):
        return ""


def check_importable(functions: Mapping[str, Own]) -> None:
    """Raise SettingError for a function that other processes cannot import by its name."""
    for name, function in functions.items():
        module, _, path = where(function).partition(":")
        found: Any = sys.modules.get(module)
        for part in path.split("."):
            found = getattr(found, part, None)
        if module == "__main__" or found is not function:
            raise SettingError(
                f"The measure {name!r} is {where(function)}, which other processes cannot import: define the function "
                "at the top level of a module, or use one worker."
            )


def imported(named: str) -> tuple[str, Own]:
    """The name and the function of "package.module:function", also of a module in the current folder.

    Raises SettingError where there is none.
    """
    module, _, path = named.partition(":")
    if not module or not path:
        raise SettingError(f"A measure is written as package.module:function: {named!r} is not.")
    if "" not in sys.path:
        sys.path.append("")  # the current folder, after what is installed
    try:
        found: Any = import_module(module)
    except Exception as error:
        raise SettingError(
            f"The module {module} of the measure {named!r} cannot be imported: {type(error).__name__}: {error}."
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise SettingError(f"The module {module} has no {path}: name a function in it.")
        found = getattr(found, part)
    return path.rpartition(".")[2], found
