"""What a term is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One word of the field. ``name`` and ``text`` are messages, looked up when they are shown.

    ``text`` is plain (no Markdown), two sentences at most; ``formula`` is LaTeX or nothing; ``page`` is the word of the
    page that shows the thing best, or nothing.
    """

    name: str
    text: str
    formula: str = ""
    page: str = ""
