"""From what the sidebar asks for to what decode() is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from transformers import GenerationConfig

from bartviz.errors import SettingError
from bartviz.sampling import Sampling
from bartviz.ui.search import Search, options, ruled

SUMMARY = GenerationConfig(num_beams=4, length_penalty=2.0, early_stopping=True, min_length=56, no_repeat_ngram_size=3)


@dataclass(frozen=True)
class Model:
    """As much of a model as the rules are read from."""

    generation: GenerationConfig


def test_greedy_needs_no_options() -> None:
    assert options(Search(), SUMMARY) == {}


def test_beams_leave_to_the_checkpoint_what_was_not_set() -> None:
    assert options(Search("beams", beams=3), SUMMARY) == {"beams": 3}
    asked = Search("beams", beams=3, length_penalty=-1.0, early_stopping="never")
    assert options(asked, SUMMARY) == {"beams": 3, "length_penalty": -1.0, "early_stopping": "never"}


def test_sampling_is_passed_on() -> None:
    found = options(Search("sampling", temperature=0.7, top_k=5, top_p=0.9, seed=3), SUMMARY)
    assert found == {"sample": Sampling(temperature=0.7, top_k=5, top_p=0.9, seed=3)}


def test_the_checkpoints_own_settings() -> None:
    assert options(Search("checkpoint"), SUMMARY) == {"beams": 4}
    assert options(Search("checkpoint"), GenerationConfig()) == {}
    drawn = options(Search("checkpoint", seed=2), GenerationConfig(do_sample=True, temperature=0.6))
    assert drawn == {"sample": Sampling(temperature=0.6, top_k=50, top_p=1.0, seed=2)}


def test_rules_are_changed_in_a_copy() -> None:
    model: Any = Model(SUMMARY)
    assert ruled(model, Search()) is model
    shorter = ruled(model, Search(min_new_tokens=1))
    assert (shorter.generation.min_length, shorter.generation.min_new_tokens) == (0, 1)
    assert ruled(model, Search(blocks=False)).generation.no_repeat_ngram_size == 0
    assert (SUMMARY.min_length, SUMMARY.no_repeat_ngram_size) == (56, 3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"beams": 1}, {"beams": 99}, {"length_penalty": 50.0}, {"temperature": 0.0}, {"temperature": float("nan")},
        {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.5}, {"seed": -1}, {"min_new_tokens": -2},
    ],
)  # fmt: skip
def test_a_number_outside_its_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        Search(**wrong)
