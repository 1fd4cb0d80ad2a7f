"""The recurrent network unfolded: its derivatives are those of autograd, and they vanish where attention's do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from bartviz.families.family import ModelKind
from bartviz.features.masks import numbers_unfolded as numbers
from bartviz.features.masks.numbers_unfolded import Doubles
from tests.support import stand_in


def derivative(of: Callable[[torch.Tensor], torch.Tensor], inputs: torch.Tensor) -> Doubles:
    """(T, d, d): that of the output by each input."""
    whole: torch.Tensor = torch.func.jacrev(of)(inputs)  # (d, T, d)
    return whole.permute(1, 0, 2).numpy()


def test_the_derivatives_are_those_of_autograd() -> None:
    random, d = np.random.default_rng(1), 3
    cells = [numbers.Cell(random.normal(size=(d, d)), random.normal(size=(d, d))) for _ in range(2)]
    read, written = random.normal(size=(4, d)), random.normal(size=(2, d))
    inputs = torch.tensor(np.concatenate([read, written]))

    def last(inputs: torch.Tensor) -> torch.Tensor:
        state = torch.zeros(d, dtype=torch.float64)
        for number, given in enumerate(inputs):
            cell = cells[number >= len(read)]
            state = torch.tanh(torch.tensor(cell.state) @ state + torch.tensor(cell.given) @ given)
        return state

    expected = derivative(last, inputs)
    found = numbers.gradients([(cells[0], read), (cells[1], written)])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_those_of_attention_are_too() -> None:
    random, d = np.random.default_rng(2), 3
    query, key, value = (torch.tensor(random.normal(size=(d, d))) for _ in range(3))
    last, read = torch.tensor(random.normal(size=d)), torch.tensor(random.normal(size=(5, d)))

    def output(read: torch.Tensor) -> torch.Tensor:
        scores = (read @ key.T) @ (query @ last) / d**0.5
        return torch.matmul(scores.softmax(0), read @ value.T)

    expected = derivative(output, read)
    found = numbers.attended(*(part.numpy() for part in (last, read, query, key, value)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_one_number_by_hand() -> None:
    """h_1 = tanh(u x_1), h_2 = tanh(w h_1 + u x_2): the derivative by x_1 has both factors."""
    w, u, x = 0.5, 2.0, (0.3, -0.2)
    first = np.tanh(u * x[0])
    second = np.tanh(w * first + u * x[1])
    (found, near) = numbers.gradients([(numbers.Cell(np.array([[w]]), np.array([[u]])), np.array([[x[0]], [x[1]]]))])
    assert found[0, 0] == pytest.approx((1 - second**2) * w * (1 - first**2) * u)
    assert near[0, 0] == pytest.approx((1 - second**2) * u)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "encoder-decoder"])
def test_a_step_is_a_token_and_the_gradient_vanishes_with_their_number(kind: ModelKind) -> None:
    record = stand_in.record(kind=kind)
    one = numbers.unfolded(record)
    n, m = len(record.source), len(record.attention("cross").query) if record.cross is not None else 0
    assert one.steps.tolist() == [n + m - 1 - token for token in range(n)]
    assert one.recurrent[0] < one.recurrent[-1] / 5
    assert one.attention[0] > one.attention[-1] / 5
    assert f"{n + m - 1} steps away" in numbers.sentence(one)
    recurrent, attention = one.felt
    assert recurrent.max() == attention.max() == 1
    assert len(numbers.table(one)) == n
