"""Every weight of a record in one table."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis import all_heads
from bartviz.errors import BudgetError
from bartviz.record.record import Record
from tests.support import records, stand_in

NAMES = ["kind", "layer", "head", "query", "key", "query_token", "key_token", "weight"]


@pytest.mark.parametrize(
    "record", [stand_in.record(), records.encoder_only(), records.decoder_only()], ids=["both", "encoder", "decoder"]
)
def test_each_row_is_the_weight_of_its_cell(record: Record) -> None:
    table = all_heads.table(record)
    assert list(table) == NAMES
    assert list(table.kind.unique()) == list(record.kinds)
    for kind, layer, head, query, key, query_token, key_token, weight in table.itertuples(index=False):
        attention = record.attention(kind)
        scores = np.where(attention.mask[query], attention.scores(layer, head)[query], -np.inf).astype(float)
        assert weight == pytest.approx(
            np.exp(scores[key] - scores.max()) / np.exp(scores - scores.max()).sum(), abs=1e-6
        )
        assert (query_token, key_token) == (record.rows(kind).labels[query], attention.key.labels[key])


def test_each_open_cell_of_each_head_has_one_row() -> None:
    record = stand_in.record()
    table = all_heads.table(record)
    cells = [
        (kind, layer, head, query, key)
        for kind in record.kinds
        for layer in range(record.attention(kind).shape[0])
        for head in range(record.attention(kind).shape[1])
        for query, key in np.argwhere(record.attention(kind).mask)
    ]
    assert list(zip(table.kind, table.layer, table["head"], table["query"], table.key, strict=True)) == cells
    assert all_heads.count(record) == len(cells) == len(table)
    sums = table.groupby(["kind", "layer", "head", "query"]).weight.sum()
    np.testing.assert_allclose(sums, 1, atol=1e-5)


def test_a_long_text_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    record = stand_in.record()
    monkeypatch.setattr(all_heads, "MAX_ROWS", all_heads.count(record))
    assert len(all_heads.table(record)) == all_heads.check(record)
    monkeypatch.setattr(all_heads, "MAX_ROWS", all_heads.count(record) - 1)
    for call in (all_heads.check, all_heads.table):
        with pytest.raises(BudgetError, match=r"have 2,484 weights; a table has at most 2,483\."):
            call(record)
