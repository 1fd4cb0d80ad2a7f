"""What beam search looked at, as a tree of the continuations of a text. Frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bartviz.errors import RecordError
from bartviz.record.steps import Candidate

EarlyStopping = Literal[True, False, "never"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One continuation that beam search looked at: the tokens of its ancestors, then ``token`` at place ``step``.

    parent: number of the node that it continues, None where it begins the text. total: sum of the model's own log p,
    in nats. score: as beam search ranks it, rules and length penalty included. rank: its place among the continuations
    of this step, 0 the strongest. state: ``open`` was followed further, ``pruned`` was not, ``finished`` ended there
    (end token or longest length), ``best`` is the one that won. text: the decoded text so far, special tokens and a
    character that is not complete yet left out; None where no text that ended has the node, and in older records.
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
    """What beam search looked at: ``nodes``, parents before children, and the node where the best text ends.

    At every step the strongest continuations of all beams are nodes: (1 + number of end tokens, at least 2) x beams
    of them, as ``generate()`` looks at. Those that were not followed are ``pruned``.
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
        """The numbers of the nodes that lead to this one, the first token's first, its own last."""
        found = [node]
        while (parent := self.nodes[found[-1]].parent) is not None:
            found.append(parent)
        return tuple(reversed(found))

    @property
    def steps(self) -> int:
        """How many tokens deep the tree is."""
        return 1 + max(node.step for node in self.nodes)
