"""From the sidebar's settings to the arguments of decode()."""

from __future__ import annotations

from typing import Any

import pytest

from bartviz.errors import SettingError
from bartviz.run.sampling import Sampling
from bartviz.serving.search import Search, options


def test_greedy_needs_no_options() -> None:
    assert options(Search()) == {}


def test_beams_leave_to_the_checkpoint_what_was_not_set() -> None:
    assert options(Search("beams", beams=3)) == {"beams": 3}
    asked = Search("beams", beams=3, length_penalty=-1.0, early_stopping="never")
    assert options(asked) == {"beams": 3, "length_penalty": -1.0, "early_stopping": "never"}


def test_sampling_is_passed_on() -> None:
    found = options(Search("sampling", temperature=0.7, top_k=5, top_p=0.9, seed=3))
    assert found == {"sample": Sampling(temperature=0.7, top_k=5, top_p=0.9, seed=3)}


def test_the_checkpoints_own_settings_and_changed_rules() -> None:
    assert options(Search("checkpoint")) == {"beams": "own"}
    found = options(Search("checkpoint", min_new_tokens=1, ngrams=0))
    assert found == {"beams": "own", "min_new_tokens": 1, "no_repeat_ngram_size": 0}
    assert options(Search(ngrams=3)) == {"no_repeat_ngram_size": 3}


@pytest.mark.parametrize(
    "wrong",
    [
        {"beams": 1},
        {"beams": 99},
        {"length_penalty": 50.0},
        {"temperature": 0.0},
        {"temperature": float("nan")},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"seed": -1},
        {"min_new_tokens": -2},
        {"ngrams": 11},
    ],
)
def test_a_number_outside_its_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        Search(**wrong)
