"""Other temperatures of a record's steps: the sums are over the whole vocabulary, the cuts those of transformers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import TemperatureLogitsWarper, TopPLogitsWarper

import bartviz
from bartviz.analysis.temperature import SHARES, TEMPERATURES, at
from bartviz.errors import SettingError
from bartviz.experiments.temperature import temperatures
from tests.experiments.test_output_layer import made, own_logits
from tests.support import loaded


@pytest.mark.parametrize("family", ["bart", "gpt2"])
def test_probabilities_at_every_temperature_are_those_of_transformers(family: str) -> None:
    model = loaded.model(family)
    record = made(model)
    found, logits = temperatures(model, record), own_logits(loaded.reference(family), record)
    assert found.table.shape == (len(record.steps), len(TEMPERATURES), 1 + 3 * len(SHARES))
    for index, step in enumerate(record.steps):
        scores = logits[step.row][None].double()
        for of, temperature in enumerate(TEMPERATURES):
            warmed = TemperatureLogitsWarper(temperature)(None, scores)
            expected = warmed.softmax(-1)[0]
            for one in step.candidates:
                got = at(one.probability, temperature, found.sums[index, of])
                np.testing.assert_allclose(got, expected[one.token_id], rtol=2e-3, atol=1e-9)
            for number, share in enumerate(SHARES):
                kept = torch.isfinite(TopPLogitsWarper(share)(None, warmed))[0]
                assert int(found.count[index, of, number]) == int(kept.sum())
                np.testing.assert_allclose(found.mass[index, of, number], expected[kept].sum(), rtol=1e-3)
                np.testing.assert_allclose(found.least[index, of, number], expected[kept].min(), rtol=1e-3)


def test_at_temperature_1_a_probability_stays_what_it_is() -> None:
    model = loaded.model("bart")
    found = temperatures(model, made(model))
    np.testing.assert_allclose(found.sums[:, TEMPERATURES.index(1)], 1, rtol=1e-6)


def test_a_record_of_another_model_is_refused() -> None:
    with pytest.raises(SettingError, match="another model"):
        temperatures(loaded.model("gpt2"), bartviz.capture(loaded.model("opt"), "Hi there."))
