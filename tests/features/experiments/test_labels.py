"""What the page says of a head of a model that labels: in words that a learner understands, and true of its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.analysis import ablation as analysis
from bartviz.analysis import prediction
from bartviz.experiments.ablation import ablate, ablate_sweep
from bartviz.features.experiments import parts_headline as headline
from bartviz.language import speaking
from bartviz.language.percentages import percent
from bartviz.models.model import Model
from bartviz.models.roots import default_roots
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.serving.engine import Engine
from tests.support import networks
from tests.support.pages import App, tables
from tests.support.visits import words

TEXT, QUESTION = "The cat is sleeping on the sofa.", "What time is it?"
LABELS = {0: "bad", 1: "good", 2: "fair"}


def labelled(folder: Path, task: str, **options: Any) -> tuple[Model, Record]:
    named: dict[str, Any] = {} if task == "QuestionAnswering" else {"id2label": LABELS}
    architecture = f"BertFor{task}"
    saved = networks.save(
        "bert-pretraining", folder, architecture=architecture, spread=0.3, trained=True, **named, **options
    )
    model = bartviz.load(saved)
    pair = TEXT if task == "QuestionAnswering" else None
    return model, bartviz.capture(model, QUESTION if pair else TEXT, pair=pair)


def sentence(found: analysis.Ablation, what: str, was: str, now: str, *, rises: bool, number: bool = False) -> str:
    """The sentence of one head, as a beginner reads it; of a ``number`` that the model gives no probability moves."""
    (head,) = found.factors
    name = f"head {head.head} of layer {head.layer} (encoder attention)"
    of = "" if number else "the probability of "
    return f"Without {name}, {of}“{what}” {'rises' if rises else 'falls'} from {was} to {now}"


def worst(model: Model, record: Record) -> analysis.Ablation:
    sweep = ablate_sweep(model, record)
    return ablate(model, record, [sweep.heads[sweep.ranked()[0]]])


@pytest.mark.parametrize("task", ["SequenceClassification", "TokenClassification"])
def test_the_sentence_names_a_label_with_its_probabilities(task: str, tmp_path: Path) -> None:
    found = worst(*labelled(tmp_path, task))
    was, now = found.said, found.changed.prediction
    assert was is not None
    assert now is not None
    said = headline.headline(found)
    if task == "SequenceClassification":
        most = int(np.abs(now.probabilities - was.probabilities)[0].argmax())
        p, q = was.probabilities[0, most], now.probabilities[0, most]
        assert said == sentence(found, LABELS[most], percent(float(p)), percent(float(q)), rises=q > p)
        label, other = (LABELS[int(one.logits[0].argmax())] for one in (was, now))
        assert (f"now says “{other}”" if label != other else f"still says “{label}”") in headline.meaning(found)
        return
    rows = np.flatnonzero(~found.record.source.special)
    best = was.probabilities[rows].argmax(axis=1)
    p, q = (one.probabilities[rows, best] for one in (was, now))
    most = int(np.abs(q - p).argmax())
    token = found.record.source.labels[rows[most]]
    what, shown = f"{token}: {LABELS[int(best[most])]}", [percent(float(one[most])) for one in (p, q)]
    assert said == sentence(found, what, *shown, rises=q[most] > p[most])
    turned = int((best != now.probabilities[rows].argmax(axis=1)).sum())
    assert headline.meaning(found).startswith(f"{turned} token" if turned else "Every token keeps its label.")
    table = analysis.labels_table(found)
    assert table is not None
    assert (table["label"] != table["label after"]).sum() == turned


def test_the_sentence_names_an_answer(tmp_path: Path) -> None:
    found = worst(*labelled(tmp_path, "QuestionAnswering"))
    first, now = prediction.answer(found.record, found.said), found.changed.prediction
    assert first is not None
    assert now is not None
    q = now.probabilities
    after = float(q[first.first, 0] * q[first.last, 1])
    shown = [percent(first.probability), percent(after)]
    assert headline.headline(found) == sentence(found, first.text, *shown, rises=after > first.probability)
    second = prediction.answer(found.changed)
    assert second is not None
    same = (first.first, first.last) == (second.first, second.last)
    assert (f"still says “{first.text}”" if same else f"now answers “{second.text}”") in headline.meaning(found)
    table = analysis.labels_table(found)
    assert table is not None
    assert table["label"].tolist() == ["start", "end"]


def test_the_sentence_names_a_value(tmp_path: Path) -> None:
    found = worst(*labelled(tmp_path, "SequenceClassification", problem_type="regression"))
    was, now = found.said, found.changed.prediction
    assert was is not None
    assert now is not None
    most = int(np.abs(now.logits - was.logits)[0].argmax())
    p, q = was.logits[0, most], now.logits[0, most]
    assert headline.headline(found) == sentence(found, LABELS[most], f"{p:.2f}", f"{q:.2f}", rises=q > p, number=True)
    with speaking("ko"):
        said = headline.headline(found)
    assert f"{p:.2f}" in said
    assert f"{q:.2f}" in said


def test_several_labels_are_named_where_they_change(tmp_path: Path) -> None:
    model, record = labelled(tmp_path, "SequenceClassification", problem_type="multi_label_classification")
    said = set()
    for head in ablate_sweep(model, record).heads:
        found = ablate(model, record, [head])
        was, now = found.said, found.changed.prediction
        assert was is not None
        assert now is not None
        others = [LABELS[int(place)] for place in np.flatnonzero((was.logits[0] >= 0) != (now.logits[0] >= 0))]
        meaning = headline.meaning(found)
        assert all(f"“{label}”" in meaning for label in others)
        said.add(meaning)
        if not others:
            assert meaning == "The model finds the same labels as before."
    assert said


@pytest.mark.slow
@pytest.mark.parametrize("level", ["beginner", "expert"])
def test_the_page_measures_heads_by_the_label(app: App, root: Path, engine: Engine, level: str) -> None:
    options: dict[str, Any] = {"architecture": "BertForSequenceClassification", "id2label": LABELS}
    networks.save("bert-pretraining", root / "judge", spread=0.3, trained=True, **options)
    model = bartviz.load("judge", roots=default_roots())
    record = bartviz.capture(model, TEXT)
    page = app("experiments", record=record, level=level, silenced=str(Head("encoder", 0, 0)))
    assert not page.exception
    said = words(page)
    plain = "head 0 of layer 0 (encoder attention), the probability of “"
    assert f"Without {'encoder L0H0: “' if level == 'expert' else plain}" in said
    assert headline.meaning(ablate(model, record, ["encoder L0H0"])) in said
    if level == "expert":
        worst_head = ablate_sweep(model, record).ranked()[0]
        assert "moves the probabilities of the labels most" in said
        table: Any = tables(page)[0]
        assert table["head"].iloc[0] == ablate_sweep(model, record).heads[worst_head].head
