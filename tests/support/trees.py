"""A beam search by hand: 2 beams, 3 steps; the winner begins with the less probable word. And larger ones at random."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bartviz.record.beam_tree import BeamTree, Hypothesis
from bartviz.record.record import Record
from bartviz.record.steps import Candidate, Step
from tests.support import stand_in

State = Literal["open", "pruned", "finished", "best"]
# token id, label, p, parent, state; four continuations a step, the strongest first
LINES: tuple[tuple[int, str, float, int | None, State], ...] = (
    (10, "Ha", 0.5, None, "open"), (11, "Ho", 0.4, None, "open"), (12, "He", 0.06, None, "pruned"),
    (13, "Hu", 0.04, None, "pruned"),
    (20, "Tag", 0.9, 1, "open"), (21, "⋯llo", 0.5, 0, "open"), (22, "⋯us", 0.4, 0, "pruned"),
    (23, "⋯ch", 0.1, 1, "pruned"),
    (2, "</s>", 0.9, 4, "best"), (2, "</s>", 0.8, 5, "finished"), (24, "!", 0.2, 5, "pruned"),
    (25, "!", 0.1, 4, "pruned"),
)  # fmt: skip


def tree() -> BeamTree:
    """“Ho Tag” wins with p = 0.4 x 0.9 x 0.9 = 0.324 over “Hallo” with 0.5 x 0.5 x 0.8 = 0.2; score = log p / 3."""
    nodes: list[Hypothesis] = []
    for number, (token, label, p, parent, state) in enumerate(LINES):
        total = math.log(p) + (0.0 if parent is None else nodes[parent].total)
        step = number // 4
        nodes.append(
            Hypothesis(
                step,
                parent,
                Candidate(token, label, p, stand_in.LOG_Z + math.log(p)),
                total,
                total / (step + 1),
                number % 4,
                state,
                "minimum length" if number == 11 else None,
            )
        )
    return BeamTree(2, 1.0, True, tuple(nodes), 8)


def record(**settings: Any) -> Record:
    """The record of that search: its steps are the winner's, whose first candidates were “Ha” and “Ho”."""
    found = tree()
    base = stand_in.record(output=("Ho", " Tag", "</s>"))
    steps = []
    for position, number in enumerate(found.path(found.best)):
        own = found.nodes[number].token
        candidates, bits = ((found.nodes[0].token, own), 1.4) if position == 0 else ((own,), 1.0)
        steps.append(Step(position, position, own, candidates, bits, math.log(own.probability)))
    ids = np.array([step.chosen.token_id for step in steps])
    assert base.output is not None
    assert base.decoder is not None
    assert base.cross is not None
    given = replace(base.decoder.query, ids=np.array([ids[-1], *ids[:-1]]))
    return replace(
        base,
        decoder=replace(base.decoder, query=given, key=given),
        cross=replace(base.cross, query=given),
        output=replace(base.output, ids=ids),
        steps=tuple(steps),
        beams=found,
        provenance=replace(base.provenance, settings={"mode": "beams", **settings}),
    )


def large(beams: int = 4, steps: int = 60, seed: int = 0) -> BeamTree:
    """A random tree of 2 x ``beams`` continuations a step; the strongest of the last step wins."""
    random = np.random.default_rng(seed)
    nodes: list[Hypothesis] = []
    alive: list[int | None] = [None]
    for step in range(steps):
        start, last = len(nodes), step == steps - 1
        for rank in range(2 * beams):
            parent = alive[int(random.integers(len(alive)))]
            p = float(random.uniform(0.05, 0.9))
            total = math.log(p) + (0.0 if parent is None else nodes[parent].total)
            state: State = "pruned" if rank >= beams else "open"
            if last and rank < beams:
                state = "finished" if rank else "best"
            token = Candidate(int(random.integers(100)), f"w{step}", p, stand_in.LOG_Z + math.log(p))
            nodes.append(Hypothesis(step, parent, token, total, total / (step + 1), rank, state))
        alive = list(range(start, start + beams))
    return BeamTree(beams, 1.0, False, tuple(nodes), len(nodes) - 2 * beams)
