"""What a page explains, at three levels: one file for each page, named by the page's word.

A file holds ``EXPLANATION = Explanation(...)``. Of the experiments page each part has a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The texts are messages in Markdown, looked up when they are shown; each level adds its own to those below it.

    ``beginner``: one idea that can be seen in the picture, no formula. ``intermediate``: how it works, with formulas.
    ``expert``: exact definitions, sources, caveats. ``terms`` are keys of the glossary, in the order they are met.
    ``code`` does the same with the library; it runs as it stands.
    """

    beginner: str
    intermediate: str
    expert: str
    terms: tuple[str, ...] = ()
    code: str = ""


def explanation(word: str) -> Explanation:
    """What the page (or part of a page) of that word explains. Raises LookupError where nothing is written."""
    name = f"{__name__}.{word}"
    if not word.isidentifier() or find_spec(name) is None:
        raise LookupError(f"Nothing explains {word!r}: write bartviz/ui/explanations/{word}.py.")
    found: Explanation = import_module(name).EXPLANATION
    return found
