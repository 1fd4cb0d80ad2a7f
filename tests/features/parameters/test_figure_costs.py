"""The curves of cost: their numbers are those of the analysis, and their names never overlap."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from bartviz.analysis.costs import Costs
from bartviz.families.catalogue import CATALOGUE
from bartviz.features.parameters.figure_costs import (
    LONGEST,
    SHORTEST,
    bytes_text,
    decoding,
    lengths,
    memory,
    operations,
)

BERT, BART = Costs("bert-base-uncased"), Costs("facebook/bart-base")


def line(figure: Any, name: str) -> Any:
    (found,) = (trace for trace in figure.data if trace.name == name)
    return found


def at(figure: Any, name: str, x: int) -> float:
    found = line(figure, name)
    return float(found.y[list(found.x).index(x)])


def test_lengths_hold_the_chosen_one() -> None:
    assert lengths(500)[0] == SHORTEST
    assert lengths(500)[-1] == LONGEST
    assert 500 in lengths(500)
    assert lengths(1) == lengths(SHORTEST)


def test_operations_a_token() -> None:
    figure = operations(BERT, 512)
    assert at(figure, "feed-forward", 512) == pytest.approx(12 * 2 * 768 * 3072 / 1e6)
    assert at(figure, "projections", 16) == pytest.approx(12 * 4 * 768 * 768 / 1e6)
    assert at(figure, "scores and sums", 512) == pytest.approx(12 * 2 * 512 * 768 / 1e6)


@pytest.mark.parametrize(("costs", "said"), [(BERT, "equal at 3,072"), (BART, "equal at 2,048")])
def test_the_ring_is_where_the_two_curves_meet(costs: Costs, said: str) -> None:
    figure = operations(costs, 512)
    (ring,) = (trace for trace in figure.data if trace.text)
    assert ring.text[0] == said
    scores, feed_forward = line(figure, "scores and sums"), line(figure, "feed-forward")
    meets = np.interp(ring.x[0], scores.x, scores.y)
    assert meets == pytest.approx(ring.y[0], rel=0.02)
    assert meets == pytest.approx(feed_forward.y[0], rel=0.02)


def test_memory_at_512() -> None:
    figure = memory(BERT, 512)
    assert at(figure, "attention, all heads", 512) == 150_994_944
    assert at(figure, "weights", 512) == 4 * 109_482_240
    assert at(memory(BERT, 512, dtype="int8"), "weights", 512) == 109_482_240
    assert {trace.name for trace in figure.data} == {
        "weights",
        "activations",
        "attention, all heads",
        "queries and keys",
    }
    assert at(memory(BART, 512), "decoding cache", 512) == 4 * 2 * 6 * 768 * 1024


def test_decoding_steps() -> None:
    figure = decoding(BART, 64, 10)
    assert at(figure, "with a cache", 3) * 1e6 == BART.step(64, 3)
    assert at(figure, "without a cache", 10) * 1e6 == BART.step(64, 10, cache=False)
    assert [note.text for note in figure.layout.annotations][-1].startswith("step 1 makes")
    assert decoding(BART, 64, 1).data[0].x[0] == 1


@pytest.mark.some(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", [known.name for known in CATALOGUE])
@pytest.mark.parametrize("dark", [False, True])
def test_names_of_curves_keep_their_distance(name: str, dark: bool) -> None:
    for figure in (operations(Costs(name), 48, dark=dark), memory(Costs(name), 48, dark=dark)):
        places = sorted(note.y for note in figure.layout.annotations if note.xref == "paper")
        assert len(places) >= 3
        assert all(upper - lower > 0.07 for lower, upper in itertools.pairwise(places))
        assert places[-1] <= 1


def test_the_end_of_the_positions_is_stated() -> None:
    assert any("after 512" in note.text for note in operations(BERT, 64).layout.annotations)
    assert not any("after" in note.text for note in operations(Costs("t5-small"), 64).layout.annotations)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (12_582_912, "12.6 MB"),
        (150_994_944, "151 MB"),
        (2.28e9, "2.28 GB"),
        (7e15, "7,000 TB"),
    ],
)
def test_bytes(count: float, said: str) -> None:
    assert bytes_text(count) == said
