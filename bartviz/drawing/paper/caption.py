"""The caption of a picture: what is drawn, of which model and text, how rows are named, and what made it."""

from __future__ import annotations

from bartviz.analysis import sentence_words
from bartviz.language import _
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.text.labels import visible
from bartviz.version import __version__

LONGEST = 240  # characters of a text in a caption


def caption(record: Record, name: str, *notes: str) -> str:
    """Sentences; of a text over 240 characters the first 240, and how many it has."""
    written = " → ".join(_quoted(text) for text in (*record.texts, record.target_text) if text)
    sentences = [
        _(
            "{name} of {model}; layers and heads are numbered from 0.",
            name=sentence_words.capitalized(name),
            model=visible(record.model.name),
        ),
        *notes,
        _("Drawn by bartviz {version}.", version=__version__),
        _("Text: {text}", text=written),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def reading_note(kind: Kind, predicts: bool) -> str:
    """How rows are named: by the token that a decoder row predicts, or the one that it reads."""
    if kind == "encoder":
        return _("A row attends to columns.")
    if predicts:
        return _("A row attends to columns, and is named by the token that it predicts.")
    return _("A row attends to columns, and is named by the token that it reads.")


def _quoted(text: str) -> str:
    whole = visible(" ".join(text.split()))
    if len(whole) > LONGEST:
        return _("“{text}…” ({count} characters)", text=whole[:LONGEST].rstrip(), count=len(text))
    return f"“{whole}”"
