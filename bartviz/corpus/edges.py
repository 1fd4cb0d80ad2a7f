"""Single edges of a part of the corpus, and the tokens that they join, as two Parquet files.

``edges``: kind, layer, head, text, query and key position, the tokens at both, their classes and whether they are the
same, weight; sorted by head and, within a head, from the highest weight down, so that a query that names a head or a
least weight reads few row groups. ``texts``: the number, file, line, text, pair and target of a text, and its tokens by
side. Letters in shapes: E edges, R texts of the part, T tokens of one side of all of them.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bartviz.corpus.batch_measures import Edges
from bartviz.corpus.encode import Encoded, Side
from bartviz.corpus.find import CLASSES
from bartviz.record.attention import KINDS, Kind
from bartviz.text.labels import is_capitalised, is_number

if TYPE_CHECKING:
    import pyarrow as pa

SIDES = ("source", "inputs", "output")
LINE = {"number": "int64", "file": "string", "line": "int64", "text": "string", "pair": "string", "target": "string"}
ROWS = 1 << 16  # of a row group: about the edges of a head in a part of sentences

Columns = Mapping[str, NDArray[Any]]


def tables(rows: Sequence[Encoded], found: Sequence[tuple[Sequence[Encoded], Kind, Edges]]) -> dict[str, bytes]:
    """The files of the texts ``rows``, in ascending order, and of the edges of their batches."""
    import pyarrow as pa

    if not rows:
        return {}
    vocabulary: dict[str, int] = {}
    sides = {name: _Flat.of(rows, name, vocabulary) for name in SIDES}
    labels = np.array(list(vocabulary), object)
    for flat in sides.values():
        flat.classify(labels)
    numbers = np.array([row.line.number for row in rows], np.int64)  # (R,)
    parts = [_columns(batch, kind, edges, numbers, sides) for batch, kind, edges in found]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    texts = {name: pa.array([getattr(row.line, name) for row in rows], kind) for name, kind in LINE.items()}
    words = {side: pa.array([row.labels.get(side, ()) for row in rows], pa.list_(pa.string())) for side in SIDES}
    return {"edges": edges_file(columns, labels), "texts": _parquet(pa.table(texts | words))}


def edges_file(columns: Columns, labels: NDArray[np.object_]) -> bytes:
    """The file of edges: columns (E,) kind, as its place in ``KINDS``, layer, head, text, query, key, their tokens, as
    places in ``labels``, their classes, and weight."""
    import pyarrow as pa

    order = np.lexsort((-columns["weight"], columns["head"], columns["layer"], columns["kind"]))
    sorted_ = {name: column[order] for name, column in columns.items()}
    names = {"kind": np.array(KINDS, object), "query_token": labels, "key_token": labels}
    arrays: dict[str, Any] = {
        name: pa.DictionaryArray.from_arrays(column, pa.array(names[name], pa.string())) if name in names else column
        for name, column in sorted_.items()
    }
    return _parquet(pa.table(arrays | {"same": sorted_["query_token"] == sorted_["key_token"]}))


def _parquet(table: pa.Table) -> bytes:
    import pyarrow.parquet as pq

    written = io.BytesIO()
    repeated = [name for name in table.column_names if name not in {"weight", "same"}]
    pq.write_table(table, written, row_group_size=ROWS, use_dictionary=repeated)
    return written.getvalue()


def sides_of(kind: Kind, inputs: bool) -> tuple[str, str]:
    """The sides of the query rows and of the key columns of a kind; ``inputs``: the decoder reads a text of its own."""
    if kind == "cross":
        return "output", "source"
    return ("inputs", "inputs") if kind == "decoder" and inputs else ("source", "source")


@dataclass
class _Flat:
    """The tokens of one side of all texts in a row: where each text begins (R,), and the codes (T,) of their labels;
    ``classes`` (T,) as bits."""

    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    special: NDArray[np.bool_]
    classes: NDArray[np.int8]

    @classmethod
    def of(cls, rows: Sequence[Encoded], name: str, vocabulary: dict[str, int]) -> _Flat:
        """``vocabulary`` numbers the labels and grows; the classes are those that do not depend on the label."""
        labels = [row.labels.get(name, ()) for row in rows]
        lengths = np.array([len(row) for row in labels], np.int64)
        codes = [vocabulary.setdefault(label, len(vocabulary)) for row in labels for label in row]
        known: list[Side] = [getattr(row, name) for row in rows if getattr(row, name) is not None]
        special, punctuation = (
            np.concatenate([getattr(side, of) for side in known] or [np.zeros(0, np.int64)]) != 0
            for of in ("special", "punctuation")
        )
        bits = special * CLASSES["special"] + punctuation * CLASSES["punctuation"]
        return cls(np.cumsum(lengths) - lengths, np.array(codes, np.int32), special, bits.astype(np.int8))

    def classify(self, labels: NDArray[np.object_]) -> None:
        """Add the classes that are seen in the label: number, and capitalised where the token is not special."""
        number = np.array([is_number(label) for label in labels], bool)
        capital = np.array([is_capitalised(label) for label in labels], bool)
        bits = number[self.codes] * CLASSES["number"] + (capital[self.codes] & ~self.special) * CLASSES["capitalised"]
        self.classes = self.classes + bits.astype(np.int8)


def _columns(
    batch: Sequence[Encoded], kind: Kind, edges: Edges, numbers: NDArray[np.int64], sides: Mapping[str, _Flat]
) -> dict[str, NDArray[Any]]:
    """The columns (E,) of a batch, tokens and kind as codes."""
    text, layer, head, query, key = edges.places.T
    named = np.array([row.line.number for row in batch], np.int64)
    row = np.searchsorted(numbers, named)[text]  # (E,)
    columns: dict[str, NDArray[Any]] = {
        "kind": np.full(len(text), KINDS.index(kind), np.int8),
        "layer": layer.astype(np.int16),
        "head": head.astype(np.int16),
        "text": named[text],
    }
    for name, side, place in zip(
        ("query", "key"), sides_of(kind, batch[0].inputs is not None), (query, key), strict=True
    ):
        flat = sides[side]
        at = flat.starts[row] + place
        columns |= {name: place.astype(np.int32), f"{name}_token": flat.codes[at], f"{name}_class": flat.classes[at]}
    return columns | {"weight": edges.weights}
