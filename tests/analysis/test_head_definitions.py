"""What is said of a head's name holds for the maps of the shipped models, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

import bartviz
from bartviz.analysis.head_names import EVENLY, THRESHOLD, Name, names
from bartviz.analysis.look_ahead import BACK
from bartviz.analysis.measures import of_record
from bartviz.arrays import Floats
from bartviz.record.attention import Kind
from bartviz.record.record import Record

TEXTS = (
    "Yes.",
    "I bought a new car yesterday.",
    "The teacher reads the book, and the children listen to the teacher.",
    "The woman who lives in the old house did not buy the bread, because it was not fresh.",
)
PUNCTUATION = {".", ",", "!", "?", ";", ":"}


def bare(label: str) -> str:
    return label.strip(" ▁Ġ#").lower()


def looked_at(given: Name, record: Record, kind: Kind, weights: Floats) -> list[float]:
    """For each word that could do what the definition says, or not do it: how much of its weight does."""
    attention, rows = record.attention(kind), record.rows(kind)
    columns = attention.key
    own = kind != "cross"
    last = (max(len(rows) - 1, 1), len(columns) - 1)
    found = []
    for i in (i for i in range(len(rows)) if not rows.special[i]):
        seen = np.flatnonzero(attention.mask[i])
        cells = {
            "previous": [j for j in seen if j == i - 1],
            "next": [j for j in seen if j == i + 1],
            "itself": [j for j in seen if j == i],
            "first": [j for j in seen if j == 0 and (i > 0 or not own)],
            "special": [j for j in seen if columns.special[j]],
            "punctuation": [j for j in seen if bare(columns.labels[j]) in PUNCTUATION and (j != i or not own)],
            "diagonal": [j for j in seen if abs(i * last[1] / last[0] - j) <= 1],
        }[given.measure]
        if 0 < len(cells) < len(seen):
            found.append(float(weights[i, cells].sum()))
    return found


def evenness(record: Record, kind: Kind, weights: Floats) -> list[float]:
    """For each word that has a choice: the entropy of its row by that of an even one."""
    attention, rows = record.attention(kind), record.rows(kind)
    found = []
    for i in (i for i in range(len(rows)) if not rows.special[i]):
        row = weights[i, attention.mask[i]].astype(np.float64)
        if len(row) > 1:
            found.append(float(-(row * np.log(np.maximum(row, 1e-30))).sum() / np.log(len(row))))
    return found


@pytest.mark.parametrize("name", ["bart-tiny-en-de", "bart-tiny-denoise", "bert-tiny-en"])
def test_a_definition_holds_for_every_shipped_head_of_that_name(name: str) -> None:
    model, met = bartviz.load(name), set()
    for text in TEXTS:
        record = bartviz.capture(model, text)
        for kind in record.kinds:
            for (layer, head), given in names(of_record(record, kind)).items():
                weights, rows = record.attention(kind).head(layer, head), record.rows(kind)
                where = f"{kind} L{layer}H{head} in {text!r}: {given.explained}"
                if given.measure == "evenness":
                    assert np.mean(evenness(record, kind, weights)) >= EVENLY - 1e-4, where
                elif given.measure == "alignment":
                    if given.direction == BACK:  # it rests in the row that predicts the first word
                        assert weights[np.argmin(rows.special), record.attention(kind).key.special].sum() > THRESHOLD, (
                            where
                        )
                elif given.measure != "same":
                    assert np.mean(looked_at(given, record, kind, weights)) >= THRESHOLD - 1e-4, where
                met.add(given.measure)
    assert len(met) >= 3
