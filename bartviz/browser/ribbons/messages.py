"""The messages of the ribbons, in the reader's language."""

from __future__ import annotations

from bartviz.language import _
from bartviz.record.attention import Kind


def lines(kind: Kind, *, given: bool = False) -> tuple[str, str]:
    """A description of the two lines, for screen readers. ``given``: the output was not the model's own."""
    if kind != "cross":
        return _("text, looked at"), _("text, looking")
    return _("source text"), _("given output") if given else _("output")


def labels(above: str, below: str, head: str) -> dict[str, str]:
    """What stands around the ribbons. ``above`` and ``below`` are the names of the lines."""
    return {
        "above": above,
        "below": below,
        "hint": _("Touch a word or point at it: its ribbons stay, and this line says what they mean."),
        "play": _("Play"),
        "pause": _("Pause"),
        "table": _("Weights of {head}: {below}, {above}, weight", head=head, below=below, above=above),
        "ribbons": _("Attention between two lines of words"),
    }
