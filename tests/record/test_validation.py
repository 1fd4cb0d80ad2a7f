"""Invalid tokens, attention and texts are rejected at construction, not when they are drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

import bartviz
from bartviz.errors import BartvizError, RecordError, SettingError
from bartviz.record import store, validation
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from tests.support import stand_in

GOOD = stand_in.tokens(("<s>", "I", " want", "</s>"))
HALF = "\ud83d"


def with_another(value: Any, name: str, part: object) -> Any:
    """A copy with one field changed."""
    return replace(value, **{name: part})


@pytest.mark.parametrize(
    "changes",
    [
        {"ids": np.array([[0, 1, 2, 3]])},
        {"ids": np.array([0, 1, 2, -3])},
        {"ids": np.array([0.5, 1, 2, 3])},
        {"segments": np.array([0, 0, 2, 0])},
        {"segments": np.zeros((4, 1), np.int64)},
        {"special": np.array([1, 0, 0, 1])},
        {"words": (None, 1, 0, None)},
        {"words": (None, -1, 0, None)},
        {"words": (None, "0", 1, None)},
        {"words": (None, True, 1, None)},
        {"spans": (None, (1, 0), (2, 6), None)},
        {"spans": (None, (0, 1, 1), (2, 6), None)},
        {"spans": (None, (0, "1"), (2, 6), None)},
        {"spans": (None, (-1, 1), (2, 6), None)},
        {"labels": ("<s>", HALF, "want", "</s>")},
        {"pieces": ("<s>", 3, "want", "</s>")},
    ],
    ids=str,
)
def test_tokens_that_cannot_be(changes: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        replace(GOOD, **changes)


def test_tokens_may_lack_words_and_spans_and_be_none_at_all() -> None:
    replace(GOOD, words=(None,) * 4, spans=(None,) * 4)
    assert len(GOOD.take(slice(0, 0))) == 0


@pytest.mark.parametrize(("name", "size"), [("q", 3.4e38), ("v", 1e13), ("out", 1e20)])
def test_numbers_that_would_overflow_are_refused(record: Record, name: str, size: float) -> None:
    attention = record.attention("cross")
    numbers = np.array(getattr(attention, name))
    numbers.flat[0] = size
    with pytest.raises(RecordError, match="so large"):
        with_another(attention, name, numbers)


def test_queries_and_keys_that_overflow_only_together_are_refused(record: Record) -> None:
    attention = record.attention("cross")
    with pytest.raises(RecordError, match="so large"):
        replace(attention, scale=1e28)
    replace(attention, scale=1e6)


def test_attention_without_a_head_is_refused(record: Record) -> None:
    attention = record.attention("encoder")
    with pytest.raises(RecordError, match="empty"):
        replace(attention, q=attention.queries[:, :0], k=attention.keys[:, :0], v=None, out=None, out_bias=None)


def test_values_have_four_axes(record: Record) -> None:
    attention = record.attention("encoder")
    assert attention.v is not None
    with pytest.raises(RecordError, match="v has shape"):
        replace(attention, v=attention.v[..., None])


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_kinds_of_a_record_are_of_the_same_texts(record: Record, kind: Kind) -> None:
    cut = record.attention(kind)
    shorter = replace(
        cut,
        k=cut.keys[:, :, :-1],
        v=None,
        out=None,
        out_bias=None,
        mask=cut.mask[:, :-1],
        key=cut.key.take(slice(0, -1)),
    )
    with pytest.raises(RecordError, match="columns"):
        with_another(record, kind, shorter)


@pytest.mark.parametrize("name", ["source_text", "target_text", "pair_text"])
def test_half_a_character_is_no_text(record: Record, name: str) -> None:
    with pytest.raises(RecordError, match="lone surrogates"):
        with_another(record, name, f"a {HALF}")


def test_a_model_is_of_a_family_that_is_known(record: Record) -> None:
    with pytest.raises(RecordError, match="family must be"):
        replace(record.model, family="nan")


def edited(record: Record, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The record's file with its description changed in place by ``change``."""
    data = store.encode(record)
    length = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["bartviz"])
    change(header["value"])
    made: bytes = save(load(data), metadata={"bartviz": json.dumps(header)})
    return made


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["provenance"].update(seconds=10**400),
        lambda value: value["model"].update(parameters=10**400),
        lambda value: value["model"].update(name=HALF),
        lambda value: value.update(source_text={"$array": "encoder.q"}),
        lambda value: value["encoder"].update(q={"$array": "encoder.mask"}),
        lambda value: value["encoder"]["query"].update(labels="abcdefghi"),
        lambda value: value["encoder"]["query"].update(labels={str(i): i for i in range(9)}),
        lambda value: value.update(provenance=[]),
        lambda value: value["provenance"].update(versions={"torch": 2}),
        lambda value: value["provenance"].update(made="yesterday"),
        lambda value: value["provenance"].update(settings={"mode": {"a": {}}}),
    ],
)
def test_a_description_of_other_types_is_refused(record: Record, change: Callable[[dict[str, Any]], object]) -> None:
    store.decode(edited(record, lambda value: None), Record)
    with pytest.raises(RecordError):
        store.decode(edited(record, change), Record)


def test_more_heads_than_can_be_shown_are_refused() -> None:
    tokens, seen = stand_in.tokens(("a", " b")), np.ones((2, 2), bool)
    many = np.zeros((validation.MOST_HEADS // 100 + 1, 100, 2, 1), np.float32)
    with pytest.raises(RecordError, match="at most 20,000"):
        Attention("encoder", many, many, 1.0, seen, tokens, tokens)
    with pytest.raises(RecordError, match="at most 20,000"):
        Attention.of_weights("encoder", np.full((201, 100, 2, 2), 0.5, np.float32), seen, tokens, tokens)
    most = many[:200]
    assert Attention("encoder", most, most, 1.0, seen, tokens, tokens).shape[:2] == (200, 100)


@pytest.mark.parametrize("index", ["2", None, 1.5, (1,)])
def test_a_layer_that_is_no_number_is_refused_with_the_choices(index: Any) -> None:
    attention = stand_in.record().attention("cross")
    with pytest.raises(SettingError, match="choose 0 to"):
        attention.head(index, 0)
    with pytest.raises(SettingError, match="choose 0 to"):
        attention.scores(0, index)
    number: Any = np.int64(1)
    assert attention.head(number, number).shape == attention.shape[2:]


def test_a_name_that_no_file_can_hold_is_refused() -> None:
    info = stand_in.model_info()
    for field in ("name", "architecture", "fingerprint"):
        with pytest.raises(RecordError, match="halves"):
            with_another(info, field, HALF)
    with pytest.raises(BartvizError):
        bartviz.from_attentions(np.full((1, 1, 2, 2), 0.5, np.float32), ["a", "b"], name=HALF)
