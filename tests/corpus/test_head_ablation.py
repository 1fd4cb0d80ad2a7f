"""Silencing heads over a corpus: against a network whose head's part of the output projection's input is set to 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import bartviz
from bartviz.analysis import corpus as analysis
from bartviz.analysis.corpus_measures import OF_LABELS, SILENCED
from bartviz.commands.cli import main
from bartviz.corpus.encode import Encoded, encode
from bartviz.corpus.head_ablation import chosen, effects, outcomes
from bartviz.corpus.passport import passport
from bartviz.corpus.read import Columns, Line
from bartviz.corpus.run import corpus
from bartviz.errors import SettingError
from bartviz.models.model import Model
from bartviz.record.attention import Head, Kind
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


@pytest.mark.parametrize("problem", ["multi_label_classification", "regression", "answer"])
def test_every_head_for_a_task_is_compared_on_what_it_says(problem: str, tmp_path: Path) -> None:
    """Against transformers' class in float64: labels that do not exclude each other, a number, the ends of answers."""
    architecture = "BertForQuestionAnswering" if problem == "answer" else "BertForSequenceClassification"
    options: dict[str, Any] = {} if problem == "answer" else {"problem_type": problem, "id2label": {0: "a", 1: "b"}}
    folder = networks.save("bert-pretraining", tmp_path, architecture=architecture, spread=0.3, trained=True, **options)
    model = bartviz.load(folder)
    second = "It is late, and we will be there in an hour." if problem == "answer" else None
    rows = [encode(model, Line(i, "file", i, text, second, None)) for i, text in enumerate(TEXTS)]
    found = outcomes(model, rows)["encoder"]
    network = getattr(transformers, architecture).from_pretrained(folder, attn_implementation="eager").double().eval()
    width = model.info.width // model.info.encoder_heads
    for index, row in enumerate(rows):
        inputs = {
            "input_ids": torch.tensor(row.source.ids)[None],
            "token_type_ids": torch.tensor(row.source.segments)[None],
        }
        with torch.no_grad():
            was = network(**inputs)
        for layer, head in np.ndindex(found.shape[1:3]):
            projection = network.bert.encoder.layer[layer].attention.output.dense
            with torch.no_grad(), zeroed(projection, head, width):
                now = network(**inputs)
            np.testing.assert_allclose(found[index, layer, head], expected(was, now, problem), rtol=2e-3, atol=1e-4)
    assert np.abs(found).max() > 1e-3


def expected(was: Any, now: Any, problem: str) -> list[float]:
    """What becomes of what is said, as docs/measures.md has it."""
    if problem == "regression":
        moved = (now.logits - was.logits)[0]
        return [float(moved.abs().max())]
    if problem == "answer":
        ends = [(was[name][0], now[name][0]) for name in ("start_logits", "end_logits")]
        parts = [softened(one, two) for one, two in ends]
        return [float(part) for part in np.mean(parts, axis=0)]
    one, two = was.logits[0], now.logits[0]
    yes = one >= 0
    p, q = (torch.where(yes, logits.sigmoid(), 1 - logits.sigmoid()) for logits in (one, two))
    apart = float((p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()).sum())
    sure, surer = (float(torch.where(yes, logits, -logits).min()) for logits in (one, two))
    return [apart, float((q / p).log().sum()), surer - sure, float((yes != (two >= 0)).double().mean())]


def softened(one: torch.Tensor, two: torch.Tensor) -> list[float]:
    """KL, the changes of log p and margin of the likeliest, and whether it is another."""
    p, q, said = one.log_softmax(0), two.log_softmax(0), int(one.argmax())
    others = [place for place in range(len(one)) if place != said]
    margin = float((two[said] - two[others].max()) - (one[said] - one[others].max()))
    return [float((p.exp() * (p - q)).sum()), float(q[said] - p[said]), margin, float(int(two.argmax()) != said)]


def test_a_classifier_with_a_decoder_reads_the_text_on_both_sides(tmp_path: Path) -> None:
    """BART's head, in a batch of texts of several lengths: as ``bartviz.ablate_sweep`` has it, text by text."""
    options: dict[str, Any] = {"architecture": "BartForSequenceClassification", "id2label": {0: "a", 1: "b", 2: "c"}}
    model = bartviz.load(networks.save("bart", tmp_path, spread=0.3, trained=True, **options))
    rows = encoded(model, (None,) * 4)
    found = outcomes(model, rows)
    for index, text in enumerate(TEXTS):
        record = bartviz.capture(model, text)
        assert rows[index].source.ids.tolist() == record.source.ids.tolist()
        sweep = bartviz.ablate_sweep(model, record)
        for head, *wanted in zip(
            sweep.heads, sweep.labels, sweep.label_log_probability, sweep.label_margin, sweep.label_turned, strict=True
        ):
            measured = found[head.kind][index, head.layer, head.head]
            np.testing.assert_allclose(measured, wanted, rtol=2e-3, atol=2e-5)
    assert np.abs(found["cross"][..., 1]).max() > 1e-3


def test_an_atlas_of_a_classifier_has_the_changes_of_its_labels(path: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"architecture": "BertForSequenceClassification", "id2label": {0: "bad", 1: "good"}}
    model = bartviz.load(networks.save("bert-pretraining", tmp_path / "m", spread=0.3, trained=True, **options))
    atlas = corpus(path, model, tmp_path / "atlas", silence=60, size=16)
    again = bartviz.open_atlas(tmp_path / "atlas")
    for name in (SILENCED, *OF_LABELS):
        rows = atlas.heads[atlas.heads["measure"] == name]
        assert set(rows["n"]) == {60}
        np.testing.assert_allclose(rows["mean"], again.heads.loc[again.heads["measure"] == name, "mean"])
    signed = atlas.heads[atlas.heads["measure"] == "label_log_probability"]
    assert signed["mean"].min() < 0
    assert (signed["low"] <= signed["mean"]).all()
    bins = atlas.histograms[atlas.histograms["measure"] == "label_log_probability"]
    assert bins["bin"].min() < 0
    assert set(bins.groupby(["layer", "head"])["texts"].sum()) == {60}
    shares = atlas.heads[atlas.heads["measure"] == "label_turned"]["mean"]
    assert shares.between(0, 1).all()
    head = Head("encoder", 0, 0)
    assert "Without it the log probability of the label that is said changes by" in analysis.effect(atlas.heads, head)
    assert passport(atlas, head, "label_margin").startswith("<!doctype html>")
    figure = bartviz.figures.atlas(atlas.heads, measure="label_margin", kind="encoder")
    assert figure.data[0].zmin == -figure.data[0].zmax
    assert (
        bartviz.figures.distribution(atlas.histograms, measure="label_margin", head=head, width=0.2).data[0].y.sum()
        == 60
    )


def test_what_no_head_can_say_of_the_rows_is_refused_before_the_run(path: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"architecture": "BartForSequenceClassification", "id2label": {0: "a", 1: "b"}}
    model = bartviz.load(networks.save("bart", tmp_path / "bart", spread=0.3, trained=True, **options))
    with pytest.raises(SettingError, match="leave the column of the target out"):
        corpus([("It is late.", "Es ist spät.")], model, silence=1)
    judge = bartviz.load(networks.save("bert", tmp_path / "judge", architecture="BertForNextSentencePrediction"))
    with pytest.raises(SettingError, match="whether a second text follows"):
        corpus(["It is late."], judge, silence=1)
    assert len(corpus([("It is late.", "We sleep.")], judge, silence=1).heads.query("measure == 'label_turned'"))


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
