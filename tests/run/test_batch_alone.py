"""The records of a batch are those of the single calls: no padding, and the same numbers up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.record.record import Record
from bartviz.tape.tape import SAMPLED_ROWS
from tests.support import loaded, networks

ROUNDING = 5e-6  # of the random networks, whose scores are in the tens; the shipped models are equal to 2e-6
TEXTS = ["What time is it?", "The cat is sleeping on the sofa, but the children played outside.", "A dog."]
TARGETS = ["Wie spät ist es?", "Hund.", "Die Katze schläft auf dem Sofa."]
LONG = " ".join(["The cat is sleeping on the sofa."] * 5)  # more tokens than rows are compared


def assert_alone(one: Record, alone: Record, rounding: float = ROUNDING) -> None:
    """Equal in every token, mask, weight, vector, step and text."""
    assert (one.kinds, one.texts, one.target_text) == (alone.kinds, alone.texts, alone.target_text)
    assert (one.source, one.output) == (alone.source, alone.output)
    for kind in alone.kinds:
        found, expected = one.attention(kind), alone.attention(kind)
        assert (found.query, found.key, found.shape) == (expected.query, expected.key, expected.shape)
        np.testing.assert_array_equal(found.mask, expected.mask)
        for layer in range(expected.shape[0]):
            np.testing.assert_allclose(found.layer(layer), expected.layer(layer), rtol=0, atol=rounding)
        for name in ("q", "k", "v", "bias", "windows", "sinks", "out", "out_bias"):
            array, other = getattr(found, name), getattr(expected, name)
            assert (array is None) == (other is None), name
            if other is not None:
                close = rounding * max(1, float(np.abs(other).max()))
                np.testing.assert_allclose(array, other, rtol=0, atol=close, err_msg=f"{kind} {name}")
                assert array.base is None or array.base.nbytes == array.nbytes or name in ("out", "out_bias")
        assert found.sample is not None
        assert expected.sample is not None
        np.testing.assert_array_equal(found.sample.rows, expected.sample.rows)
        np.testing.assert_array_equal(found.sample.heads, expected.sample.heads)
    assert len(one.steps) == len(alone.steps)
    for step, other in zip(one.steps, alone.steps, strict=True):
        assert (step.position, step.row, step.chosen, step.rule) == (
            *(other.position, other.row),
            step.chosen,
            other.rule,
        )
        assert step.chosen.token_id == other.chosen.token_id
        assert step.log_probability == pytest.approx(other.log_probability, abs=1e-5)
    assert one.provenance.notices == alone.provenance.notices
    assert one.nbytes == alone.nbytes
    assert all(check.passed for check in one.checked)


@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_captured_together_is_captured_alone(family: str) -> None:
    model, values = loaded.model(family), len(family) % 2 == 0
    targets = TARGETS if family in networks.ENCODER_DECODERS else None
    records = bartviz.capture_batch(model, TEXTS, targets=targets, values=values)
    for place, (record, text) in enumerate(zip(records, TEXTS, strict=True)):
        target = None if targets is None else targets[place]
        assert_alone(record, bartviz.capture(model, text, target=target, values=values))


@pytest.mark.parametrize("name", ["bert-tiny-en", "bart-tiny-en-de", "bart-tiny-denoise"])
def test_so_are_the_shipped_models(name: str) -> None:
    model = bartviz.load(name)
    for record, text in zip(bartviz.capture_batch(model, TEXTS, values=True), TEXTS, strict=True):
        assert_alone(record, bartviz.capture(model, text, values=True), 2e-6)
    if name == "bart-tiny-en-de":
        for record, text, target in zip(
            bartviz.capture_batch(model, TEXTS, targets=TARGETS), TEXTS, TARGETS, strict=True
        ):
            assert_alone(record, bartviz.capture(model, text, target=target), 2e-6)


@pytest.mark.parametrize("family", ["bert", "modernbert", "t5", "gpt2"])
def test_a_short_text_beside_a_long_one_is_compared_row_by_row(family: str) -> None:
    model = loaded.model(family)
    targets = [TARGETS[0], LONG] if family == "t5" else [None, None]
    given: Any = targets if family == "t5" else None
    records = bartviz.capture_batch(model, [TEXTS[0], LONG], targets=given)
    assert records[1].attention(records[1].kinds[0]).shape[2] > SAMPLED_ROWS
    for record, text, target in zip(records, [TEXTS[0], LONG], targets, strict=True):
        assert_alone(record, bartviz.capture(model, text, target=target))
        assert bartviz.verify(model, record)
        assert all(check.passed for check in bartviz.verify(model, record))


@pytest.mark.parametrize("family", ["bart", "t5", "marian"])
def test_decoded_together_is_decoded_alone(family: str) -> None:
    model = loaded.model(family)
    for several in (bartviz.capture_batch, bartviz.decode_batch):
        records = several(model, TEXTS, max_new_tokens=5, values=True, top_k=3)
        for record, text in zip(records, TEXTS, strict=True):
            assert_alone(record, bartviz.decode(model, text, max_new_tokens=5, values=True, top_k=3))


@pytest.mark.parametrize("family", ["bert", "gpt2", "opt", "t5"])
def test_the_side_on_which_a_tokenizer_pads_changes_nothing(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = loaded.model(family)
    monkeypatch.setattr(model.tokenizer, "padding_side", "left")
    targets = TARGETS if family == "t5" else None
    for place, record in enumerate(bartviz.capture_batch(model, TEXTS, targets=targets)):
        target = None if targets is None else targets[place]
        assert_alone(record, bartviz.capture(model, TEXTS[place], target=target))


def test_continuations_have_their_own_length() -> None:
    model, prompts, targets = loaded.model("gpt2"), TEXTS[:2], [" It is late, and the dog is not here.", " No."]
    for record, prompt, target in zip(
        bartviz.capture_batch(model, prompts, targets=targets), prompts, targets, strict=True
    ):
        assert_alone(record, bartviz.capture(model, prompt, target=target))


def test_pairs_cut_and_silenced_are_as_alone() -> None:
    model, pairs = loaded.model("bert"), ["A dog.", "The weather was cold.", "It is late."]
    texts = [*TEXTS[:2], " ".join(TEXTS * 9)]
    options: dict[str, Any] = {"truncate": "last", "ablate": "encoder L0H1"}
    for record, text, pair in zip(
        bartviz.capture_batch(model, texts, pairs=pairs, **options), texts, pairs, strict=True
    ):
        assert_alone(record, bartviz.capture(model, text, pair=pair, **options))


def test_a_fine_tuned_translator_reads_each_text_on_both_sides(tmp_path: Any) -> None:
    folder = networks.save("bart", tmp_path / "task", architecture="BartForSequenceClassification", spread=0.3)
    model = bartviz.load(folder)
    for record, text in zip(bartviz.capture_batch(model, TEXTS), TEXTS, strict=True):
        alone = bartviz.capture(model, text)
        assert_alone(record, alone)
        assert record.prediction is not None
        assert alone.prediction is not None
        np.testing.assert_allclose(record.prediction.logits, alone.prediction.logits, atol=1e-5)


def test_padding_is_kept_where_it_is_asked_for() -> None:
    model = loaded.model("bart")
    padded = bartviz.capture_batch(model, TEXTS, padded=True, max_new_tokens=3)
    assert len({record.cross.shape for record in padded if record.cross}) == 1
    short = padded[2]
    assert short.encoder is not None
    alone = bartviz.capture(model, TEXTS[2], max_new_tokens=3)
    closed = ~short.encoder.mask.any(axis=0)
    assert closed.sum() == len(short.source) - len(alone.source) > 0
    assert float(short.encoder.layer(0)[:, : len(alone.source), closed].max()) == 0
