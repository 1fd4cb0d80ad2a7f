"""The heads that the lessons show, on weights written by hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bartviz.features.lessons import heads_found
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from bartviz.serving import saved_records as records
from tests.support import stand_in

LABELS = ("<s>", "a", " b", "</s>")
EVEN = np.full((4, 4), 0.25)


def attention(kind: Kind, heads: ArrayLike, values: ArrayLike | None = None) -> Attention:
    """Attention of one layer with these weights (H, Q, K): keys are unit vectors, queries are logarithms."""
    weights = np.asarray([heads], np.float32)
    tokens = stand_in.tokens(LABELS)
    k = np.broadcast_to(np.eye(4, dtype=np.float32), weights.shape)
    v = None if values is None else np.asarray([values], np.float32)
    out = None if v is None else np.ones((1, 1, len(v[0]), v.shape[-1]), np.float32)
    q = np.log(np.maximum(weights, 1e-12)).astype(np.float32)
    return Attention(kind, q, k, 1.0, np.ones((4, 4), bool), tokens, tokens, v=v, out=out)


def encoder(heads: ArrayLike, values: ArrayLike | None = None) -> Record:
    return Record(stand_in.model_info("encoder"), "a b", None, attention("encoder", heads, values), None, None)


def test_neighbours() -> None:
    record = encoder(np.stack([EVEN, np.eye(4, k=-1) + 1e-3, np.eye(4, k=1) + 1e-3]))
    assert heads_found.neighbour(record, -1) == (0, 1)
    assert heads_found.neighbour(record, 1) == (0, 2)
    assert heads_found.neighbours(record) == ((0, 1), (0, 2))


def test_the_head_that_rests_on_special_tokens() -> None:
    resting = np.tile([0.5, 0.1, 0.1, 0.3], (4, 1))
    assert heads_found.resting(encoder(np.stack([EVEN, resting, np.eye(4) + 1e-3]))) == (0, 1)


def test_the_hollow_head_looks_at_what_brings_little() -> None:
    """Both look at the second token; in the second head its value is short, and the last one brings more."""
    looks = np.tile([0.1, 0.7, 0.1, 0.1], (4, 1))
    values = np.array([[[1], [1], [1], [1]], [[1], [0.1], [1], [9]]])
    assert heads_found.hollow(encoder(np.stack([looks, looks]), values), 2) == (0, 1)


def test_a_view_names_the_head_that_is_found() -> None:
    view = heads_found.at(heads_found.resting, kind="encoder", row=2)
    assert view(encoder(np.stack([EVEN, np.tile([0.5, 0.1, 0.1, 0.3], (4, 1))]))) == {
        "kind": "encoder",
        "row": 2,
        "layer": 0,
        "head": 1,
    }


def test_in_the_first_record_the_heads_of_cross_attention_look_as_they_are_said_to() -> None:
    record = records.read("start")
    cross = record.attention("cross")
    assert record.output is not None
    column = cross.key.labels.index("buy")
    ahead, back, sure = (
        heads_found.ahead(record),
        heads_found.back(record),
        heads_found.surest(record, record.output.labels.index("kaufen"), column),
    )
    writes, reads = (tokens.labels.index("kaufen") for tokens in (record.output, cross.query))
    assert cross.head(*ahead)[writes].argmax() == column
    assert cross.head(*back)[reads].argmax() == column
    assert cross.head(*sure)[writes, column] == max(
        cross.head(*place)[writes, column] for place in np.ndindex(*cross.shape[:2])
    )


def test_a_record_is_looked_through_once_and_another_one_anew() -> None:
    asked: list[int] = []

    @heads_found.once
    def found(record: Record) -> int:
        asked.append(id(record))
        return len(asked)

    one, other = encoder([EVEN]), encoder([EVEN])
    assert [found(record) for record in (one, other, one, other)] == [1, 2, 1, 2]
    assert asked == [id(one), id(other)]
    del one, other  # the next ones may stand in their place
    assert [found(encoder([EVEN])) for _number in range(20)] == list(range(3, 23))
