"""The difference of two outputs: stretches that are the same, and stretches that replace each other."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from bartviz.analysis.ablation import Ablation
from bartviz.text.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of tokens in two outputs: the same in both, or one in place of the other."""

    same: bool
    before: slice
    after: slice


def aligned(before: Tokens, after: Tokens) -> tuple[Stretch, ...]:
    """The stretches of two outputs, matching the longest runs of equal ids first (Ratcliff and Obershelp 1988)."""
    matcher = SequenceMatcher(None, before.ids.tolist(), after.ids.tolist(), autojunk=False)
    return tuple(Stretch(name == "equal", slice(a, b), slice(c, d)) for name, a, b, c, d in matcher.get_opcodes())


def paired(found: Ablation) -> tuple[Stretch, ...]:
    """The stretches of the best tokens before and after, compared row by row."""
    if found.before is None or found.after is None:
        return ()
    same = (found.before.best == found.after.best).tolist()
    return tuple(Stretch(one, slice(i, i + 1), slice(i, i + 1)) for i, one in enumerate(same))
