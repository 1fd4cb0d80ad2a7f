"""The tree of continuations that a beam search considered. Frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bartviz.errors import RecordError
from bartviz.record.steps import Candidate

EarlyStopping = Literal[True, False, "never"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One continuation that beam search considered: the tokens of its ancestors, then ``token`` at position ``step``.

    parent: index of the node that it continues, None at the start. total: sum of the model's own log p, in nats.
    score: as beam search ranks it, rules and length penalty included. rank: among the continuations of this step, 0 is
    the best. state: ``open`` was continued, ``pruned`` was dropped, ``finished`` ended there (end token or length
    limit), ``best`` is the winner. text: the decoded text so far, without special tokens and without an incomplete
    character; None if no finished text contains the node, and in older records.
    """

    step: int
    parent: int | None
    token: Candidate
    total: float
    score: float
    rank: int
    state: Literal["open", "pruned", "finished", "best"]
    rule: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class BeamTree:
    """All continuations of a beam search: ``nodes``, parents before children, and the node where the best text ends.

    Each step adds the best continuations of all beams: (1 + number of end tokens, at least 2) x beams of them, as many
    as ``generate()`` considers. Those that were not continued are ``pruned``.
    score = (sum of log p after rules) / length ** length_penalty. early_stopping: True stops when ``beams`` texts have
    ended, False when no open one is likely to beat them, ``never`` only when none can.
    """

    beams: int
    length_penalty: float
    early_stopping: EarlyStopping
    nodes: tuple[Hypothesis, ...]
    best: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if not 0 <= self.best < len(self.nodes):
            raise RecordError("The best hypothesis of the beam tree is not among its nodes.")
        for number, node in enumerate(self.nodes):
            if node.parent is None and node.step == 0:
                continue
            if node.parent is None or not 0 <= node.parent < number or self.nodes[node.parent].step != node.step - 1:
                raise RecordError(f"Node {number} of the beam tree does not continue a node of the step before it.")

    def __repr__(self) -> str:
        best = self.nodes[self.best]
        return (
            f"<BeamTree: {self.beams} beams, {self.steps} steps, {len(self.nodes)} nodes, best score {best.score:.4f}>"
        )

    def path(self, node: int) -> tuple[int, ...]:
        """The indices of the nodes from the first token to this one."""
        path = [node]
        while (parent := self.nodes[path[-1]].parent) is not None:
            path.append(parent)
        return tuple(reversed(path))

    @property
    def steps(self) -> int:
        """How many tokens deep the tree is."""
        return 1 + max(node.step for node in self.nodes)
