"""Every setting of transformers' generation configuration is applied as generate() applies it, or is named."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GenerationConfig

import bartviz
from bartviz.models import checkpoint
from bartviz.models.checkpoint import APPLIED, NEUTRAL, UNAPPLIED
from bartviz.record.record import Record
from bartviz.run.options import TOP_K
from bartviz.run.sampling import FILTERS, Sampling
from tests.support import loaded
from tests.support.writers import TEXT, chosen, generate, source_of, with_rules

CONFIG: dict[str, Any] = {"model_type": "gpt2", "vocab_size": 40, "n_embd": 8, "n_layer": 1, "n_head": 2}


def _drawn(model: Any, network: Any, record: Record, seed: int, **options: Any) -> list[int]:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return generate(model, network, source_of(record), do_sample=True, num_beams=1, **options).ids


def test_each_setting_of_transformers_is_in_one_of_three_lists() -> None:
    """A setting of a newer version is in none of them: this test and a notice of the model name it."""
    known = {name for name in vars(GenerationConfig()) if not name.startswith("_")}
    assert known - APPLIED - NEUTRAL - UNAPPLIED.keys() == set()
    assert not APPLIED & NEUTRAL
    assert not UNAPPLIED.keys() & (APPLIED | NEUTRAL)


def test_what_is_unset_is_what_generate_takes() -> None:
    defaults = GenerationConfig._get_default_generation_params()
    assert defaults["top_k"] == TOP_K
    neutral = {"temperature": 1.0, "top_p": 1.0, "num_beams": 1, "length_penalty": 1.0, "early_stopping": False}
    assert {name: defaults[name] for name in neutral} == neutral
    nothing_filtered = {"typical_p": 1.0, "epsilon_cutoff": 0.0, "eta_cutoff": 0.0}
    assert {name: defaults.get(name) for name in FILTERS if defaults.get(name) is not None} == nothing_filtered


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "gpt2"])
@pytest.mark.parametrize(
    "changes",
    [
        {},  # the top 50 alone
        {"temperature": 1.5},
        {"top_k": 0},
        {"top_k": 0, "min_p": 0.3},
        {"top_k": 0, "typical_p": 0.4},
        {"top_k": 0, "epsilon_cutoff": 0.02},
        {"top_k": 0, "eta_cutoff": 0.05},
        {"top_k": 0, "top_h": 0.5},
        {"temperature": 2.0, "top_h": 0.9, "top_k": 30, "top_p": 0.95, "min_p": 0.01, "typical_p": 0.9},
    ],
)
def test_a_checkpoint_that_samples_writes_what_generate_writes(family: str, changes: dict[str, Any]) -> None:
    model = with_rules(loaded.model(family), do_sample=True, max_new_tokens=10, max_length=None, **changes)
    network = loaded.reference(family, implementation="sdpa")
    record = bartviz.decode(model, TEXT, beams="own")
    assert chosen(record) == _drawn(model, network, record, seed=0)
    for name, value in changes.items():
        assert record.provenance.settings[name] == value


@pytest.mark.slow
def test_a_chosen_sampling_has_the_checkpoints_filters_and_may_set_its_own() -> None:
    model = with_rules(loaded.model("gpt2"), max_new_tokens=10, max_length=None, typical_p=0.3)
    network = loaded.reference("gpt2", implementation="sdpa")
    ways: tuple[dict[str, Any], ...] = ({}, {"typical_p": 0.9}, {"typical_p": 1.0}, {"min_p": 0.2})
    for seed, own in enumerate(ways):
        record = bartviz.decode(model, TEXT, sample=Sampling(1.5, seed=seed, **own))
        asked = {"temperature": 1.5, "top_k": 0, "top_p": 1.0} | own
        assert chosen(record) == _drawn(model, network, record, seed, **asked)
        again = bartviz.branch(model, record, 3, record.steps[3].chosen.token_id)
        assert chosen(again) == chosen(record)
    free = bartviz.decode(model, TEXT, sample=Sampling(1.5, seed=3), use_rules=False)
    assert "typical_p" not in free.provenance.settings


RULES: list[tuple[dict[str, Any], str]] = [
    ({"exponential_decay_length_penalty": (2, 5.0)}, "length penalty on the end token"),
    ({"exponential_decay_length_penalty": [0, 1.3], "min_new_tokens": 4}, "length penalty on the end token"),
    ({"sequence_bias": [[[7], 3.0], [[5, 9], -4.0]]}, "bias on sequences of tokens"),
    ({"sequence_bias": [[[2], 9.0]], "no_repeat_ngram_size": 1}, "bias on sequences of tokens"),
]


@pytest.mark.slow
@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("family", ["t5", "gpt2"])
@pytest.mark.parametrize(("changes", "name"), RULES)
def test_rules_are_those_of_generate(family: str, beams: int, changes: dict[str, Any], name: str) -> None:
    model = loaded.model(family)
    if "sequence_bias" in changes:  # what the model would write anyway, so that the bias decides
        free = chosen(bartviz.decode(model, TEXT, max_new_tokens=9))
        changes = changes | {"sequence_bias": [[[free[0]], -20.0], [free[1:3], -20.0], *changes["sequence_bias"]]}
    ruled = with_rules(model, max_new_tokens=9, max_length=None, **changes)
    network = loaded.reference(family, implementation="sdpa")
    record = bartviz.decode(ruled, TEXT, beams=beams)
    real = generate(ruled, network, source_of(record), num_beams=beams, do_sample=False)
    assert chosen(record) == real.ids
    active: Any = record.provenance.settings["rules"]
    assert name in active
    if "sequence_bias" in changes and len(changes) == 1 and beams == 1:
        assert record.steps[0].rule == name


def test_a_decaying_length_penalty_ends_a_text() -> None:
    """The end token's logit grows by |logit| (5 ** k - 1), k tokens after the second: it wins before the limit."""
    model = with_rules(loaded.model("bart"), exponential_decay_length_penalty=(2, 5.0), forced_eos_token_id=None)
    record = bartviz.decode(model, TEXT, max_new_tokens=30)
    assert len(record.steps) < 10
    assert record.steps[-1].rule == "length penalty on the end token"
    assert record.provenance.stopped == "end token"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"stop_strings": ["."]}, ("stop_strings",)),
        ({"guidance_scale": 1.5, "max_time": 2.0}, ("guidance_scale", "max_time")),
        ({"guidance_scale": 1, "num_return_sequences": 1, "diversity_penalty": 0.0, "token_healing": False}, ()),
        ({"watermarking_config": {"bias": 2.0}}, ("watermarking_config",)),
        ({"num_beam_groups": 2, "diversity_penalty": 0.5}, ("diversity_penalty", "num_beam_groups")),
        ({"cache_implementation": "quantized"}, ("cache_implementation",)),
        ({"cache_implementation": "static", "use_cache": False, "output_scores": True}, ()),
        ({"sequence_bias": {"(3,)": 1.0}}, ("sequence_bias",)),  # JSON has no such key, and generate() refuses it
        ({"sequence_bias": [[[40], 1.0]]}, ("sequence_bias",)),  # beyond the vocabulary
        ({"typical_p": 0, "temperature": "hot", "min_p": 2}, ("min_p", "temperature", "typical_p")),
        ({"sequence_bias": [[[3], 1.0]], "min_p": 0.1, "eta_cutoff": 0.001}, ()),
        ({"a_setting_of_the_repository": 3}, ()),  # nothing of transformers reads it
    ],
)
def test_settings_that_are_not_applied_are_named(settings: dict[str, Any], named: tuple[str, ...]) -> None:
    found = checkpoint.sanitise(CONFIG, settings)
    assert found.unapplied == named
    assert checkpoint.sanitise(CONFIG | settings).unapplied == named  # an older checkpoint, without a file of their own


def test_a_setting_of_a_newer_transformers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Newer(GenerationConfig):  # type: ignore[misc]
        def __init__(self, **values: Any) -> None:
            super().__init__(**values)
            self.sharpen = values.get("sharpen")

    monkeypatch.setattr(checkpoint, "GenerationConfig", Newer)
    assert checkpoint.sanitise(CONFIG, {"sharpen": 2}).unapplied == ("sharpen",)
    assert checkpoint.sanitise(CONFIG, {}).unapplied == ()


def test_a_record_names_what_its_run_did_not_apply(tmp_path: Path) -> None:
    network = copy.deepcopy(loaded.reference("gpt2"))
    network.generation_config = GenerationConfig(
        stop_strings=["x"], max_time=9.0, max_new_tokens=4, sequence_bias={(5, 6): 2.0}, top_h=0.4
    )
    model = bartviz.wrap(network, loaded.model("gpt2").tokenizer)
    assert model.generation.sequence_bias == [[[5, 6], 2.0]]
    record = bartviz.decode(model, "The cat")
    (notice,) = [one for one in record.provenance.notices if "not applied" in one]
    assert "max_time, stop_strings" in notice
    assert record.provenance.settings["rules"] == ("bias on sequences of tokens",)
    assert not any("not applied" in one for one in bartviz.decode(model, "a", use_rules=False).provenance.notices)


def test_such_a_file_opens(tmp_path: Path) -> None:
    home = tmp_path / "model"
    network = copy.deepcopy(loaded.reference("gpt2"))
    network.save_pretrained(home)
    loaded.model("gpt2").tokenizer.save_pretrained(home)
    rules = json.loads((home / "generation_config.json").read_text()) | {"stop_strings": ["x"], "max_new_tokens": 3}
    (home / "generation_config.json").write_text(json.dumps(rules))
    record = bartviz.decode(bartviz.load(home), "The cat")
    assert any("stop_strings are not applied" in one for one in record.provenance.notices)
