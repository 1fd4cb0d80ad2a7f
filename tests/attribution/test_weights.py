"""Attribution by weights against the eager network's own, and by the norms of what is added."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import bartviz
from bartviz.analysis.start import head_of
from bartviz.arrays import Floats
from bartviz.attribution.weights import shares
from tests.attribution import subjects
from tests.support import loaded, networks


def test_shares_by_hand() -> None:
    np.testing.assert_allclose(shares(np.array([[1, 3], [0, 0]], np.float32)), [[0.25, 0.75], [0.5, 0.5]])


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "t5", "gpt2", "bert"])
def test_the_mean_is_that_of_the_networks_own_weights(family: str) -> None:
    one, module = subjects.record(family), subjects.network(family)
    rows, _ids = subjects.steps(family)
    found = bartviz.attribute(loaded.model(family), one, method="mean attention")
    with torch.no_grad():
        out = module(**subjects.given(one), output_attentions=True)

    def mean(name: str) -> Floats:
        return np.asarray(torch.stack(list(out[name])).mean(dim=(0, 1, 2))[rows].float().numpy())

    np.testing.assert_allclose(found.values, mean("attentions" if one.cross is None else "cross_attentions"), atol=1e-5)
    if one.cross is not None:
        assert found.earlier_values is not None
        np.testing.assert_allclose(found.earlier_values, mean("decoder_attentions"), atol=1e-5)


@pytest.mark.slow
def test_the_best_head_is_that_of_the_start_page() -> None:
    one = subjects.record("bart")
    found = bartviz.attribute(loaded.model("bart"), one, method="best head")
    head = head_of(one, "cross")
    assert one.cross is not None
    np.testing.assert_array_equal(found.values, one.cross.head(head.layer, head.head)[found.rows])
    assert found.earlier_values is None


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "gpt2", "bert"])
def test_norms_are_those_of_weights_times_values_head_by_head(family: str) -> None:
    model, one = loaded.model(family), subjects.record(family)
    found = bartviz.attribute(model, one, method="norms of weighted values")
    question = bartviz.capture(model, one.source_text, target=one.target_text, values=True, allow_special=True)
    attention = question.attention("cross" if one.cross is not None else one.kinds[0])
    assert attention.v is not None
    assert attention.out is not None
    expected = np.zeros(found.values.shape)
    for layer in range(attention.shape[0]):
        for step, row in enumerate(found.rows.tolist()):
            lengths = []
            for key in range(attention.shape[3]):
                vector = sum(
                    attention.head(layer, head)[row, key]
                    * attention.out[layer][:, head]
                    @ attention.v[layer, head, key]
                    for head in range(attention.shape[1])
                )
                lengths.append(np.linalg.norm(vector))
            expected[step] += np.array(lengths) / sum(lengths) / attention.shape[0]
    np.testing.assert_allclose(found.values, expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.some("bart", "t5", "gpt2", "bert")
@pytest.mark.parametrize("family", networks.FAMILIES)
@pytest.mark.parametrize("method", ["mean attention", "best head", "norms of weighted values"])
def test_rows_sum_to_one(family: str, method: str) -> None:
    found = bartviz.attribute(loaded.model(family), subjects.record(family), method=method)
    sinks = "gpt_oss" in family  # part of its weight is on none of the tokens
    for values in (found.values, found.earlier_values):
        if values is not None:
            assert values.min() >= 0
            assert (values.sum(axis=1) < 1).all() if sinks and "norms" not in method else True
            if not (sinks and "norms" not in method):
                np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-5)
