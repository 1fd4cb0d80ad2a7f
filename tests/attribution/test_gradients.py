"""Gradients by hand (a product of two numbers), against finite differences, and against autograd on another network."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import bartviz
from bartviz.attribution import gradients
from bartviz.attribution.embedded import Embedded, Embeddings
from bartviz.attribution.erasure import erased, replacement
from bartviz.attribution.question import asked
from bartviz.errors import SettingError
from tests.attribution import subjects
from tests.attribution.subjects import WRITERS
from tests.support import loaded, networks


class Product(Embedded):
    """f = x * y, of two tokens with one number each: 2 and 3 in the text, 0 and 1 in the baseline."""

    def __init__(self, question: Any) -> None:
        self.question = question

    def of(self, *ids: Tensor) -> Embeddings:
        return (torch.tensor([[[0.0], [1.0]]] if ids else [[[2.0], [3.0]]]),)

    def answers(self, embeddings: Embeddings) -> Tensor:
        return embeddings[0].prod(dim=1)  # (B, 1)


@pytest.fixture
def question(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(gradients, "Embedded", Product)
    monkeypatch.setattr(gradients, "erased", lambda question: (torch.zeros(1, 2, dtype=torch.int64),))
    return SimpleNamespace(
        rows=np.array([0]),
        batches=lambda count: (range(i, min(i + 5, count)) for i in range(0, count, 5)),
        cancelled=lambda: False,
    )


def test_a_product_by_hand(question: Any) -> None:
    with torch.no_grad():
        # d(xy)/dx * x = 3 * 2, d(xy)/dy * y = 2 * 3
        np.testing.assert_allclose(gradients.times_input(question).source, [[6, 6]])
        # along (2a, 1 + 2a): the integral of 1 + 2a is 2, times 2; that of 2a is 1, times 2; together 6 - 0
        np.testing.assert_allclose(gradients.integrated(question).source, [[4, 2]], rtol=1e-5)


def test_an_integral_that_stays_incomplete_is_refused_with_numbers(
    question: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Jump(Product):
        def answers(self, embeddings: Embeddings) -> Tensor:
            jump = (embeddings[0][:, 0] > 1.9999).to(embeddings[0].dtype) * 5
            return super().answers(embeddings) + jump

    monkeypatch.setattr(gradients, "Embedded", Jump)
    said = r"step 0 is 5\.000 nats away from the 11\.000 nats .* after 160 points; the limit is 1%"
    with torch.no_grad(), pytest.raises(SettingError, match=said):
        gradients.integrated(question)


@pytest.mark.slow
@pytest.mark.some("bart", "t5", "marian", "gpt2", "bert", "roberta", "distilbert", "granite")
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_gradients_are_those_of_autograd_on_the_eager_network(family: str) -> None:
    one, module = subjects.record(family), subjects.network(family)
    rows, ids = subjects.steps(family)
    found = bartviz.attribute(loaded.model(family), one, method="gradient x input")
    with torch.enable_grad(), subjects.embeddings(module) as leaves:
        log_p = subjects.log_p(module, subjects.given(one), rows, ids)
        np.testing.assert_allclose(found.explained, log_p.detach(), rtol=1e-4, atol=1e-4)
        for step, value in enumerate(log_p):
            slopes = torch.autograd.grad(value, leaves, retain_graph=True)
            parts = [(slope * leaf).sum(-1)[0].detach().numpy() for slope, leaf in zip(slopes, leaves, strict=True)]
            for mine, expected in zip((found.values, found.earlier_values), parts, strict=False):
                assert mine is not None
                np.testing.assert_allclose(mine[step], expected, atol=2e-4 * max(1, np.abs(expected).max()))


@pytest.mark.slow
@pytest.mark.parametrize("family", [*WRITERS, "bert"])
def test_gradients_are_finite_differences(family: str) -> None:
    """x . df/dx is the slope of f where the embedding is scaled; in float64, by a thousandth to both sides."""
    one, module, small = subjects.record(family), subjects.network(family), 1e-3
    rows, ids = subjects.steps(family)
    found = bartviz.attribute(loaded.model(family), one, method="gradient x input", step=len(rows) - 1)
    sides = [values[0] for values in (found.values, found.earlier_values) if values is not None]
    with torch.no_grad(), subjects.embeddings(module) as own:
        subjects.log_p(module, subjects.given(one), rows, ids)
    for side, values in enumerate(sides):
        for place in range(len(values)):
            f = []
            for factor in (1 + small, 1 - small):
                changed = [leaf.detach().clone() for leaf in own]
                changed[side][0, place] *= factor
                with torch.no_grad(), subjects.embeddings(module, changed):
                    f.append(float(subjects.log_p(module, subjects.given(one), rows, ids)[-1]))
            assert values[place] == pytest.approx((f[0] - f[1]) / (2 * small), abs=2e-3 * max(1, np.abs(values).max()))


@pytest.mark.some("bart", "t5", "gpt2", "bert")
@pytest.mark.slow
@pytest.mark.parametrize("family", [*WRITERS, "bert"])
def test_integrated_gradients_are_complete_and_those_of_a_plain_sum(family: str) -> None:
    model, one, module = loaded.model(family), subjects.record(family), subjects.network(family)
    rows, ids = subjects.steps(family)
    last = len(rows) - 1
    found = bartviz.attribute(model, one, method="integrated gradients", step=last)
    token = replacement(model)
    replaced = [np.where(tokens.special, tokens.ids, token) for tokens in sides(family)]
    base: list[Tensor]
    with torch.no_grad(), subjects.embeddings(module) as own:
        whole = subjects.log_p(module, subjects.given(one), rows, ids)[-1]
    with torch.no_grad(), subjects.embeddings(module) as base:
        whole -= subjects.log_p(module, subjects.given(one, *replaced), rows, ids)[-1]
    earlier = 0.0 if found.earlier_values is None else found.earlier_values.sum()
    assert found.values.sum() + earlier == pytest.approx(float(whole), rel=0.011, abs=2e-3)
    sums = [torch.zeros(leaf.shape[1], dtype=torch.float64) for leaf in own]
    points = 200
    for point in range(points):
        at = (point + 0.5) / points
        line = [b + at * (x - b) for x, b in zip(own, base, strict=True)]
        with torch.enable_grad(), subjects.embeddings(module, line) as leaves:
            f = subjects.log_p(module, subjects.given(one), rows, ids)[-1]
            for total, slope, x, b in zip(sums, torch.autograd.grad(f, leaves), own, base, strict=True):
                total.add_(((x - b) * slope).sum(-1)[0].detach() / points)
    for mine, expected in zip((found.values, found.earlier_values), sums, strict=False):
        assert mine is not None
        np.testing.assert_allclose(mine[0], expected, atol=0.01 * max(0.2, float(abs(whole))))


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "bert"])
def test_pieces_rise_together_as_each_alone(family: str) -> None:
    question = asked(
        loaded.model(family), subjects.record(family), token=None, contrast=None, step=None, cancelled=lambda: False
    )
    embedded = Embedded(question)
    base = embedded.of(*erased(question))
    pieces = [(0.0, 0.25), (0.25, 0.5), (0.5, 1.0)]

    def rises(*some: tuple[float, float]) -> Tensor:
        return gradients._Line(embedded, embedded.of(), base).rises(some)

    together = rises(*pieces)
    torch.testing.assert_close(together, torch.cat([rises(piece) for piece in pieces]), atol=1e-5, rtol=0)
    torch.testing.assert_close(together.sum(0), rises((0.0, 1.0))[0], atol=1e-5, rtol=0)


def sides(family: str) -> list[Any]:
    one = subjects.record(family)
    return [one.source] if one.cross is None else [one.source, one.attention("decoder").query]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gradient x input", "integrated gradients", "leave-one-out"])
def test_a_contrast_is_the_difference_of_both_tokens(method: str) -> None:
    """f is linear in the logits: why "a" and not "b" is why "a" minus why "b", as the sum over the vocabulary goes."""
    model = loaded.model("bert")
    text = subjects.GAP
    one, other = (bartviz.attribute(model, text, token, method=method) for token in ("#20", "#40"))
    both = bartviz.attribute(model, text, "#20", method=method, contrast="#40")
    np.testing.assert_allclose(both.explained, one.explained - other.explained, atol=1e-4)
    near = 0.03 * np.abs(one.values).max() if method == "integrated gradients" else 1e-3
    np.testing.assert_allclose(both.values, one.values - other.values, atol=near)
    assert both.contrast == model.tokenizer.convert_ids_to_tokens(40).removeprefix("##") or both.contrast


@pytest.mark.slow
@pytest.mark.parametrize("family", [*WRITERS, "bert"])
def test_the_method_contrast_compares_each_step_with_its_likeliest_other_token(family: str) -> None:
    """That is gradient x input against a named token, which is the second best of the step."""
    model, one, module = loaded.model(family), subjects.record(family), subjects.network(family)
    rows, ids = subjects.steps(family)
    with torch.no_grad():
        logits = subjects.logits(module, subjects.given(one))[rows]
    others = logits.scatter(-1, torch.tensor(ids)[:, None], -torch.inf).argmax(-1).tolist()
    found = bartviz.attribute(model, one, method="contrast")
    differences = [float(row[own] - row[other]) for row, own, other in zip(logits, ids, others, strict=True)]
    np.testing.assert_allclose(found.explained, differences, rtol=1e-4, atol=1e-4)
    last = len(rows) - 1
    named = bartviz.attribute(model, one, method="gradient x input", step=last, contrast=others[last])
    alone = bartviz.attribute(model, one, method="contrast", step=last)
    np.testing.assert_allclose(alone.values, named.values, atol=1e-6)
    np.testing.assert_allclose(found.values[last:], named.values, atol=2e-4 * max(1.0, np.abs(named.values).max()))
    assert alone.contrast == named.contrast
    assert (found.contrast is None) == (len(set(others)) > 1)


@pytest.mark.slow
def test_the_method_contrast_takes_a_named_token_too() -> None:
    model = loaded.model("bert")
    named = bartviz.attribute(model, subjects.GAP, "#20", method="contrast", contrast="#40")
    same = bartviz.attribute(model, subjects.GAP, "#20", method="gradient x input", contrast="#40")
    np.testing.assert_array_equal(named.values, same.values)
    assert named.contrast == same.contrast
