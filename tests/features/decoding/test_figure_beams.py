"""The figure of a beam search: nodes, lines, hover texts, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bartviz.errors import RecordError, SettingError
from bartviz.features.decoding.figure_beams import FITTING, beams
from bartviz.record.beam_tree import BeamTree
from bartviz.record.record import Record
from bartviz.record.steps import Candidate
from tests.support import trees


def nodes(figure: Any) -> dict[int, Any]:
    """Number of a node -> (step, rank, what the pointer says)."""
    return {
        number: (x, y, said)
        for trace in figure.data
        if trace.mode == "markers+text"
        for number, x, y, said in zip(trace.customdata, trace.x, trace.y, trace.hovertext, strict=True)
    }


def of(tree: BeamTree) -> Record:
    """A record of this tree; its steps follow the winner."""
    base = trees.record()
    steps = tuple(
        replace(base.steps[0], position=i, row=min(i, 2), chosen=tree.nodes[n].token)
        for i, n in enumerate(tree.path(tree.best))
    )
    return replace(base, beams=tree, steps=steps)


def test_every_continuation_is_at_its_step_and_rank() -> None:
    tree = trees.tree()
    found = nodes(beams(trees.record()))
    assert {n: (x, y) for n, (x, y, _) in found.items()} == {
        n: (node.step + 1, node.rank + 1) for n, node in enumerate(tree.nodes)
    }


def test_the_hover_text_has_p_total_score_and_reason() -> None:
    said = nodes(beams(trees.record()))[9][2]
    assert "<b>&lt;/s&gt;</b>, step 3, rank 2" in said
    assert "p 80%<br>sum of log p −1.609<br>score −0.536" in said
    assert "lower score than the winner" in said
    assert "rule: minimum length" in nodes(beams(trees.record()))[11][2]


def test_the_winner_is_the_thick_line() -> None:
    lines = [trace for trace in beams(trees.record()).data if trace.mode == "lines"]
    assert lines[-1].line.width == 4
    assert [x for x in lines[-1].x if x is not None] == [1, 2, 2, 3]
    assert [y for y in lines[-1].y if y is not None] == [2, 1, 1, 1]


def test_the_tree_of_a_large_summarizer_is_drawn_whole() -> None:
    """4 beams and 142 tokens: 8 continuations a step, of which none may be missing where the reader drags to."""
    figure = beams(of(trees.large(4, 142)))
    assert len(nodes(figure)) == 142 * 8
    assert not figure.layout.annotations


def test_only_survivors() -> None:
    assert set(nodes(beams(trees.record(), which="survivors"))) == {0, 1, 4, 5, 8, 9}


def test_what_is_left_out_is_stated() -> None:
    figure = beams(of(trees.large()), most=100)
    assert len(nodes(figure)) <= 100
    assert f"{len(nodes(figure))} of 480 continuations drawn" in figure.layout.annotations[0].text
    assert not beams(trees.record()).layout.annotations


def test_a_long_tree_begins_at_its_step() -> None:
    record = of(trees.large())
    assert tuple(beams(record).layout.xaxis.range) == (0.4, FITTING + 0.6)
    low, high = beams(record, step=40).layout.xaxis.range
    assert low < 41 < high
    assert beams(record, step=59).layout.xaxis.range[1] == 60.6


def test_tokens_stay_text() -> None:
    tree = trees.tree()
    odd = replace(tree.nodes[0], token=Candidate(1, "<b>%{x}", 0.5, 0.0))
    shown = beams(replace(trees.record(), beams=replace(tree, nodes=(odd, *tree.nodes[1:])))).to_json()
    assert "<b>%{x}" not in shown


def test_refusals(record: Record) -> None:
    with pytest.raises(RecordError, match="2 or more beams"):
        beams(record)
    with pytest.raises(SettingError, match="survivors"):
        beams(trees.record(), which="x")  # type: ignore[arg-type]
