"""Silencing heads over a corpus: against a network whose head's part of the output projection's input is set to 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bartviz
from bartviz.analysis.corpus_measures import SILENCED
from bartviz.commands.cli import main
from bartviz.corpus.encode import Encoded, encode
from bartviz.corpus.head_ablation import chosen, effects
from bartviz.corpus.read import Columns, Line
from bartviz.corpus.run import corpus
from bartviz.errors import SettingError
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from tests.support import networks

TEXTS = ("It is late.", "The teacher gave the old book to a friend of mine.", "Why?", "We will be there in an hour.")


@contextmanager
def zeroed(projection: torch.nn.Module, head: int, width: int) -> Iterator[None]:
    def hook(_module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        changed = given[0].clone()
        changed[..., head * width : (head + 1) * width] = 0
        return (changed, *given[1:])

    handle = projection.register_forward_pre_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def logits(output: Any) -> torch.Tensor:
    """(T, V) of a text that is run alone."""
    found: torch.Tensor = output["prediction_logits" if "prediction_logits" in output else "logits"][0]
    return found if found.dim() == 2 else found[None]  # of a text that is labelled as a whole


def moved(model: Model, inputs: dict[str, torch.Tensor], projection: Any, head: int, rows: np.ndarray) -> float:
    """KL(p || q) in float64, averaged over these rows of a text that is run alone."""
    width = model.info.width // (model.info.encoder_heads or model.info.decoder_heads)
    with torch.no_grad():
        p = logits(model.network(**inputs)).double().log_softmax(-1)
        with zeroed(projection, head, width):
            q = logits(model.network(**inputs)).double().log_softmax(-1)
    return float((p.exp() * (p - q)).sum(-1).numpy()[rows].mean())


def encoded(model: Model, targets: tuple[str | None, ...]) -> list[Encoded]:
    pairs = enumerate(zip(TEXTS, targets, strict=True))
    return [encode(model, Line(i, "file", i, text, None, target)) for i, (text, target) in pairs]


def test_an_encoder_is_compared_on_its_words() -> None:
    model = bartviz.load("bert-tiny-en")
    rows = encoded(model, (None,) * 4)
    found = effects(model, rows)["encoder"]
    for index, row in enumerate(rows):
        ids = torch.tensor(row.source.ids)[None]
        counted = row.source.special == 0
        for layer, head in ((0, 0), (3, 5)):
            projection = model.network.bert.encoder.layer[layer].attention.output.dense
            assert found[index, layer, head] == pytest.approx(
                moved(model, {"input_ids": ids}, projection, head, counted), rel=1e-3, abs=1e-5
            )


@pytest.mark.parametrize("task", ["Sequence", "Token"])
def test_a_classifier_is_compared_on_its_labels(task: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"architecture": f"BertFor{task}Classification", "id2label": {0: "a", 1: "b", 2: "c"}}
    model = bartviz.load(networks.save("bert-pretraining", tmp_path, spread=0.3, trained=True, **options))
    rows = encoded(model, (None,) * 4)
    found = effects(model, rows)["encoder"]
    for index, row in enumerate(rows):
        inputs = {"input_ids": torch.tensor(row.source.ids)[None]}
        for layer, head in np.ndindex(found.shape[1:]):
            projection = model.network.bert.encoder.layer[layer].attention.output.dense
            counted = row.source.special == 0 if task == "Token" else np.zeros(1, np.int64)
            assert found[index, layer, head] == pytest.approx(
                moved(model, inputs, projection, head, counted), rel=1e-3, abs=1e-5
            )


@pytest.mark.thorough
def test_an_encoder_decoder_is_compared_on_what_it_is_given_to_write() -> None:
    model = bartviz.load("bart-tiny-en-de")
    written = ("Es ist spät.", "Der Lehrer gab das alte Buch einem Freund von mir.", "Warum?", "Wir sind da.")
    rows = encoded(model, written)
    found = effects(model, rows)
    stacks = model.network.model
    places: dict[Kind, Callable[[int], Any]] = {
        "encoder": lambda layer: stacks.encoder.layers[layer].self_attn.out_proj,
        "decoder": lambda layer: stacks.decoder.layers[layer].self_attn.out_proj,
        "cross": lambda layer: stacks.decoder.layers[layer].encoder_attn.out_proj,
    }
    for index, row in enumerate(rows):
        assert row.inputs is not None
        inputs = {
            "input_ids": torch.tensor(row.source.ids)[None],
            "decoder_input_ids": torch.tensor(row.inputs.ids)[None],
        }
        every = np.full(len(row.inputs), True)
        for kind, projection in places.items():
            for layer, head in ((1, 4), (3, 0)):
                wanted = moved(model, inputs, projection(layer), head, every)
                assert found[kind][index, layer, head] == pytest.approx(wanted, rel=1e-3, abs=1e-5)


def test_about_the_share_is_drawn_and_the_same_texts_in_every_division() -> None:
    whole = chosen(range(20_000), 0.1)
    assert abs(len(whole) - 2000) < 150
    halves = chosen(range(10_000), 0.1) + [10_000 + place for place in chosen(range(10_000, 20_000), 0.1)]
    assert halves == whole
    assert chosen(range(50), 1.0) == list(range(50))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "texts.txt"
    file.write_text("\n".join(f"The number {i} is on the door." for i in range(60)) + "\n", "utf-8")
    return file


def test_the_atlas_has_the_effect_of_every_head_over_the_texts_that_were_drawn(path: Path, tmp_path: Path) -> None:
    atlas = corpus(path, "bert-tiny-en", tmp_path / "atlas", columns=Columns(), silence=20, size=16)
    rows = atlas.heads[atlas.heads["measure"] == SILENCED]
    drawn = chosen(range(60), 20 / 60)
    assert set(rows["n"]) == {len(drawn)}
    assert len(rows) == 24
    model = bartviz.load("bert-tiny-en")
    texts = [encode(model, Line(i, "", i, f"The number {i} is on the door.", None, None)) for i in drawn]
    wanted = effects(model, texts)["encoder"].mean(axis=0)
    np.testing.assert_allclose(rows["mean"].to_numpy().reshape(4, 6), wanted, rtol=1e-4)
    others = atlas.heads[atlas.heads["measure"] == "entropy"]
    assert set(others["n"]) == {60}


def test_what_makes_no_sense_is_refused(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SettingError, match="0 or more"):
        corpus(path, "bert-tiny-en", tmp_path / "atlas", silence=-1)
    arguments = ["corpus", str(path), "--model", "bert-tiny-en", "--out", str(tmp_path / "other"), "--silence", "-3"]
    assert main(arguments) == 2
    assert "choose 0 or more" in capsys.readouterr().err
