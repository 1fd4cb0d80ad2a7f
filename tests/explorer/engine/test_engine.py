"""A model that runs in a browser reads and writes what it reads and writes in Python, with the same numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.errors import ModelError
from bartviz.experiments.repair import filled
from bartviz.explorer.engine.model import described as networks_of
from bartviz.explorer.engine.model import fingerprint
from bartviz.explorer.engine.packed import packed
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import engine, networks

FAMILIES = (
    "bert",
    "roberta",
    "distilbert",
    "electra",
    "albert",
    "bart",
    "mbart",
    "marian",
    "pegasus",
    "plbart",
    "gpt2",
)
REFUSED = {"t5": "relative positions", "llama": "rotary positions", "opt": "embedding projection back"}
TEXT = "the cat sat on the mat"
CLOSE = 1e-4  # of a weight or a logit


def random_model(family: str) -> Model:
    network, words = networks.build(family, spread=0.1, trained=True)
    return bartviz.wrap(network, words, name=family)


def same_maps(found: dict[str, Any], record: Record, least: float = CLOSE) -> None:
    for kind in record.kinds:
        attention = record.attention(kind)
        expected = np.stack([attention.layer(layer) for layer in range(attention.shape[0])])  # (L, H, Q, K)
        assert np.abs(np.array(found["maps"][kind]) - expected).max() < least


def same_steps(found: dict[str, Any], record: Record) -> None:
    for ours, step in zip(found["steps"], record.steps, strict=True):
        assert (ours["token"], ours["rule"], ours["row"]) == (step.chosen.token_id, step.rule, step.row)
        logits = {candidate.token_id: candidate.logit for candidate in step.candidates}
        assert [one["logit"] for one in ours["best"]] == pytest.approx(
            [logits.get(one["id"], np.nan) for one in ours["best"]], abs=CLOSE, nan_ok=False
        )
        assert ours["bits"] == pytest.approx(step.entropy, abs=CLOSE)
        assert ours["logP"] == pytest.approx(step.log_probability, abs=CLOSE)


@pytest.mark.some("bert", "roberta", "bart", "marian", "gpt2")
@pytest.mark.parametrize("family", FAMILIES)
def test_families_have_the_same_weights_and_logits(family: str, tmp_path: Path) -> None:
    model = engine.rounded(random_model(family))
    options = {"most": 12}
    (found,) = engine.answers(tmp_path, model, [{"about": "capture", "text": TEXT, "options": options}])
    record = (
        bartviz.capture(model, TEXT) if model.info.kind == "encoder" else bartviz.decode(model, TEXT, max_new_tokens=12)
    )
    same_maps(found, record)
    same_steps(found, record)
    assert found["written"] == (record.target_text or "")


@pytest.mark.parametrize("family", REFUSED)
def test_a_model_that_the_engine_does_not_compute_is_refused_with_the_reason(family: str) -> None:
    with pytest.raises(ModelError, match=f"cannot run in a page: .*{REFUSED[family]}"):
        packed(random_model(family))


def test_a_silenced_head_changes_the_text_as_in_python(tmp_path: Path) -> None:
    model = engine.shipped("bart-tiny-en-de")
    factors = {"cross": np.ones((4, 8))}
    factors["cross"][2, 5] = 0
    options = {"factors": {"cross": factors["cross"].tolist()}}
    text = "I want to buy a car."
    (found,) = engine.answers(tmp_path, model, [{"about": "capture", "text": text, "options": options}])
    record = bartviz.decode(model, text, ablate=["cross L2H5"])
    same_maps(found, record)
    same_steps(found, record)


def test_a_given_output_is_read_in_one_pass(tmp_path: Path) -> None:
    model = engine.shipped("bart-tiny-en-de")
    text, target = "I want to buy a car.", "Ich will einen Wagen kaufen."
    (found,) = engine.answers(tmp_path, model, [{"about": "capture", "text": text, "options": {"target": target}}])
    record = bartviz.capture(model, text, target=target)
    same_maps(found, record)
    same_steps(found, record)


def test_a_chosen_token_is_followed_as_in_python(tmp_path: Path) -> None:
    model = engine.shipped("bart-tiny-en-de")
    text = "The teacher wrote a letter to his friend."
    first = bartviz.decode(model, text)
    token = first.steps[4].candidates[1].token_id
    options = {"forced": [[4, token]]}
    (found,) = engine.answers(tmp_path, model, [{"about": "capture", "text": text, "options": options}])
    record = bartviz.decode(model, text, force={4: token})
    same_maps(found, record)
    same_steps(found, record)
    assert found["ids"][5:6] == [token]


@pytest.mark.parametrize("beams", [2, 4])
def test_a_beam_search_finds_the_text_that_python_finds(beams: int, tmp_path: Path) -> None:
    model = engine.shipped("bart-tiny-en-de")
    texts = ["The teacher wrote a letter to his friend.", "Yesterday the old man slept.", "I want to buy a car."]
    asked = [{"about": "capture", "text": text, "options": {"beams": beams}} for text in texts]
    for text, found in zip(texts, engine.answers(tmp_path, model, asked), strict=True):
        record = bartviz.decode(model, text, beams=beams)
        same_maps(found, record)
        same_steps(found, record)


@pytest.mark.parametrize("options", [{}, {"beams": 3}, {"target": "Ich will."}, {"forced": [[2, 502]]}, {"factors": 0}])
def test_a_saved_record_opens_in_python_and_is_sound(options: dict[str, Any], tmp_path: Path) -> None:
    model = engine.shipped("bart-tiny-en-de")
    if "factors" in options:
        options = {"factors": {"encoder": np.zeros((4, 8)).tolist()}}
    text, file = "I want to buy a car.", tmp_path / "record.safetensors"
    engine.answers(tmp_path, model, [{"about": "capture", "text": text, "options": options | {"file": str(file)}}])
    record = bartviz.open(file)
    assert record.sound, [check for check in record.check() if not check.passed]
    assert record.model == model.info
    if "target" in options:
        made = bartviz.capture(model, text, target=options["target"])
    else:
        ablate = [f"encoder L{layer}H{head}" for layer in range(4) for head in range(8)] if "factors" in options else []
        made = bartviz.decode(
            model, text, beams=options.get("beams", 1), force=dict(options.get("forced", [])), ablate=ablate
        )
    assert record.target_text == made.target_text
    assert record.output == made.output
    assert record.provenance.stopped == made.provenance.stopped
    assert [step.rule for step in record.steps] == [step.rule for step in made.steps]
    for kind in record.kinds:
        assert np.allclose(record.to_numpy(kind)[kind], made.to_numpy(kind)[kind], atol=CLOSE)
    if made.beams is not None:
        assert record.beams is not None
        assert [(n.parent, n.token.label, n.state, n.text) for n in record.beams.nodes] == [
            (n.parent, n.token.label, n.state, n.text) for n in made.beams.nodes
        ]


def test_what_heads_are_worth_is_what_python_finds(tmp_path: Path) -> None:
    model = engine.shipped("bart-tiny-en-de")
    text = "I want to buy a car."
    (found,) = engine.answers(tmp_path, model, [{"about": "capture", "text": text, "options": {"effects": True}}])
    record = bartviz.decode(model, text)
    assert len(found["heads"]) == 96
    for one in found["heads"][::19]:
        head = f"{one['kind']} L{one['layer']}H{one['head']}"
        expected = bartviz.ablate(model, record, [head])
        assert one["change"] == pytest.approx(expected.effect, abs=CLOSE * len(record.steps))
        assert one["turned"] == len(expected.turned)


def test_gaps_are_filled_as_python_fills_them(tmp_path: Path) -> None:
    model = engine.shipped("bert-tiny-en")
    text = "The man went to the [MASK] to buy [MASK]."
    options = {"typed": True, "effects": True, "file": str(tmp_path / "gap.safetensors")}
    (found,) = engine.answers(tmp_path, model, [{"about": "capture", "text": text, "options": options}])
    record = bartviz.capture(model, text, allow_special=True)
    for ours, guess in zip(found["gaps"], filled(model, record), strict=True):
        assert [one["label"] for one in ours["best"][:5]] == [label for label, _ in guess.candidates]
        assert [one["p"] for one in ours["best"][:5]] == pytest.approx([p for _, p in guess.candidates], abs=CLOSE)
    head = found["heads"][7]
    expected = bartviz.ablate(model, record, [f"encoder L{head['layer']}H{head['head']}"])
    assert head["change"] == pytest.approx(expected.effect, abs=4 * CLOSE)  # two gaps, each twice
    assert bartviz.open(tmp_path / "gap.safetensors").sound


@pytest.mark.parametrize("name", ["bart-tiny-en-de", "bert-tiny-en"])
def test_a_model_whose_weights_are_int8_already_keeps_its_fingerprint(name: str) -> None:
    model = engine.shipped(name)
    _, stored = networks_of(model)
    assert fingerprint(model, stored) == model.info.fingerprint


def test_a_model_that_is_rounded_gets_another_fingerprint() -> None:
    model = random_model("bart")
    _, stored = networks_of(model)
    assert fingerprint(model, stored) != model.info.fingerprint
