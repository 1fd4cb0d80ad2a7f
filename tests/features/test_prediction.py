"""What a fine-tuned model says, on the pages of attention."""

from __future__ import annotations

import html
from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis import prediction as analysis
from bartviz.record.prediction import Prediction
from bartviz.record.record import Record
from tests.support import stand_in, visits
from tests.support.pages import App

HEADING = "What the model says"


def said(task: str) -> Record:
    record = stand_in.record(kind="encoder")
    random = np.random.default_rng(0)
    if task == "text":
        head = Prediction("text", ("bad & <b>", "good"), np.log(np.array([[0.25, 0.75]], np.float32)))
    elif task == "tokens":
        head = Prediction("tokens", ("O", "NA<i>ME"), random.normal(size=(len(record.source), 2)).astype(np.float32))
    else:
        head = Prediction("answer", ("start", "end"), random.normal(size=(len(record.source), 2)).astype(np.float32))
    return replace(record, prediction=head)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["heads", "inside"])
@pytest.mark.parametrize("task", ["text", "tokens", "answer"])
def test_a_page_of_attention_shows_the_prediction(app: App, word: str, task: str) -> None:
    record = said(task)
    page = app(word, record=record)
    assert not page.exception
    assert HEADING in [part.value for part in page.subheader]
    words = visits.words(page)
    assert html.escape(analysis.sentence(record)) in words
    assert "<i>" not in words
    assert "bad & <b>" not in words


def test_without_a_prediction_there_is_no_such_section(app: App) -> None:
    page = app("heads", record=stand_in.record(kind="encoder"))
    assert not page.exception
    assert HEADING not in [part.value for part in page.subheader]
