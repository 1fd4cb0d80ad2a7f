"""The output layer by itself: rows of logits in any order are those of the whole product."""

from __future__ import annotations

import torch

from bartviz.models.output import OutputLayer, Rows
from tests.support import loaded


def test_rows_are_those_of_the_whole_product_whatever_was_made_before() -> None:
    torch.manual_seed(0)
    matrix, bias, states = torch.randn(11, 4), torch.randn(11), torch.randn(7, 4)
    whole = states @ matrix.T + bias
    rows = Rows(OutputLayer(matrix, bias), states)
    for asked in (slice(4, 7), 6, 4, 3, slice(0, 3), 2, 6, slice(5, 20), 5, 0):
        torch.testing.assert_close(rows[asked], whole[asked])


def test_a_model_without_a_bias_has_none() -> None:
    layer = OutputLayer.of(loaded.model("gpt2").network)
    assert layer is not None
    assert layer.bias is None
    assert OutputLayer.of(loaded.model("bert").network.base_model) is None
