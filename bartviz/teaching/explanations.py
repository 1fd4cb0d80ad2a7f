"""Explanations of the pages at three levels: one file for each page and language, named by the page's word.

The sections of ``heads.en.md`` are ``beginner`` (one idea that can be seen in the picture, no formula),
``intermediate`` (how it works, with formulas), ``expert`` (exact definitions, sources, caveats), ``terms`` (keys of the
glossary, in order of use) and ``code``, which does the same with the library and runs unchanged. Other languages have
the three texts. Each part of the experiments page has its own file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bartviz.teaching import prose

HOME = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The texts in Markdown, in one language; each level adds its own to those below it."""

    beginner: str
    intermediate: str
    expert: str
    terms: tuple[str, ...]
    code: str


def explanation(word: str) -> Explanation:
    """The explanation of a page, or part of a page, in the current language.

    Raises LookupError if there is none.
    """
    if not word.isidentifier() or not (HOME / f"{word}.en.md").is_file():
        raise LookupError(f"Nothing explains {word!r}: write bartviz/teaching/explanations/{word}.en.md.")
    texts = prose.texts(HOME, word)
    return Explanation(
        beginner=texts["beginner"],
        intermediate=texts["intermediate"],
        expert=texts["expert"],
        terms=tuple(texts["terms"].split(", ")),
        code=texts["code"].removeprefix("```python\n").removesuffix("\n```"),
    )
