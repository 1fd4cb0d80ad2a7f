"""What docs/attributions.md says of the methods is what they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import bartviz
from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.removals import MEASURES
from bartviz.analysis.verdicts import ALIKE, BETTER
from bartviz.arrays import Floats
from bartviz.attribution import gradients
from bartviz.attribution.attribute import COMPUTED
from bartviz.attribution.question import asked
from bartviz.attribution.removal import OPERATORS
from bartviz.corpus import shipped
from bartviz.corpus.why import HALVES
from bartviz.experiments.replay import Outcome, Replay
from tests.attribution import subjects
from tests.support import loaded
from training import methods

TEXT = (Path(__file__).parents[2] / "docs" / "attributions.md").read_text("utf-8")


def rows(title: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    part = TEXT.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_method_is_in_every_table() -> None:
    for title in ("The methods", "What a method costs", "What its numbers may be taken for"):
        named = [name for row in rows(title) for name in row[0].split(", ")]
        assert named == list(METHODS), title


def test_sources_and_kinds_of_numbers_are_those_of_the_table_of_methods() -> None:
    for (name, *_formula, numbers, source), method in zip(rows("The methods"), METHODS.values(), strict=True):
        assert source == method.source, name
        assert numbers == ("nats, signed" if method.sums is None else "shares"), name
    together = [name for name, method in METHODS.items() if method.sums == "together"]
    assert together == ["rollout"]
    contrasting = [name for name, method in METHODS.items() if method.contrasts]
    assert "leave-one-out, gradient x input and integrated gradients" in TEXT
    assert contrasting == ["leave-one-out", "gradient x input", "contrast", "integrated gradients"]
    assert (len(METHODS), len(contrasting)) == (9, 4)
    assert "There are nine methods" in TEXT
    assert "four of the nine" in TEXT


def test_its_share_is_the_limit() -> None:
    assert f"{gradients.COMPLETE:.0%}" == "1%"
    assert "within 1%" in TEXT


def test_the_table_of_what_came_out_is_that_of_the_file_beside_it() -> None:
    table = pd.read_csv(methods.TABLE)
    made = TEXT.split(methods.BEGIN)[1].split(methods.END)[0]
    assert made.strip() == methods.section(table).strip()
    assert list(dict.fromkeys(table.model)) == list(shipped.NAMES)
    for name, lines in table.groupby("model"):
        assert len(lines) == len(METHODS) * len(OPERATORS) * len(MEASURES), name
        assert set(lines.method) == set(METHODS)
        assert (lines.low <= lines["better by"]).all()
        assert (lines["better by"] <= lines.high).all()
        certain = lines[lines.verdict != ALIKE]
        assert (certain.rate <= 0.05).all()
        assert ((certain["rank"] > 0) == (certain.verdict == BETTER)).all()


def test_two_halves_of_the_texts_seldom_differ_and_hardly_ever_contradict_each_other() -> None:
    table = pd.read_csv(methods.TABLE)
    one, other = (table[half] for half in HALVES)
    assert (one == other).mean() >= 0.95
    assert f"in {(one == other).sum()} of all {len(table)} lines, {(one == other).mean():.0%}" in TEXT
    assert ((one != other) & (one != ALIKE) & (other != ALIKE)).mean() < 0.01
    apart = table[one != other].method
    near = int(apart.isin(["gradient x input", "contrast"]).sum())
    assert f"of the {len(apart)} lines\non which they do, {near} are of gradient x input or contrast" in TEXT
    assert near > 0.9 * len(apart)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The texts in each pass of the network that a replay makes."""
    made: list[int] = []
    run = Replay.run

    def counted(replay: Replay, *given: Any, copies: int = 1, **more: Any) -> Outcome:
        made.append(copies)
        return run(replay, *given, copies=copies, **more)

    monkeypatch.setattr(Replay, "run", counted)
    return made


@pytest.mark.slow
def test_a_method_costs_as_many_passes_as_it_says(passes: list[int]) -> None:
    one, model = subjects.record("bart"), loaded.model("bart")
    cross, own = one.attention("cross"), one.attention("decoder")
    layers, read, written = cross.shape[0], cross.shape[3], own.shape[3]
    words = int((~one.source.special).sum() + (~own.query.special).sum())
    costs = {
        "leave-one-out": words,
        "gradient x input": 0,  # those with gradients are no replays
        "contrast": 0,
        "value zeroing": layers * (read + written),
        "rollout": 1,
        "norms of weighted values": 1,
        "mean attention": 0,
        "best head": 0,
    }
    for method, cost in costs.items():
        passes.clear()
        bartviz.attribute(model, one, method=method)
        assert sum(passes) == 1 + cost, method


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "gpt2", "bert"])
def test_judging_a_method_makes_no_passes_for_earlier_outputs(family: str, passes: list[int]) -> None:
    """The numbers of the source are the same without these passes, which are those of the decoder's own tokens."""
    one, model = subjects.record(family), loaded.model(family)
    whole = asked(model, one, token=None, contrast=None, step=None, cancelled=lambda: False)
    alone = replace(whole, source_alone=True)
    own = None if one.cross is None else one.attention("decoder")
    saved = (
        {}
        if own is None
        else {"leave-one-out": int((~own.query.special).sum()), "value zeroing": own.shape[0] * own.shape[3]}
    )
    for method, compute in COMPUTED.items():
        made, found = list[int](), list[Floats]()
        for question in (whole, alone):
            passes.clear()
            with torch.no_grad():
                found.append(compute(question).source)
            made.append(sum(passes))
        assert made[0] - made[1] == saved.get(method, 0), method
        np.testing.assert_array_equal(found[0], found[1])
