"""The options of capture() and decode() are those of capture_batch() and decode_batch(): the same numbers come out."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.errors import SettingError, TextError
from bartviz.record.record import Record
from tests.support import loaded

TEXTS = ["the cat sat on the mat", "the dog sat"]
PAIRS = ["the man sat", "the dog sat on the mat"]


def assert_same(one: Record, alone: Record) -> None:
    """Equal but for padding."""
    for kind in alone.kinds:
        _, _, rows, columns = alone.attention(kind).shape
        for layer in range(alone.attention(kind).shape[0]):
            found = one.attention(kind).layer(layer)[:, :rows, :columns]
            np.testing.assert_allclose(found, alone.attention(kind).layer(layer), atol=1e-4)
    assert one.target_text == alone.target_text
    assert one.provenance.settings.get("ablated") == alone.provenance.settings.get("ablated")


@pytest.mark.parametrize(
    ("single", "several"), [(bartviz.capture, bartviz.capture_batch), (bartviz.decode, bartviz.decode_batch)]
)
def test_the_batch_has_every_option_of_the_single_call(single: Any, several: Any) -> None:
    renamed = {"text": "texts", "pair": "pairs", "target": "targets"}
    assert {renamed.get(name, name) for name in inspect.signature(single).parameters} == {
        *inspect.signature(several).parameters
    } - {"padded"}


def test_pairs_are_second_sentences() -> None:
    model = loaded.model("bert")
    records = bartviz.capture_batch(model, iter(TEXTS), pairs=iter(PAIRS))
    for record, text, pair in zip(records, TEXTS, PAIRS, strict=True):
        assert_same(record, bartviz.capture(model, text, pair=pair))
        assert record.pair_text == pair
    with pytest.raises(SettingError, match="1 second sentences for 2 texts"):
        bartviz.capture_batch(model, TEXTS, pairs=PAIRS[:1])
    with pytest.raises(TextError, match=r"^Text 2 of 2: The second sentence is empty"):
        bartviz.capture_batch(model, TEXTS, pairs=["the cat", " "])
    with pytest.raises(SettingError, match="encoder models"):
        bartviz.capture_batch(loaded.model("bart"), TEXTS, pairs=PAIRS)


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("bert", {"ablate": "encoder L0H1", "values": True}),
        ("bart", {"ablate": [("cross", 0, 1)], "max_new_tokens": 3}),
        ("bert", {"allow_special": True}),
    ],
)
def test_captured_together_is_captured_alone(family: str, options: dict[str, Any]) -> None:
    model = loaded.model(family)
    for record, text in zip(bartviz.capture_batch(model, TEXTS, **options), TEXTS, strict=True):
        assert_same(record, bartviz.capture(model, text, **options))


@pytest.mark.parametrize("family", ["bart", "gpt2"])
@pytest.mark.parametrize("options", [{"beams": 3}, {"force": {1: 5}}, {"force": {90: 5}}, {"ablate": "decoder L0H0"}])
def test_decoded_together_is_decoded_alone(family: str, options: dict[str, Any]) -> None:
    model = loaded.model(family)
    given = {**options, "max_new_tokens": 4}
    for record, text in zip(bartviz.decode_batch(model, iter(TEXTS), **given), TEXTS, strict=True):
        alone = bartviz.decode(model, text, **given)
        assert_same(record, alone)
        assert [step.chosen.token_id for step in record.steps] == [step.chosen.token_id for step in alone.steps]
        assert record.provenance.notices == alone.provenance.notices
        assert (record.beams is None) == ("beams" not in options)


def test_a_network_and_its_tokenizer_are_wrapped_for_the_call() -> None:
    model = loaded.model("bart")
    network = bartviz.load(str(loaded.folder() / "bart-0")).network
    records = bartviz.decode_batch(network, TEXTS, tokenizer=model.tokenizer, max_new_tokens=3, ablate="cross L0H0")
    for record, text in zip(records, TEXTS, strict=True):
        assert_same(record, bartviz.decode(model, text, max_new_tokens=3, ablate="cross L0H0"))
