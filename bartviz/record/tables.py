"""A record's weights in the forms of other libraries: NumPy arrays, a pandas table, xarray's labelled arrays.

Letters in shapes: L layers, H heads, Q query rows, K key columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz.arrays import Floats
from bartviz.errors import BudgetError, missing
from bartviz.language import later

if TYPE_CHECKING:
    import pandas as pd

    from bartviz.record.attention import Attention, Kind
    from bartviz.record.record import Reading, Record

MAX_BYTES = 2 << 30  # of all weights that are converted at once
_CELL, _ROW = 4, 24  # bytes of a weight, and of a row of the table


def arrays(record: Record, kinds: Sequence[str]) -> dict[Kind, Floats]:
    """Kind -> weights (L, H, Q, K). Raises SettingError, BudgetError."""
    chosen = _chosen(record, kinds, _CELL)
    return {attention.kind: _weights(attention) for attention in chosen}


def table(record: Record, kinds: Sequence[str], reading: Reading | None) -> pd.DataFrame:
    """One line for each cell of each head. Raises SettingError, BudgetError."""
    import pandas as pd

    chosen = _chosen(record, kinds, _ROW)
    rows = [record.rows(attention.kind, reading).labels for attention in chosen]
    keys = [attention.key.labels for attention in chosen]
    names = list(dict.fromkeys(chain(*rows, *keys)))  # the same in each part, so that they stay categories
    parts = zip(chosen, rows, keys, strict=True)
    return pd.concat([_lines(*part, names, record.kinds) for part in parts], ignore_index=True)


def labelled(record: Record, kinds: Sequence[str], reading: Reading | None) -> dict[Kind, Any]:
    """Kind -> xarray.DataArray of the weights, with coordinates. Raises PackageError, SettingError, BudgetError."""
    try:
        xarray = import_module("xarray")  # by name: it is not a dependency, and needed only by callers who have it
    except ModuleNotFoundError:
        raise missing("xarray") from None

    made: dict[Kind, Any] = {}
    for attention in _chosen(record, kinds, _CELL):
        coordinates: dict[str, Any] = {
            name: np.arange(size) for name, size in zip(("layer", "head", "query", "key"), attention.shape, strict=True)
        }
        coordinates["query_token"] = ("query", list(record.rows(attention.kind, reading).labels))
        coordinates["key_token"] = ("key", list(attention.key.labels))
        made[attention.kind] = xarray.DataArray(
            _weights(attention),
            dims=("layer", "head", "query", "key"),
            coords=coordinates,
            name="weight",
            attrs={"kind": attention.kind, "model": record.model.name, "fingerprint": record.model.fingerprint},
        )
    return made


def _chosen(record: Record, kinds: Sequence[str], size: int) -> list[Attention]:
    """The attention of these kinds, all if none is named; ``size``: bytes of each weight in the result."""
    chosen = [record.attention(kind) for kind in dict.fromkeys(kinds or record.kinds)]
    check_size(chosen, size)
    return chosen


def check_size(chosen: Sequence[Attention], size: int = _CELL) -> None:
    """Raise BudgetError where arrays with a cell of ``size`` bytes for each weight are too large."""
    needed = size * sum(int(np.prod(attention.shape)) for attention in chosen)
    if needed > MAX_BYTES:
        raise BudgetError(
            later(
                "All weights together would take {size:.1f} GB; the limit is {limit:.1f} GB. Name one kind, or take "
                "single layers: record.attention(kind).layer(number).",
                size=needed / 1e9,
                limit=MAX_BYTES / 1e9,
            )
        )


def _weights(attention: Attention) -> Floats:
    """(L, H, Q, K) float32."""
    weights = np.empty(attention.shape, np.float32)
    for layer, heads in enumerate(weights):
        heads[:] = attention.layer(layer)
    return weights


def _lines(
    attention: Attention, rows: Sequence[str], keys: Sequence[str], names: Sequence[str], kinds: Sequence[str]
) -> pd.DataFrame:
    import pandas as pd

    layer, head, query, key = (index.ravel() for index in np.indices(attention.shape, np.int32))
    return pd.DataFrame(
        {
            "kind": pd.Categorical([attention.kind], categories=pd.Index(kinds)).repeat(layer.size),
            "layer": layer,
            "head": head,
            "query": query,
            "key": key,
            "query_token": pd.Categorical(list(rows), categories=pd.Index(names)).take(query),
            "key_token": pd.Categorical(list(keys), categories=pd.Index(names)).take(key),
            "weight": _weights(attention).ravel(),
        }
    )
