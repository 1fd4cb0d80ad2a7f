"""The tree of a beam search: which hypotheses survived, their texts, and where the search differs from greedy search.

Beam search keeps the ``beams`` best hypotheses at every step instead of one, so a token that is not the most probable
at its step may win in the end. score = (sum of log p after rules) / length ** length_penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from bartviz.analysis import sentence_words
from bartviz.errors import RecordError, SettingError, choices
from bartviz.language import _, later, plural
from bartviz.language.percentages import percent
from bartviz.record.beam_tree import BeamTree, Hypothesis
from bartviz.record.record import Record
from bartviz.record.steps import Candidate, Step
from bartviz.record.vocabulary import (
    BY_USER,
    FORCED,
    FORCED_END_TOKEN,
    FORCED_FIRST_TOKEN,
    LENGTH_DECAY,
    REPETITION_PENALTY,
    SOURCE_PREFERENCE,
)
from bartviz.text.labels import CONTINUES

Which = Literal["all", "kept", "survivors"]
WEIGHING = frozenset(
    {REPETITION_PENALTY, SOURCE_PREFERENCE, LENGTH_DECAY}
)  # they change log p here, logits in greedy search
MOST = 1200  # nodes of a picture: all of 4 beams and 142 tokens, as a large summarizer writes them


@dataclass(frozen=True, slots=True)
class Shown:
    """Nodes to draw, parents before children, and how many requested nodes are left out."""

    nodes: tuple[int, ...]
    left_out: int


def tree_of(record: Record) -> BeamTree:
    """The record's beam tree. Raises RecordError if it was not decoded with beams."""
    if record.beams is None:
        raise RecordError(later("This record has no beam search: decode the text again with 2 or more beams."))
    return record.beams


def text(tree: BeamTree, node: int) -> str:
    """The text of the hypothesis up to this node, without special tokens.

    Finished texts and their prefixes are decoded by the tokenizer; what other hypotheses add is joined from labels.
    """
    said = ""
    for number in tree.path(node):
        said = _said(tree.nodes[number], said)
    return said


def all_texts(tree: BeamTree) -> tuple[str, ...]:
    """``text`` of every node."""
    found: list[str] = []
    for node in tree.nodes:  # parents come first
        found.append(_said(node, "" if node.parent is None else found[node.parent]))
    return tuple(found)


def _said(node: Hypothesis, before: str) -> str:
    return _continued(before, node.token.label) if node.text is None else node.text


def _continued(said: str, label: str) -> str:
    if is_special(label):
        return said
    piece = label.removeprefix(CONTINUES)
    joined = piece != label or not said or not any(sign.isalnum() for sign in label)
    return said + piece if joined else f"{said} {piece}"


def score_text(score: float) -> str:
    """A score with enough decimals to compare: a length penalty of 2 makes scores of long texts very small."""
    return sentence_words.signed(score, ".3f" if abs(score) >= 0.1 else ".6f")


def is_special(label: str) -> bool:
    """Whether a label looks like a special token, such as ``</s>`` or ``[SEP]``."""
    return len(label) > 2 and ((label[0], label[-1]) in (("<", ">"), ("[", "]")))


def survivors(tree: BeamTree) -> frozenset[int]:
    """The nodes on a path to a finished text, the winner among them."""
    found: set[int] = set()
    for number, node in enumerate(tree.nodes):
        if node.state in ("finished", "best"):
            found.update(_missing(tree, number, found))
    return frozenset(found)


def shown(tree: BeamTree, which: Which = "all", most: int = MOST) -> Shown:
    """The nodes to draw: ``all``, the ``kept`` ones (followed or finished), or only the ``survivors``.

    If there are more than ``most`` nodes, the winner has priority, then survivors, kept and pruned nodes; better ranks
    and earlier steps first. A node is never drawn without its parent. Raises SettingError.
    """
    if which not in get_args(Which):
        raise SettingError(later("Choose {choices} of the tree.", choices=choices(get_args(Which))))
    if most < 1:
        raise SettingError(later("Draw at least 1 node, not {count}.", count=most))
    alive, winner = survivors(tree), frozenset(tree.path(tree.best))
    asked = [
        n
        for n, node in enumerate(tree.nodes)
        if which == "all" or n in alive or (which == "kept" and node.state != "pruned")
    ]
    drawn: set[int] = set()
    for number in sorted(asked, key=lambda n: _importance(tree.nodes[n], n in winner, n in alive)):
        more = _missing(tree, number, drawn)
        if len(drawn) + len(more) <= most:
            drawn.update(more)
    return Shown(tuple(sorted(drawn)), len(set(asked) - drawn))


def _missing(tree: BeamTree, node: int, drawn: set[int]) -> list[int]:
    """The node and its ancestors that are not drawn yet."""
    found: list[int] = []
    at: int | None = node
    while at is not None and at not in drawn:
        found.append(at)
        at = tree.nodes[at].parent
    return found


def _importance(node: Hypothesis, wins: bool, survives: bool) -> tuple[int, int, int]:
    group = 0 if wins else 1 if survives else 3 if node.state == "pruned" else 2
    return group, node.rank if group == 3 else node.step, node.step


def reasons(tree: BeamTree) -> tuple[str, ...]:
    """The fate of each hypothesis, in words: one text per node."""
    followed = {node.parent for node in tree.nodes if node.state != "pruned"}
    return tuple(_reason(tree, node, number in followed) for number, node in enumerate(tree.nodes))


def _reason(tree: BeamTree, node: Hypothesis, followed: bool) -> str:
    if node.state == "best":
        return _("won: the best score of all texts that ended")
    if node.state == "finished":
        return _("ended here, with a lower score than the winner")
    if node.state == "pruned":
        return _("pruned: not among the {count} strongest of this step", count=tree.beams)
    return _("expanded") if followed else _("expanded, but none of its continuations were kept")


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
    """The finished texts, best score first: place, text, tokens, total (log p, nats), score, probability, won."""
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


def turns(record: Record) -> tuple[tuple[Step, Candidate], ...]:
    """The steps whose token greedy search would not choose after the same prefix, and the token it would choose.

    That is the most probable token or, where a decoding rule acted, the best continuation of the same prefix in the
    tree. Steps that the record cannot decide are in ``unsure``: with a rule of ``WEIGHING``, all steps are.
    """
    return tuple((step, token) for step in record.steps if (token := _greedy(record, step)) is not None)


def unsure(record: Record) -> tuple[Step, ...]:
    """The steps at which a rule acted and the record cannot decide whether greedy search would choose the same
    token."""
    return tuple(step for step in record.steps if _ruled(step) and _greedy(record, step) is None)


def _away(step: Step) -> bool:
    return bool(step.candidates) and step.candidates[0].token_id != step.chosen.token_id


def _ruled(step: Step) -> bool:
    """Whether a rule excluded the most probable token, without counting rules that force greedy search too."""
    return _away(step) and step.rule is not None and step.rule not in FORCED


def _may_act(record: Record, position: int) -> bool:
    """Whether a rule of the record could have acted at a step whose token was given."""
    active: Any = record.provenance.settings.get("rules") or ()
    elsewhere = {FORCED_FIRST_TOKEN} if position > 0 else set()
    if position < len(record.steps) - 1:
        elsewhere.add(FORCED_END_TOKEN)
    return not elsewhere.issuperset(active)


def _greedy(record: Record, step: Step) -> Candidate | None:
    """The token that greedy search would choose instead; None if it is the same or unknown."""
    if not _away(step) or step.rule in FORCED or _weighing(record):
        return None
    if step.rule is None:
        return step.candidates[0]
    if step.rule in BY_USER:
        return None if _may_act(record, step.position) else step.candidates[0]
    if record.beams is None:
        return None
    nodes = record.beams.nodes
    parent = nodes[record.beams.path(record.beams.best)[step.position]].parent
    siblings = [node for node in nodes if node.step == step.position and node.parent == parent]
    strongest = min(siblings, key=lambda node: node.rank).token
    return strongest if strongest.token_id != step.chosen.token_id else None


def _weighing(record: Record) -> str | None:
    """A rule that changes scores by their sign and size, so that greedy search has other scores; None without one."""
    active: Any = record.provenance.settings.get("rules") or ()
    return next((rule for rule in active if rule in WEIGHING), None)


def notice(record: Record) -> str:
    """One or two sentences: what the search considered, and where it did not choose the locally best token."""
    tree = tree_of(record)
    ended = sum(node.state in ("finished", "best") for node in tree.nodes)
    steps = plural("{beams} beams, {count} step", "{beams} beams, {count} steps", tree.steps, beams=tree.beams)
    said = [
        plural(
            "{steps}: {nodes:,} continuations were scored, {count} text ended.",
            "{steps}: {nodes:,} continuations were scored, {count} texts ended.",
            ended,
            steps=steps,
            nodes=len(tree.nodes),
        )
    ]
    if (weighing := _weighing(record)) is not None:
        different = _(
            "The rule {rule} acts on log p here and on logits in greedy search, which may therefore write "
            "another text.",
            rule=sentence_words.rule(weighing),
        )
        return f"{said[0]} {different}"
    against, ruled = turns(record), unsure(record)
    if ruled and (not against or ruled[0].position < against[0][0].position):
        rule = sentence_words.rule(ruled[0].rule or "")
        step = ruled[0].position + 1
        said.append(_("A rule acted at step {step} ({rule}), so greedy search may differ.", step=step, rule=rule))
    if against:
        said.append(_against(against))
    elif not ruled:
        said.append(_("The winner has the most probable token at every step: greedy search would write the same."))
    return " ".join(said)


def _against(turned: tuple[tuple[Step, Candidate], ...]) -> str:
    """A clause: the first step at which the winner's token is not the most probable one, and how many more there
    are."""
    step, better = turned[0]
    values: dict[str, object] = {
        "step": step.position + 1,
        "token": step.chosen.label,
        "likely": percent(step.chosen.probability),
        "other": better.label,
        "likelier": percent(better.probability),
    }
    if len(turned) == 1:
        return _(
            "At step {step} the winner has “{token}” ({likely}) though “{other}” had {likelier}: greedy search would "
            "have gone there.",
            **values,
        )
    return plural(
        "At step {step} the winner has “{token}” ({likely}) though “{other}” had {likelier}, and at {count} more "
        "step: greedy search would have gone there.",
        "At step {step} the winner has “{token}” ({likely}) though “{other}” had {likelier}, and at {count} more "
        "steps: greedy search would have gone there.",
        len(turned) - 1,
        **values,
    )
