"""What fine-tuned heads say: equal to transformers' own classes, in the record, saved, replayed and refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import bartviz
from bartviz.arrays import Floats
from bartviz.errors import RecordError
from bartviz.models.model import Model
from tests.support import networks

TEXT, QUESTION = "The cat is sleeping on the sofa.", "What time is it?"
LABELS = {0: "bad", 1: "good", 2: "gut & <b>"}
Checkpoint = Callable[..., Path]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """The folder of a small random network of a task class, with peaked attention and names for its labels."""

    def make(family: str, architecture: str, **config: Any) -> Path:
        named = {} if "Question" in architecture else {"id2label": LABELS}
        options = {"spread": 0.3, "trained": True} | named | config
        return networks.save(family, tmp_path / "task", architecture=architecture, **options)

    return make


def theirs(folder: Path, architecture: str, model: Model, *texts: str) -> Floats:
    """The logits of transformers' class, its slow attention, without bartviz: (C,), (n, C) or (n, 2)."""
    network = getattr(transformers, architecture).from_pretrained(folder, attn_implementation="eager").eval()
    inputs = model.tokenizer(*texts, return_tensors="pt")
    if "type_vocab_size" not in network.config.to_dict() or network.config.type_vocab_size < 2:
        inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        out = network(**inputs)
    logits = torch.stack((out.start_logits, out.end_logits), -1) if "start_logits" in out else out.logits
    return logits[0].numpy()


TASKS = ("SequenceClassification", "TokenClassification", "QuestionAnswering")
ALL_TASKS = {"bert-pretraining": "Bert", "roberta": "Roberta", "distilbert": "DistilBert"}
OF_TEXTS = {"electra": "Electra", "albert": "Albert", "xlm-roberta": "XLMRoberta", "camembert": "Camembert"}
OF_TEXTS |= {"data2vec-text": "Data2VecText", "ernie": "Ernie", "bart": "Bart", "mbart": "MBart"}
CLASSES = [(family, f"{name}For{task}") for family, name in ALL_TASKS.items() for task in TASKS]
CLASSES += [(family, f"{name}For{TASKS[0]}") for family, name in OF_TEXTS.items()]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "architecture"), CLASSES)
def test_logits_are_those_of_transformers(checkpoint: Checkpoint, family: str, architecture: str) -> None:
    folder = checkpoint(family, architecture)
    model = bartviz.load(folder)
    answers = architecture.endswith("QuestionAnswering")
    record = bartviz.capture(model, QUESTION if answers else TEXT, pair=TEXT if answers else None)
    assert record.prediction is not None
    assert record.model.architecture == architecture
    assert record.prediction.labels == (("start", "end") if answers else tuple(LABELS.values()))
    expected = theirs(folder, architecture, model, *record.texts)
    shown = record.prediction.logits[0] if record.prediction.task == "text" else record.prediction.logits
    np.testing.assert_allclose(shown, expected, atol=1e-5 * max(1, np.abs(expected).max()))
    assert np.ptp(expected) > 0.1  # not all alike
    network = getattr(transformers, architecture).from_pretrained(folder)
    assert record.model.parameters == network.num_parameters() == bartviz.parameters(model)["count"].sum()
    assert all(check.passed for check in (*record.checked, *bartviz.verify(model, record)))


def test_probabilities_are_a_softmax_over_labels_and_over_tokens_for_an_answer() -> None:
    from bartviz.record.prediction import Prediction

    logits = np.log(np.array([[1, 3], [2, 2]], np.float32))
    tokens = Prediction("tokens", ("a", "b"), logits)
    np.testing.assert_allclose(tokens.probabilities, [[0.25, 0.75], [0.5, 0.5]], atol=1e-6)
    answer = Prediction("answer", ("start", "end"), logits)
    np.testing.assert_allclose(answer.probabilities, [[1 / 3, 0.6], [2 / 3, 0.4]], atol=1e-6)
    several = Prediction("text", ("a", "b"), logits[:1], "sigmoid")
    np.testing.assert_allclose(several.probabilities, [[0.5, 0.75]], atol=1e-6)
    assert Prediction("text", ("a", "b"), logits[:1], "none").probabilities is not None


@pytest.mark.parametrize(
    ("settings", "scale"),
    [
        ({"problem_type": "multi_label_classification"}, "sigmoid"),
        ({"problem_type": "regression"}, "none"),
        ({"problem_type": "single_label_classification"}, "softmax"),
        ({"id2label": {0: "score"}}, "none"),
    ],
)
def test_a_configuration_says_what_makes_probabilities(
    checkpoint: Checkpoint, settings: dict[str, Any], scale: str
) -> None:
    model = bartviz.load(checkpoint("distilbert", "DistilBertForSequenceClassification", **settings))
    assert model.head is not None
    assert model.head.scale == scale


def test_a_prediction_is_saved_and_a_wrong_one_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    model = bartviz.load(checkpoint("bart", "BartForSequenceClassification"))
    record = bartviz.capture(model, TEXT)
    assert record.prediction is not None
    assert record.prediction.row == len(record.source) - 1
    assert record.target_text == record.source_text
    record.save(tmp_path / "said.safetensors")
    assert bartviz.open(tmp_path / "said.safetensors") == record
    with pytest.raises(RecordError, match="decoder row"):
        replace(record, prediction=replace(record.prediction, row=99))
    wrong = replace(record, prediction=replace(record.prediction, logits=-record.prediction.logits))
    assert not bartviz.verify(model, wrong)[-1].passed
    assert bartviz.capture(model, TEXT, target="Ich will ein Auto kaufen.").prediction is None
    assert bartviz.decode(model, TEXT).prediction is None


def test_a_batch_says_the_same_as_single_texts(checkpoint: Checkpoint) -> None:
    model = bartviz.load(checkpoint("bert-pretraining", "BertForTokenClassification"))
    together = bartviz.capture_batch(model, (QUESTION, TEXT))
    for text, record in zip((QUESTION, TEXT), together, strict=True):
        alone = bartviz.capture(model, text).prediction
        assert alone is not None
        assert record.prediction is not None
        np.testing.assert_allclose(record.prediction.logits, alone.logits, atol=1e-4)


@pytest.mark.parametrize(
    ("family", "architecture"),
    [("roberta", "RobertaForSequenceClassification"), ("bart", "BartForSequenceClassification")],
)
def test_a_wrapped_network_says_the_same_and_stays_as_it_was(
    checkpoint: Checkpoint, family: str, architecture: str
) -> None:
    folder = checkpoint(family, architecture)
    loaded = bartviz.load(folder)
    network = getattr(transformers, architecture).from_pretrained(folder)
    wrapped = bartviz.wrap(network, transformers.AutoTokenizer.from_pretrained(folder))
    assert all(part.requires_grad for part in network.parameters())
    mine, given = (bartviz.capture(model, TEXT).prediction for model in (wrapped, loaded))
    assert mine is not None
    assert given is not None
    assert (mine.labels, mine.scale, mine.row) == (given.labels, given.scale, given.row)
    np.testing.assert_allclose(mine.logits, given.logits, atol=1e-5)


def test_a_checkpoint_without_its_head_is_loaded_without_it(checkpoint: Checkpoint) -> None:
    folder = checkpoint("distilbert", "DistilBertModel")
    networks.edit(folder, architectures=["DistilBertForSequenceClassification"])
    model = bartviz.load(folder)
    assert model.head is None
    assert bartviz.capture(model, TEXT).prediction is None


def test_a_label_that_is_too_long_is_shortened(checkpoint: Checkpoint) -> None:
    folder = checkpoint("distilbert", "DistilBertForSequenceClassification")
    networks.edit(folder, id2label={"0": "a", "1": "b" * 101, "2": "c"})
    said = bartviz.capture(bartviz.load(folder), TEXT).prediction
    assert said is not None
    assert said.labels == ("a", "b" * 99 + "…", "c")
