"""Lines 12 to 18: what needs more than a sum to check, and other runs than the one that ships."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from bartviz.families.registry import FAMILIES
from bartviz.features.textbook import claim
from bartviz.features.textbook.judging import START, Evidence
from bartviz.record.record import Record
from bartviz.run.forward import capture
from tests.features.textbook.ledger import found, judged
from tests.support import loaded, records


def test_line_12b_the_division_changes_weights_not_their_order() -> None:
    verdict = judged("12b")
    attention = Evidence().shipped(START)[0].attention("encoder")
    dots = attention.queries[-1].astype(float) @ attention.keys[-1].swapaxes(1, 2)  # (H, Q, K)
    with_it, without = (np.exp(one) / np.exp(one).sum(-1, keepdims=True) for one in (dots / math.sqrt(32), dots))
    assert found(verdict, "last encoder layer") == pytest.approx(np.abs(with_it - without).max(), rel=1e-4)
    assert found(verdict, "mean largest weight") == pytest.approx(without.max(-1).mean(), rel=1e-4)


@pytest.mark.slow
def test_line_12b_those_that_do_not_divide_are_the_families_with_relative_positions() -> None:
    undivided = set()
    for name in FAMILIES:
        model = loaded.model(name)
        kind = "decoder" if model.info.kind == "decoder" else "encoder"
        if capture(model, "I want to buy a car.").attention(kind).scale == 1:
            undivided.add(name)
    elsewhere = {"opt", "gemma2", "granite"}  # OPT divides the queries, the others' configurations have a number for it
    assert undivided - elsewhere == {name for name, family in FAMILIES.items() if family.positions == "relative"}


def test_line_13c_gradients_of_a_softmax() -> None:
    verdict = judged("13c")
    random = np.random.default_rng(0)
    q, k = (torch.from_numpy(random.standard_normal((count, 64))) for count in (2048, 512))
    shares, softmax = [], partial(torch.softmax, dim=0)
    for scores in (q @ k.T)[:100]:
        with_it, without = (
            torch.autograd.functional.jacobian(softmax, one, vectorize=True).abs().sum()  # type: ignore[no-untyped-call]
            for one in (scores / 8, scores)
        )
        shares.append(float(without / with_it))
    assert found(verdict, "gradient of a row") == pytest.approx(np.mean(shares), rel=0.15)  # a twentieth of the rows
    assert found(verdict, "rows in which") == pytest.approx(np.mean(np.array(shares) < 0.1), abs=0.1)


@pytest.mark.parametrize("number", ["9", "12", "12b", "14", "23"])
@pytest.mark.parametrize("record", [records.encoder_decoder(), records.encoder_only(), records.decoder_only()])
def test_the_visitors_run_is_judged_if_it_fits(number: str, record: Record) -> None:
    check = claim(number).check
    assert check is not None
    verdict = check(Evidence(record))
    own = record.cross is not None and bool(record.steps)
    assert ("your run" in verdict.basis) == own
    assert ("a saved run" in verdict.basis) != own


@pytest.mark.parametrize("number", ["9", "12", "12b", "14", "23"])
def test_an_untrained_run_is_not_judged(number: str) -> None:
    record = records.encoder_decoder()
    untrained = replace(record, model=replace(record.model, trained=False))
    check = claim(number).check
    assert check is not None
    assert "a saved run" in check(Evidence(untrained)).basis


def test_two_heads_that_are_alike_are_not_said_to_differ() -> None:
    record = records.encoder_decoder()
    encoder = record.attention("encoder")
    same = replace(encoder, q=np.repeat(encoder.queries[:, :1], encoder.shape[1], axis=1),
                   k=np.repeat(encoder.keys[:, :1], encoder.shape[1], axis=1))  # fmt: skip
    check = claim("12").check
    assert check is not None
    verdict = check(Evidence(replace(record, encoder=same)))
    assert verdict.word == "fails"
    assert "still differ by 0.000" in verdict.why


def test_without_scaling_the_formula_without_it_holds() -> None:
    """As in T5: a scale of 1, and a bias of relative positions."""
    record = records.encoder_decoder()
    encoder = record.attention("encoder")
    bias = np.linspace(-1, 1, encoder.shape[1] * encoder.shape[2] ** 2, dtype=np.float32)
    bias = bias.reshape(encoder.shape[1], encoder.shape[2], encoder.shape[3])
    check = claim("12b").check
    assert check is not None
    assert check(Evidence(replace(record, encoder=replace(encoder, scale=1.0, bias=bias)))).word == "holds"


def test_line_18c_a_recurrent_network_forgets_with_usual_weights_and_not_with_large_ones() -> None:
    verdict = judged("18c")
    random = np.random.default_rng(0)
    drawn = torch.from_numpy(random.uniform(-1, 1, (2, 64, 64)) / 8)
    inputs = torch.from_numpy(random.standard_normal((12, 64)))
    start = torch.zeros(64, dtype=torch.float64)

    def last(state: torch.Tensor, tokens: torch.Tensor, handed: torch.Tensor) -> torch.Tensor:
        for token in tokens:
            state = (handed @ state + drawn[1] @ token).tanh()
        return state

    for number, times in zip(verdict.numbers, (1, 3), strict=True):
        handed = drawn[0] * times
        far = torch.func.jacrev(last)(start, inputs, handed)
        near = torch.func.jacrev(last)(last(start, inputs[:-1], handed), inputs[-1:], handed)
        assert number.found == pytest.approx(float(far.norm() / near.norm()), rel=1e-6)
