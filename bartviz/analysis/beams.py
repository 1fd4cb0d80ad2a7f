"""The tree of a beam search: which texts survived, what each would say, and where the search beat a greedy choice.

Beam search keeps the ``beams`` best beginnings at every step instead of one, so that a token that is not the most
probable where it stands may win in the end. score = (sum of log p after rules) / length ** length_penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from bartviz.analysis.decoding import percent
from bartviz.errors import RecordError, SettingError, choices
from bartviz.labels import CONTINUES
from bartviz.record import BeamTree, Hypothesis, Record, Step

Which = Literal["all", "kept", "survivors"]
MOST = 400  # nodes of a picture in which each can still be told from its neighbours


@dataclass(frozen=True, slots=True)
class Shown:
    """Nodes to draw, parents before children, and how many of those asked for there is no room for."""

    nodes: tuple[int, ...]
    left_out: int


def tree_of(record: Record) -> BeamTree:
    """The record's beam tree. Raises RecordError where it was not decoded with beams."""
    if record.beams is None:
        raise RecordError("This record has no beam search: decode the text again with 2 or more beams.")
    return record.beams


def text(tree: BeamTree, node: int) -> str:
    """What the hypothesis that ends at this node says so far: its labels, pieces joined, special tokens left out."""
    said = ""
    for number in tree.path(node):
        said = _continued(said, tree.nodes[number].token.label)
    return said


def all_texts(tree: BeamTree) -> tuple[str, ...]:
    """``text`` of every node."""
    found: list[str] = []
    for node in tree.nodes:  # parents come first
        found.append(_continued("" if node.parent is None else found[node.parent], node.token.label))
    return tuple(found)


def _continued(said: str, label: str) -> str:
    if is_special(label):
        return said
    piece = label.removeprefix(CONTINUES)
    joined = piece != label or not said or not any(sign.isalnum() for sign in label)
    return said + piece if joined else f"{said} {piece}"


def is_special(label: str) -> bool:
    """Whether a label is that of a special token, such as ``</s>`` or ``[SEP]``."""
    return len(label) > 2 and ((label[0], label[-1]) in (("<", ">"), ("[", "]")))


def survivors(tree: BeamTree) -> frozenset[int]:
    """The nodes on the way to a text that ended, the winner among them."""
    found: set[int] = set()
    for number, node in enumerate(tree.nodes):
        if node.state in ("finished", "best"):
            found.update(_missing(tree, number, found))
    return frozenset(found)


def shown(tree: BeamTree, which: Which = "all", most: int = MOST) -> Shown:
    """The nodes to draw: ``all``, those that were ``kept`` (followed or finished), or the ``survivors`` alone.

    Above ``most`` nodes the winner comes first, then survivors, then what was kept, then what was pruned; the stronger
    rank and the earlier step first. A node is never drawn without its parent. Raises SettingError.
    """
    if which not in get_args(Which):
        raise SettingError(f"Choose {choices(get_args(Which))} of the tree.")
    if most < 1:
        raise SettingError(f"At least 1 node is drawn, not {most}.")
    alive, winner = survivors(tree), frozenset(tree.path(tree.best))
    asked = [
        n for n, node in enumerate(tree.nodes)
        if which == "all" or n in alive or (which == "kept" and node.state != "pruned")
    ]  # fmt: skip
    drawn: set[int] = set()
    for number in sorted(asked, key=lambda n: _importance(tree.nodes[n], n in winner, n in alive)):
        more = _missing(tree, number, drawn)
        if len(drawn) + len(more) <= most:
            drawn.update(more)
    return Shown(tuple(sorted(drawn)), len(set(asked) - drawn))


def _missing(tree: BeamTree, node: int, drawn: set[int]) -> list[int]:
    """The node and those of its ancestors that are not drawn yet."""
    found: list[int] = []
    at: int | None = node
    while at is not None and at not in drawn:
        found.append(at)
        at = tree.nodes[at].parent
    return found


def _importance(node: Hypothesis, wins: bool, survives: bool) -> tuple[int, int, int]:
    if wins:
        group = 0
    elif survives:
        group = 1
    else:
        group = 3 if node.state == "pruned" else 2
    return group, node.rank if group == 3 else node.step, node.step


def reasons(tree: BeamTree) -> tuple[str, ...]:
    """What became of each hypothesis, in words."""
    followed = {node.parent for node in tree.nodes if node.state != "pruned"}
    return tuple(_reason(tree, node, number in followed) for number, node in enumerate(tree.nodes))


def _reason(tree: BeamTree, node: Hypothesis, followed: bool) -> str:
    if node.state == "best":
        return "won: the best score of all texts that ended"
    if node.state == "finished":
        return "ended here, with a lower score than the winner"
    if node.state == "pruned":
        return f"pruned: not among the {tree.beams} strongest of this step"
    return "followed further" if followed else "followed, but none of its continuations was kept"


def table(record: Record) -> pd.DataFrame:
    """One line per node of the tree.

    node, parent (missing at the first step); step and rank from 1; token, token_id; probability in 0..1 (raw logits);
    total (sum of log p, nats), score (as the search ranks it); state; rule, if one acted; text of the hypothesis so
    far.
    """
    tree = tree_of(record)
    nodes = tree.nodes
    return pd.DataFrame(
        {
            "node": np.arange(len(nodes)),
            "parent": pd.array([node.parent for node in nodes], dtype="Int64"),
            "step": [node.step + 1 for node in nodes],
            "rank": [node.rank + 1 for node in nodes],
            "token": [node.token.label for node in nodes],
            "token_id": [node.token.token_id for node in nodes],
            "probability": [node.token.probability for node in nodes],
            "total": [node.total for node in nodes],
            "score": [node.score for node in nodes],
            "state": [node.state for node in nodes],
            "rule": [node.rule for node in nodes],
            "text": all_texts(tree),
        }
    )


def texts(record: Record) -> pd.DataFrame:
    """The texts that ended, the best score first: place, text, tokens, total (log p, nats), score, probability, won."""
    tree = tree_of(record)
    ends = [n for n, node in enumerate(tree.nodes) if node.state in ("finished", "best")]
    ends.sort(key=lambda n: (n != tree.best, -tree.nodes[n].score))
    return pd.DataFrame(
        {
            "place": range(1, len(ends) + 1),
            "text": [text(tree, n) for n in ends],
            "tokens": [tree.nodes[n].step + 1 for n in ends],
            "total": [tree.nodes[n].total for n in ends],
            "score": [tree.nodes[n].score for n in ends],
            "probability": [float(np.exp(tree.nodes[n].total)) for n in ends],
            "won": [n == tree.best for n in ends],
        }
    )


def not_greedy(record: Record) -> tuple[Step, ...]:
    """The steps at which the winner has a token that was not the most probable there, and no rule decided."""
    return tuple(
        step for step in record.steps
        if step.rule is None and step.candidates and step.candidates[0].token_id != step.chosen.token_id
    )  # fmt: skip


def notice(record: Record) -> str:
    """One or two sentences: what the search looked at, and where it did not take the locally best token."""
    tree = tree_of(record)
    ended = sum(node.state in ("finished", "best") for node in tree.nodes)
    looked = (
        f"{tree.beams} beams, {tree.steps} steps: {len(tree.nodes):,} continuations were looked at, "
        f"{ended} {'text' if ended == 1 else 'texts'} ended."
    )
    against = not_greedy(record)
    if not against:
        return f"{looked} The winner has the most probable token at every step: greedy search would write the same."
    step = against[0]
    better = step.candidates[0]
    more = f", and at {len(against) - 1} more {'step' if len(against) == 2 else 'steps'}" if len(against) > 1 else ""
    return (
        f"{looked} At step {step.position + 1} the winner has “{step.chosen.label}” "
        f"({percent(step.chosen.probability)}) though “{better.label}” had {percent(better.probability)}{more}: "
        "greedy search would have gone there."
    )
