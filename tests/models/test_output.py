"""The output layer by itself: rows of logits in any order are those of the whole product."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from torch import Tensor

from bartviz.models.output import OutputLayer, Rows
from bartviz.run.candidates import Summary, rows_of
from tests.support import loaded, networks


def test_rows_are_those_of_the_whole_product_whatever_was_made_before() -> None:
    torch.manual_seed(0)
    matrix, bias, states = torch.randn(11, 4), torch.randn(11), torch.randn(7, 4)
    whole = states @ matrix.T + bias
    rows = Rows(OutputLayer(matrix, bias), states)
    for asked in (slice(4, 7), 6, 4, 3, slice(0, 3), 2, 6, slice(5, 20), 5, 0):
        torch.testing.assert_close(rows[asked], whole[asked])


def test_the_rows_made_before_are_gone_while_the_next_are_made() -> None:
    tokenizer = loaded.model("gpt2").tokenizer
    made: list[weakref.ref[torch.UntypedStorage]] = []

    class Watched(OutputLayer):
        def logits(self, states: Tensor) -> Tensor:
            gc.collect()
            assert [one() for one in made] == [None] * len(made)
            logits = super().logits(states)
            made.append(weakref.ref(logits.untyped_storage()))
            return logits

    torch.manual_seed(0)
    matrix, states = torch.randn(500, 4), torch.randn(700, 4)
    numbers = Summary(tokenizer, 3).given(Rows(Watched(matrix, None), states), range(500))
    assert len(made) > 1
    whole = rows_of(states[:500] @ matrix.T, 3)
    for one, row in zip(numbers, whole, strict=True):
        assert [token for token, _logit in one.best] == [token for token, _logit in row.best]
        torch.testing.assert_close(torch.tensor([one.log_z, one.bits]), torch.tensor([row.log_z, row.bits]))


def test_a_model_without_a_bias_has_none() -> None:
    layer = OutputLayer.of(loaded.model("gpt2").network)
    assert layer is not None
    assert layer.bias is None
    assert OutputLayer.of(loaded.model("bert").network.base_model) is None


APART = {"distilbert", "electra", "modernbert"}  # several parts of the network are before the matrix


@pytest.mark.slow
@pytest.mark.some("bert", "albert", "electra")
@pytest.mark.parametrize("family", networks.ENCODERS)
def test_the_logits_of_some_rows_of_a_masked_model_are_made_from_their_states(family: str) -> None:
    """Where one part of the network has the matrix and all that comes before it, as in BERT."""
    model = loaded.model(family)
    assert model.output_alone == (family not in APART)
    layer, network = OutputLayer.of(model.network), model.network
    assert layer is not None
    ids = torch.tensor([model.tokenizer("The cat is sleeping.")["input_ids"]])
    if model.output_alone:
        with torch.inference_mode():
            whole, states = network(input_ids=ids)[0], network.base_model(input_ids=ids).last_hidden_state
            torch.testing.assert_close(layer.logits(states[:, 1:3]), whole[:, 1:3])
