"""A record's weights as NumPy arrays, as a table and as labelled arrays: the same numbers as its heads."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bartviz.errors import BartvizError, BudgetError, PackageError, SettingError
from bartviz.record import tables
from bartviz.record.record import Record
from tests.support import stand_in

RECORDS = {kind: stand_in.record(kind=kind) for kind in ("encoder", "decoder", "encoder-decoder")}


def cells(record: Record, kind: str) -> list[tuple[int, int]]:
    layers, heads = record.attention(kind).shape[:2]
    return [(layer, head) for layer in range(layers) for head in range(heads)]


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_arrays_are_the_heads(record: Record) -> None:
    arrays = record.to_numpy()
    assert tuple(arrays) == record.kinds
    for kind, weights in arrays.items():
        assert weights.shape == record.attention(kind).shape
        assert weights.dtype == np.float32
        for layer, head in cells(record, kind):
            assert np.array_equal(weights[layer, head], record.attention(kind).head(layer, head))


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_a_table_gives_back_every_head(record: Record) -> None:
    table = record.to_dataframe()
    assert list(table) == ["kind", "layer", "head", "query", "key", "query_token", "key_token", "weight"]
    assert len(table) == sum(weights.size for weights in record.to_numpy().values())
    for kind in record.kinds:
        for layer, head in cells(record, kind):
            lines = table[(table["kind"] == kind) & (table["layer"] == layer) & (table["head"] == head)]
            square = lines.pivot(index="query", columns="key", values="weight").to_numpy()
            assert np.array_equal(square, record.attention(kind).head(layer, head))
        rows = table[(table["kind"] == kind) & (table["layer"] == 1) & (table["head"] == 2)]
        assert rows[rows["key"] == 0]["query_token"].tolist() == list(record.rows(kind).labels)
        assert rows[rows["query"] == 0]["key_token"].tolist() == list(record.attention(kind).key.labels)


def test_a_cell_of_the_table_is_that_of_its_two_tokens() -> None:
    record = RECORDS["encoder-decoder"]
    table = record.to_dataframe("cross")
    assert record.output is not None
    assert record.cross is not None
    row, column = record.output.labels.index("Auto"), record.source.labels.index("car")
    line = table[(table["query_token"] == "Auto") & (table["key_token"] == "car")].query("layer == 2 and head == 3")
    assert line["weight"].tolist() == [record.cross.head(2, 3)[row, column]]
    assert set(table["kind"]) == {"cross"}
    reads = record.to_dataframe("cross", reading="reads")
    assert set(reads["query_token"]) == set(record.cross.query.labels)


def test_labels_that_repeat_stay_apart_by_their_positions() -> None:
    record = stand_in.record(("a", " a", " a"), ("b", " b"))
    table = record.to_dataframe("encoder")
    assert len(table) == 3 * 4 * 3 * 3
    assert set(table["key_token"]) == {"a"}
    assert sorted(set(table["key"])) == [0, 1, 2]


def test_only_the_kinds_that_are_named() -> None:
    record = RECORDS["encoder-decoder"]
    assert tuple(record.to_numpy("cross", "encoder")) == ("cross", "encoder")
    with pytest.raises(SettingError, match="no decoder attention: choose encoder"):
        RECORDS["encoder"].to_numpy("decoder")


def test_weights_that_are_too_many_are_refused_with_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    record = RECORDS["encoder-decoder"]
    monkeypatch.setattr(tables, "MAX_BYTES", 4 * 3 * 4 * 9 * 9)
    assert record.to_numpy("cross")["cross"].size == 3 * 4 * 9 * 9
    for convert in (record.to_numpy, record.to_dataframe):
        with pytest.raises(BudgetError, match="Name one kind"):
            convert()


@dataclass
class Labelled:
    """xarray's DataArray as it is called: the numbers, and what names them."""

    data: Any
    dims: tuple[str, ...]
    coords: dict[str, Any]
    name: str
    attrs: dict[str, str]


def test_labelled_arrays_have_dimensions_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", SimpleNamespace(DataArray=Labelled))
    record = RECORDS["encoder-decoder"]
    labelled: dict[Any, Any] = record.to_xarray()
    assert tuple(labelled) == record.kinds
    for kind, made in labelled.items():
        attention = record.attention(kind)
        assert made.dims == ("layer", "head", "query", "key")
        assert np.array_equal(made.data, record.to_numpy(kind)[kind])
        assert tuple(len(made.coords[name]) for name in made.dims) == attention.shape
        assert made.coords["query_token"] == ("query", list(record.rows(kind).labels))
        assert made.coords["key_token"] == ("key", list(attention.key.labels))
        assert made.attrs == {"kind": kind, "model": record.model.name, "fingerprint": record.model.fingerprint}


def test_without_xarray_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(PackageError, match="xarray is not installed, and this needs it: pip install xarray") as caught:
        RECORDS["encoder"].to_xarray()
    assert isinstance(caught.value, BartvizError)
    assert isinstance(caught.value, ImportError)
