"""One head over a corpus: its evidence, its ranks and its neighbours, from a table whose numbers are written down."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bartviz.analysis import corpus
from bartviz.analysis.corpus_roles import roles
from bartviz.record.attention import Head

COLUMNS = ["kind", "layer", "head", "measure", "n", "mean", "sd", "low", "high", "even"]
MEANS = {"previous": (0.8, 0.7, 0.1), "first": (0.1, 0.2, 0.4)}


def heads() -> pd.DataFrame:
    rows = [
        ("encoder", 0, head, measure, 100, mean, 0.2, mean - 0.04, mean + 0.04, 0.2)
        for measure, means in MEANS.items()
        for head, mean in enumerate(means)
    ]
    return pd.DataFrame([*rows, ("decoder", 0, 0, "previous", 100, 0.99, 0.1, 0.98, 1.0, 0.2)], columns=COLUMNS)


def histograms() -> pd.DataFrame:
    rows = [("encoder", 0, 0, "previous", value, texts) for value, texts in ((0.45, 7), (0.5, 20), (0.8, 73))]
    rows.append(("encoder", 0, 0, "first", 0.1, 100))
    return pd.DataFrame(rows, columns=["kind", "layer", "head", "measure", "bin", "texts"])


def test_the_evidence_is_the_interval_and_the_texts_below_the_threshold() -> None:
    found = corpus.evidence(heads(), histograms(), Head("encoder", 0, 0))
    assert (found.role, found.measure, found.n, found.below) == ("previous token", "previous", 100, 7)
    assert (found.low, found.mean, found.high, found.even) == pytest.approx((0.76, 0.8, 0.84, 0.2))
    said = corpus.notice(found, Head("encoder", 0, 0))
    assert "Encoder L0H0 is called “previous token”" in said
    assert "0.76 to 0.84" in said
    assert "In 7 of 100 texts" in said


def test_a_head_without_a_role_is_described_by_its_strongest_pattern() -> None:
    found = corpus.evidence(heads(), histograms(), Head("encoder", 0, 2))
    assert (found.role, found.measure, found.mean) == ("", "first", 0.4)
    assert "has no role" in corpus.notice(found, Head("encoder", 0, 2))


def test_a_passport_ranks_the_head_among_its_kind_alone() -> None:
    table = corpus.passport(heads(), Head("encoder", 0, 1)).set_index("measure")
    assert table.loc["previous token", "rank"] == 2  # the decoder's head is higher, but of another kind
    assert table.loc["first token", "rank"] == 2
    assert table.loc["previous token", "mean"] == 0.7


def test_neighbours_are_the_heads_with_similar_means() -> None:
    near = corpus.neighbours(heads(), Head("encoder", 0, 0))
    assert list(near["head"]) == ["encoder L0H1", "encoder L0H2"]
    previous, first = ((value - sum(value) / 3) for value in (pd.Series(MEANS["previous"]), pd.Series(MEANS["first"])))
    a, b = ((part[1] - part[0]) ** 2 / (part**2).mean() for part in (previous, first))
    assert near["distance"][0] == pytest.approx(((a + b) / 2) ** 0.5)


@pytest.mark.parametrize(
    ("predicts", "reads", "n", "role"),
    [
        ((0.1, 0.2), (0.9, 0.95), 40, "aligns the next word"),
        ((0.9, 0.95), (0.1, 0.2), 40, "aligns the word just read"),
        ((0.9, 0.95), (0.8, 0.9), 40, "one to one"),
        ((0.45, 0.55), (0.9, 0.95), 40, "one to one"),
        ((0.1, 0.2), (0.9, 0.95), 20, "one to one"),
    ],
)
def test_a_head_is_said_to_align_only_where_alignments_by_hand_agree(
    predicts: tuple[float, float], reads: tuple[float, float], n: int, role: str
) -> None:
    cell = {"kind": "cross", "layer": 0, "head": 0, "sd": 0.1, "even": np.nan}
    table = pd.DataFrame(
        [
            cell | {"measure": "alignment", "n": 100, "mean": 0.9, "low": 0.88, "high": 0.92},
            cell | {"measure": "error_predicts", "n": n, "mean": predicts[0], "low": 0.0, "high": predicts[1]},
            cell | {"measure": "error_reads", "n": n, "mean": reads[0], "low": 0.0, "high": reads[1]},
        ]
    )
    assert roles(table)["role"].tolist() == [role]
