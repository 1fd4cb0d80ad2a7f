"""What a head and the parts of a layer do, in a few words for a newcomer."""

from __future__ import annotations

from collections.abc import Mapping

from bartviz.language import _, mark

PARTS: Mapping[str, str] = {
    "self-attention": mark("within one text"),
    "cross-attention": mark("from the output to the text"),
    "feed-forward": mark("each token by itself"),
    "encoder": mark("reads the text"),
    "decoder": mark("writes the output"),
    "embeddings": mark("a list of numbers for each token"),
}


def head() -> str:
    """What a head is for, in a sentence."""
    return _("A head decides where each word looks.")


def part(name: str) -> str:
    """What a part of a layer is for: a word of ``PARTS``."""
    return _(PARTS[name])


def named(title: str, name: str) -> str:
    """The title of a part with what it is for, where that is known: ``feed-forward (each token by itself)``."""
    return _("{part} ({does})", part=title, does=part(name)) if name in PARTS else title
