"""The learner of the browser against PyTorch: the same weights and batch give the same loss, gradients and steps."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tests.support import node

HERE = Path(__file__).parent
CLOSE = 1e-5


@pytest.fixture(scope="module", params=["causal", "open"])
def dumped(request: pytest.FixtureRequest) -> dict[str, Any]:
    done = subprocess.run(
        [node.find_node(), str(HERE / "dump.mjs"), request.param],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def parameters(found: dict[str, Any], name: str) -> dict[str, Tensor]:
    return {
        key: torch.tensor(values, dtype=torch.float64).reshape(found["shapes"][key])
        for key, values in found[name].items()
    }


def network(p: dict[str, Tensor], part: dict[str, Any], sizes: dict[str, Any]) -> tuple[Tensor, list[Tensor]]:
    """The logits (texts, length, words) and the cross weights (texts, heads, length, keys) of each layer."""
    cross: list[Tensor] = []
    width, heads = sizes["width"], sizes["heads"]

    def norm(x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(x, (width,), p[f"{name}.gain"][0], p[f"{name}.bias"][0])

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"][0]

    def attended(x: Tensor, name: str, memory: Tensor | None, causal: bool) -> Tensor:
        rows = norm(x, f"{name}.norm")
        seen = rows if memory is None else memory
        q, k, v = (
            linear(of, f"{name}.{part}").reshape(*of.shape[:-1], heads, -1).transpose(1, 2)
            for of, part in ((rows, "query"), (seen, "key"), (seen, "value"))
        )
        scores = q @ k.mT / (width // heads) ** 0.5  # (texts, heads, queries, keys)
        if causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
        weights = scores.softmax(-1)
        if memory is not None:
            cross.append(weights)
        return x + linear((weights @ v).transpose(1, 2).flatten(-2), f"{name}.out")

    def fed(x: Tensor, name: str) -> Tensor:
        return x + linear(linear(norm(x, f"{name}.norm"), f"{name}.in").relu(), f"{name}.out")

    def start(ids: list[int], side: str) -> Tensor:
        words = p[f"{side}.words"][torch.tensor(ids).reshape(part["texts"], -1)]
        return words + p[f"{side}.places"][: words.shape[1]]

    memory = start(part["source"], "encoder")
    for layer in range(sizes["layers"]):
        memory = fed(attended(memory, f"encoder.{layer}.self", None, False), f"encoder.{layer}.feed")
    memory = norm(memory, "encoder.norm")
    x = start(part["read"], "decoder")
    for layer in range(sizes["layers"]):
        x = attended(x, f"decoder.{layer}.self", None, sizes["causal"])
        x = fed(attended(x, f"decoder.{layer}.cross", memory, False), f"decoder.{layer}.feed")
    return linear(norm(x, "decoder.norm"), "output"), cross


def loss(p: dict[str, Tensor], found: dict[str, Any]) -> Tensor:
    words = sum(len(part["write"]) for part in found["parts"])
    losses = [
        functional.cross_entropy(
            network(p, part, found["sizes"])[0].flatten(0, 1), torch.tensor(part["write"]), reduction="sum"
        )
        for part in found["parts"]
    ]
    return torch.stack(losses).sum() / words


def test_loss_gradients_and_weights_are_those_of_torch(dumped: dict[str, Any]) -> None:
    p = {name: value.requires_grad_() for name, value in parameters(dumped, "before").items()}
    found = loss(p, dumped)
    assert float(found.detach()) == pytest.approx(dumped["loss"], abs=CLOSE)
    for (name, value), own in zip(p.items(), torch.autograd.grad(found, list(p.values())), strict=True):
        assert torch.allclose(parameters(dumped, "gradients")[name], own, atol=CLOSE), (name, value.shape)
    for own, given in zip(network(p, dumped["parts"][0], dumped["sizes"])[1], dumped["cross"], strict=True):
        assert torch.allclose(torch.tensor(given, dtype=torch.float64), own.flatten(), atol=CLOSE)


def test_ten_steps_are_those_of_adam(dumped: dict[str, Any]) -> None:
    p = {name: value.requires_grad_() for name, value in parameters(dumped, "before").items()}
    adam = torch.optim.Adam(p.values(), lr=0.005, betas=(0.9, 0.98))
    for expected in dumped["losses"]:
        found = loss(p, dumped)
        assert float(found.detach()) == pytest.approx(expected, abs=CLOSE)
        for value, gradient in zip(p.values(), torch.autograd.grad(found, list(p.values())), strict=True):
            value.grad = gradient
        adam.step()
    for name, expected_values in parameters(dumped, "after").items():
        assert torch.allclose(p[name], expected_values, atol=10 * CLOSE), name


def test_scripts() -> None:
    node.run_tests(HERE / "learning.test.mjs")


def trained(**settings: object) -> dict[str, Any]:
    """The last judgement of a training with these settings, the others as on the page; one core for a minute."""
    done = subprocess.run(
        [node.find_node(), str(HERE / "train.mjs"), json.dumps(settings)],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.thorough  # its gradients and steps are those of PyTorch, above
def test_it_learns_to_reverse_texts_that_it_has_never_seen() -> None:
    found = trained()
    assert found["done"], found
    assert found["own"] >= 0.99
    assert max(head["mirrored"] for head in found["heads"]) > 0.5 > max(head["same"] for head in found["heads"])


@pytest.mark.thorough
def test_nineteen_of_twenty_seeds_learn_to_reverse_in_a_minute_of_one_core() -> None:
    found = [trained(seed=seed) for seed in range(1, 21)]
    assert sum(one["done"] and one["own"] >= 0.99 for one in found) >= 19, found


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["sort", "translate"])
def test_other_tasks_are_learnt(task: str) -> None:
    found = trained(task=task)
    assert found["done"], found
    assert max(head["right"] for head in found["heads"]) > 0.3
