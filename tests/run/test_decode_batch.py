"""decode_batch(): every text as decode() writes it alone, whatever it is written with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.errors import BudgetError, Cancelled, SettingError, TextError
from bartviz.record.record import Record
from bartviz.run import memory_limit
from tests.support import loaded
from tests.support.writers import WRITERS

TEXTS = ["The cat is sleeping.", "I want to buy a car.", "Hi", "고양이", "The dog is playing in the garden. " * 3]


def assert_same(one: Record, other: Record) -> None:
    assert other.sound
    assert (one.source_text, one.target_text) == (other.source_text, other.target_text)
    assert one.provenance.stopped == other.provenance.stopped
    assert one.provenance.notices == other.provenance.notices
    for mine, theirs in zip(one.steps, other.steps, strict=True):
        assert (mine.chosen.token_id, mine.rule) == (theirs.chosen.token_id, theirs.rule)
        assert mine.log_probability == pytest.approx(theirs.log_probability, abs=2e-5)
    assert one.kinds == other.kinds
    for kind in one.kinds:
        a, b = one.attention(kind), other.attention(kind)
        assert (a.query.labels, a.key.labels) == (b.query.labels, b.key.labels)
        np.testing.assert_array_equal(a.mask, b.mask)
        for layer in range(a.shape[0]):
            np.testing.assert_allclose(a.layer(layer), b.layer(layer), atol=2e-5)


@pytest.mark.some
@pytest.mark.slow
@pytest.mark.parametrize("family", WRITERS)
def test_a_text_is_written_as_if_it_were_alone(family: str) -> None:
    model = loaded.model(family)
    together = bartviz.decode_batch(model, TEXTS, max_new_tokens=12)
    assert len(together) == len(TEXTS)
    for text, record in zip(TEXTS, together, strict=True):
        assert_same(bartviz.decode(model, text, max_new_tokens=12), record)


@pytest.mark.parametrize(
    "options",
    [
        {"sample": bartviz.Sampling(seed=5), "values": True},
        {"no_repeat_ngram_size": 2, "min_new_tokens": 6},
        {"ablate": "cross L0H0", "top_k": 3},
        {"use_rules": False, "truncate": "last"},
    ],
)
def test_the_options_are_those_of_one_text(options: dict[str, Any]) -> None:
    model = loaded.model("bart")
    for text, record in zip(TEXTS, bartviz.decode_batch(model, TEXTS, max_new_tokens=8, **options), strict=True):
        alone = bartviz.decode(model, text, max_new_tokens=8, **options)
        assert_same(alone, record)
        assert (alone.attention("cross").v is None) == (record.attention("cross").v is None)
        assert dict(record.provenance.settings) == {**alone.provenance.settings, "batch": len(TEXTS)}


@pytest.mark.slow
def test_texts_of_different_lengths_end_on_their_own() -> None:
    model = loaded.model("bart", seed=1)
    lengths = [len(record.steps) for record in bartviz.decode_batch(model, TEXTS)]
    assert lengths == [len(bartviz.decode(model, text).steps) for text in TEXTS]


def test_what_one_text_may_not_the_batch_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    model = loaded.model("bart")
    with pytest.raises(TextError, match="text is empty"):
        bartviz.decode_batch(model, ["A cat.", " "])
    with pytest.raises(TextError, match="list of str"):
        bartviz.decode_batch(model, "A cat.")
    with pytest.raises(SettingError, match="max_new_tokens"):
        bartviz.decode_batch(model, ["A cat."], max_new_tokens=0)
    with pytest.raises(SettingError, match="encoder-only"):
        bartviz.decode_batch(loaded.model("bert"), ["A cat."])
    with pytest.raises(Cancelled):
        bartviz.decode_batch(model, TEXTS, cancelled=lambda: True)
    assert bartviz.decode_batch(model, []) == ()
    one = memory_limit.predicted_bytes(model, 12, 20)
    monkeypatch.setattr(memory_limit, "MAX_BYTES", 2 * one)
    bartviz.decode(model, "A cat.", max_new_tokens=8)
    with pytest.raises(BudgetError):
        bartviz.decode_batch(model, ["A cat."] * 20, max_new_tokens=8)
