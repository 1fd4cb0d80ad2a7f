"""Sampling: the filters by hand and against transformers, the draws against generate() with the same seed."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation import logits_process as warpers

import bartviz
from bartviz.errors import Cancelled, SettingError
from bartviz.run.sampling import COLDEST, HOTTEST, Sampling
from tests.support import loaded
from tests.support.writers import TEXT, WRITERS, chosen, generate, one_pass, source_of, with_rules

FOUR = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.5, 0.3, 0.15, 0.05]),
        ({"top_k": 2}, [0.625, 0.375, 0, 0]),  # 0.5 / 0.8, 0.3 / 0.8
        ({"top_p": 0.75}, [0.625, 0.375, 0, 0]),  # two of them reach 0.75
        ({"top_p": 0.81}, [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0]),
        ({"temperature": 0.5}, [0.25 / 0.365, 0.09 / 0.365, 0.0225 / 0.365, 0.0025 / 0.365]),  # p squared
        ({"top_k": 1, "temperature": 9.0}, [1, 0, 0, 0]),
    ],
)
def test_the_filters_by_hand(options: dict[str, Any], expected: list[float]) -> None:
    assert Sampling(**options).probabilities(FOUR)[0].tolist() == pytest.approx(expected, abs=1e-6)


@given(
    st.lists(st.floats(-20, 20, width=32), min_size=2, max_size=40),
    st.floats(0.05, 5.0),
    st.integers(0, 45),
    st.floats(0.01, 1.0),
)
def test_the_filters_are_those_of_transformers_in_their_order(
    logits: list[float], temperature: float, top_k: int, top_p: float
) -> None:
    scores = before = torch.tensor([logits])
    scores = warpers.TemperatureLogitsWarper(temperature)(torch.empty(0), scores)
    if top_k:
        scores = warpers.TopKLogitsWarper(top_k)(torch.empty(0), scores)
    if top_p < 1:
        scores = warpers.TopPLogitsWarper(top_p)(torch.empty(0), scores)
    ours = Sampling(temperature, top_k, top_p).probabilities(before)
    assert torch.equal(ours, scores.softmax(dim=-1))
    assert before.tolist() == torch.tensor([logits]).tolist()


@pytest.mark.some("bart", "t5", "marian", "gpt2")
@pytest.mark.slow
@pytest.mark.parametrize("family", WRITERS)
def test_a_seed_draws_what_generate_draws_with_it(family: str) -> None:
    """generate() draws from the global random numbers: seeded alike, they are the same."""
    model = with_rules(loaded.model(family), no_repeat_ngram_size=3)
    network = loaded.reference(family, implementation="sdpa")  # before the seed: copying draws random numbers
    ways: tuple[dict[str, Any], ...] = ({}, {"top_k": 20}, {"top_p": 0.8, "temperature": 1.5})
    for seed, options in enumerate(ways):
        record = bartviz.decode(model, TEXT, sample=Sampling(**options, seed=seed), max_new_tokens=12)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            real = generate(
                model,
                network,
                source_of(record),
                do_sample=True,
                num_beams=1,
                max_new_tokens=12,
                **({"top_k": 0, "top_p": 1.0} | options),
            )
        assert chosen(record) == real.ids


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "t5", "gpt2"])
def test_the_coldest_draw_and_one_candidate_alone_are_greedy(family: str) -> None:
    model = loaded.model(family)
    greedy = chosen(bartviz.decode(model, TEXT, max_new_tokens=9))
    float32: Any = np.float32(1e-5)
    for sampling in (Sampling(COLDEST), Sampling(5.0, top_k=1), Sampling(top_p=1e-9), Sampling(float32)):
        record = bartviz.decode(model, TEXT, max_new_tokens=9, sample=sampling)
        assert chosen(record) == greedy
        assert {step.chosen.filtered for step in record.steps} == {1.0}
    hot = bartviz.decode(model, TEXT, max_new_tokens=9, sample=Sampling(HOTTEST))
    assert all(0 < (step.chosen.filtered or 0) < 0.1 for step in hot.steps[:-1])


def test_the_same_seed_is_the_same_text_and_another_another() -> None:
    model = loaded.model("bart")
    texts = [chosen(bartviz.decode(model, TEXT, sample=Sampling(seed=seed), max_new_tokens=9)) for seed in (4, 4, 5)]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_drawing_leaves_the_random_numbers_of_others_alone() -> None:
    before = torch.random.get_rng_state()
    bartviz.decode(loaded.model("bart"), TEXT, sample=Sampling(), max_new_tokens=4)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.slow
def test_tokens_are_drawn_with_their_probability() -> None:
    """150 first tokens; the share of each is within four standard deviations."""
    model, n = with_rules(loaded.model("bart"), forced_eos_token_id=None), 150
    first = [
        bartviz.decode(model, "What time?", sample=Sampling(3.0, top_k=3, seed=seed), max_new_tokens=1).steps[0]
        for seed in range(n)
    ]
    counts = Counter(step.chosen.token_id for step in first)
    likely = {c.token_id: c.filtered or 0.0 for c in first[0].candidates if c.filtered}
    assert set(counts) == set(likely)
    assert sum(likely.values()) == pytest.approx(1, abs=1e-5)
    for token, p in likely.items():
        assert abs(counts[token] / n - p) < 4 * math.sqrt(p * (1 - p) / n) + 1e-9


def test_steps_have_raw_and_filtered_probabilities() -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, sample=Sampling(0.7, top_k=5, seed=3), max_new_tokens=8)
    greedy = bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=1)
    assert record.steps[0].candidates[0].probability == pytest.approx(greedy.steps[0].candidates[0].probability)
    for step in record.steps[:-1]:
        assert step.chosen.filtered is not None
        assert step.chosen.filtered > 0
        filtered = [c.filtered for c in step.candidates]
        assert sum(p or 0 for p in filtered) == pytest.approx(1, abs=1e-5)
        assert filtered[5:] == [0.0] * 5
        weights = [c.probability ** (1 / 0.7) for c in step.candidates[:5]]
        assert filtered[:5] == pytest.approx([w / sum(weights) for w in weights], abs=1e-5)
    assert {c.filtered for c in greedy.steps[0].candidates} == {None}


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "t5", "gpt2"])
def test_the_rows_of_a_drawn_text_are_those_of_one_pass(family: str) -> None:
    record = bartviz.decode(loaded.model(family), TEXT, sample=Sampling(2.0, seed=1), max_new_tokens=12)
    for kind, expected in one_pass(family, record).items():
        for layer, weights in enumerate(expected):
            assert record.attention(kind).layer(layer) == pytest.approx(weights, abs=2e-5)


def test_rules_are_named_where_they_act() -> None:
    model = with_rules(loaded.model("bart"), forced_bos_token_id=7, no_repeat_ngram_size=1, forced_eos_token_id=None)
    record = bartviz.decode(model, TEXT, sample=Sampling(0.01, seed=2), max_new_tokens=12)
    assert record.steps[0].rule == "forced first token"
    assert record.steps[0].chosen.filtered == 1.0
    assert len(set(chosen(record))) == len(record.steps)
    for step in record.steps[1:]:
        again = step.candidates[0].token_id in chosen(record)[: step.position]
        assert (step.rule == "no 1 tokens repeated") == again


def test_it_states_how_it_was_drawn(tmp_path: Path) -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, sample=Sampling(0.8, 40, 0.9, 12), max_new_tokens=4)
    said = record.provenance.settings
    assert {name: said[name] for name in ("mode", "temperature", "top_k", "top_p", "seed")} == {
        "mode": "sampling",
        "temperature": 0.8,
        "top_k": 40,
        "top_p": 0.9,
        "seed": 12,
    }
    record.save(tmp_path / "x.safetensors")
    assert bartviz.open(tmp_path / "x.safetensors") == record


def test_values_silenced_heads_and_cancelling() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, sample=Sampling(), max_new_tokens=5, values=True, ablate=["cross L0H0"])
    assert record.cross is not None
    assert record.cross.v is not None
    assert record.provenance.settings["ablated"] == ("cross L0H0 x 0",)
    seen: list[int] = []
    with pytest.raises(Cancelled):
        bartviz.decode(
            model,
            TEXT,
            sample=Sampling(),
            on_step=lambda step, longest: seen.append(step),
            cancelled=lambda: len(seen) == 2,
        )
    assert seen == [1, 2]


def test_rules_that_leave_no_token_are_reported() -> None:
    model = loaded.model("bart")
    model = with_rules(model, suppress_tokens=list(range(model.info.vocabulary)))
    with pytest.raises(SettingError, match="forbid every token"):
        bartviz.decode(model, TEXT, sample=Sampling(), max_new_tokens=4)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"temperature": 0.0}, "do not sample"),
        ({"temperature": 1e-300}, "choose 0.000001 to 100"),
        ({"temperature": "hot"}, "temperature is hot"),
        ({"temperature": None}, "temperature is None"),
        ({"top_k": 2.7}, "whole number"),
        ({"top_k": True}, "whole number"),
        ({"top_p": "all"}, "top_p is all"),
        ({"seed": 1.5}, "whole number"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"temperature": 1e9}, "to 100"),
        ({"top_k": -1}, "top_k is -1"),
        ({"top_p": 0.0}, "top_p is 0"),
        ({"top_p": 1.5}, "at most 1"),
        ({"seed": -1}, "whole number"),
        ({"seed": 2**70}, "whole number"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(SettingError, match=word):
        Sampling(**options)
