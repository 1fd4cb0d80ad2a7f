"""Three texts in one pass of a real (small, random) model, waited for by the page."""

from __future__ import annotations

import pytest

from bartviz.errors import ModelError, TextError
from bartviz.features.masks import parts_batch as batch
from bartviz.serving.engine import Engine

pytestmark = pytest.mark.usefixtures("engine")


def test_shorter_texts_are_padded_and_their_padding_is_closed() -> None:
    first, second = batch.run("small-bert", ["the cat sat on the mat", "a dog"])
    assert first.encoder is not None
    assert second.encoder is not None
    assert first.encoder.shape == second.encoder.shape
    assert first.encoder.mask.all()
    closed = ~second.encoder.mask.any(axis=0)
    assert closed.sum() > 0
    assert (second.encoder.head(0, 0)[:, closed] == 0).all()


def test_errors_are_reported_in_our_words() -> None:
    with pytest.raises(TextError):
        batch.run("small-bert", ["the cat", ""])
    with pytest.raises(ModelError):
        batch.run("no-such-model", ["the cat"])


def test_nothing_is_left_at_the_gates(engine: Engine) -> None:
    batch.run("small-bert", ["the cat", "a dog"])
    assert len(engine.gate) == len(engine.loading) == 0
