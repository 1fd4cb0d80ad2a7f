"""Single edges of a part of the corpus, and the tokens that they join, as two Parquet files.

``edges``: text, kind, layer, head, query and key position, weight, the tokens at both and their classes. ``texts``: the
number, file, line, text, pair and target of a text, and its tokens by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bartviz.corpus.batch_measures import Edges
from bartviz.corpus.encode import Encoded, Side
from bartviz.corpus.find import CLASSES
from bartviz.record.attention import Kind

if TYPE_CHECKING:
    import pandas as pd

SIDES = ("source", "inputs", "output")
LINE = ("number", "file", "line", "text", "pair", "target")


def tables(rows: Sequence[Encoded], found: Sequence[tuple[Sequence[Encoded], Kind, Edges]]) -> dict[str, bytes]:
    """The files of the texts ``rows``, and of the edges of their batches."""
    import pandas as pd

    parts = [_edges(row, kind, edges, text) for batch, kind, edges in found for text, row in enumerate(batch)]
    if not rows:
        return {}
    # typed, for a part without edges would have columns of no type
    edges = pd.concat(parts, ignore_index=True).astype(dict.fromkeys(("kind", "query_token", "key_token"), "string"))
    texts = [
        {name: getattr(row.line, name) for name in LINE} | {side: list(row.labels.get(side, ())) for side in SIDES}
        for row in rows
    ]
    frame = pd.DataFrame(texts).astype(dict.fromkeys(("text", "pair", "target"), "string"))
    return {"edges": edges.to_parquet(index=False), "texts": frame.to_parquet(index=False)}


def sides(row: Encoded, kind: Kind) -> tuple[str, str]:
    """The sides of the query rows and of the key columns of a kind."""
    if kind == "cross":
        return "output", "source"
    return ("source", "source") if kind == "encoder" or row.inputs is None else ("inputs", "inputs")


def _edges(row: Encoded, kind: Kind, edges: Edges, text: int) -> pd.DataFrame:
    import pandas as pd

    here = edges.places[:, 0] == text
    _, layer, head, *places = edges.places[here].T.astype(np.int32)
    columns: dict[str, Any] = {"text": row.line.number, "kind": kind, "layer": layer, "head": head}
    for name, side, place in zip(("query", "key"), sides(row, kind), places, strict=True):
        labels = np.array(row.labels[side], object)
        known: Side | None = getattr(row, side)
        assert known is not None
        columns |= {
            name: place,
            f"{name}_token": labels[place],
            f"{name}_class": _classes(row.labels[side], known)[place],
        }
    return pd.DataFrame(columns | {"weight": edges.weights[here]})


def _classes(labels: Sequence[str], side: Side) -> NDArray[np.int8]:
    """(n,) the classes of tokens, as bits."""
    bares = [label.strip(" ⋯") for label in labels]
    number = np.array([bare.replace(",", "").replace(".", "").isdecimal() for bare in bares])
    capitalised = np.array([bare[:1].isupper() for bare in bares]) & (side.special == 0)
    members = {"number": number, "punctuation": side.punctuation, "capitalised": capitalised, "special": side.special}
    bits = np.stack([members[name].astype(np.int8) * np.int8(bit) for name, bit in CLASSES.items()])
    found: NDArray[np.int8] = bits.sum(axis=0, dtype=np.int8)
    return found
