"""Test every head of a model for a pattern, with examples of it; and compute a receipt again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bartviz.corpus import pattern_shares, receipt
from bartviz.corpus.encode import encode
from bartviz.corpus.find_heads import find_heads
from bartviz.corpus.read import Line
from bartviz.corpus.verify_heads import verify_heads
from bartviz.errors import TextError
from bartviz.features.corpus.numbers_patterns import Example, Found, Text, best
from bartviz.language import later
from bartviz.patterns.grammar import Pattern, parse
from bartviz.record.attention import Kind
from bartviz.tape.tape import depths

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

SHOWN, LINKS = 5, 6  # examples, and links of each


def find(pattern: str, texts: Sequence[Text], model: Model, ticket: Ticket[Found]) -> Found:
    """Test every head. Raises BartvizError, as ``find_heads``."""
    found = find_heads(model, texts, pattern, cancelled=_progress(ticket, len(texts)))
    content = found.content()
    first = best(content)
    known = parse(pattern)
    kind = first.kind if first is not None else known.kinds(tuple(depths(model.network)))[0]
    return Found(content, tuple(_examples(known, kind, texts, model)), receipt.packed(content))


def verify(data: bytes, texts: Sequence[Text], model: Model, ticket: Ticket[tuple[str, ...]]) -> tuple[str, ...]:
    """What differs from a receipt if it is computed again over these texts. Raises BartvizError."""
    ticket.report(later("The receipt is computed again"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "receipt.json"
        path.write_bytes(data)
        return verify_heads(path, texts, model).differences


def _progress(ticket: Ticket[Found], count: int) -> Callable[[], bool]:
    """Asked before each text is read: whether to stop."""
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked = min(asked + 1, count)
        ticket.report(later("Text {done:,} of {all:,}", done=asked, all=count), asked / count)  # others may come first
        return ticket.cancelled()

    return cancelled


def _examples(pattern: Pattern, kind: Kind, texts: Sequence[Text], model: Model) -> list[Example]:
    """The first texts in which the pattern applies."""
    found: list[Example] = []
    for number, text in enumerate(texts):
        if len(found) == SHOWN:
            break
        line = Line(number, "texts", number + 1, text["text"], text.get("pair"), text.get("target"))
        try:
            row = encode(model, line, labels=True)
        except TextError:
            continue
        pair = pattern_shares.pairs(row, [kind])[kind]
        marks = pattern.mask(pair)
        chosen = marks.any(axis=1) & (marks.sum(axis=1) < pair.mask.sum(axis=1))
        links = [
            (pair.query.labels[q], pair.key.labels[k])
            for q, k in np.argwhere(marks & chosen[:, None] & ~np.eye(*marks.shape, dtype=np.bool_)).tolist()
        ]
        if links:
            found.append(Example(text, kind, tuple((a.strip(), b.strip()) for a, b in links[:LINKS])))
    return found
