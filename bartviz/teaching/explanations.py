"""Explanations of the pages at three levels: one file for each page and language, in the folder of its feature.

The sections of ``explanation.en.md`` are ``beginner`` (one idea that can be seen in the picture, no formula),
``intermediate`` (how it works, with formulas), ``expert`` (exact definitions, sources, caveats), ``terms`` (keys of the
glossary, in order of use) and ``code``, which does the same with the library and runs unchanged. Other languages have
the three texts. A part of a page has its own file: ``explanation_edit.en.md`` explains "edit".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bartviz.teaching import prose

FEATURES = Path(__file__).parents[1] / "features"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The texts in Markdown, in one language; each level adds its own to those below it."""

    beginner: str
    intermediate: str
    expert: str
    terms: tuple[str, ...]
    code: str


@cache
def files() -> dict[str, Path]:
    """The subjects of the explanations: the word of a page, or of a part of one, and its file in English."""
    found = {}
    for file in sorted(FEATURES.glob("*/explanation*.en.md")):
        part = file.name.removesuffix(".en.md").removeprefix("explanation").removeprefix("_")
        found[part or file.parent.name] = file
    return found


def parts(page: str) -> list[str]:
    """The words of all that is explained on a page, itself first."""
    return [word for word, file in files().items() if file.parent.name == page]


def explanation(word: str) -> Explanation:
    """The explanation of a page, or part of a page, in the current language.

    Raises LookupError if there is none.
    """
    file = files().get(word)
    if file is None:
        raise LookupError(f"Nothing explains {word!r}: write bartviz/features/{word}/explanation.en.md.")
    texts = prose.texts(file.parent, file.name.removesuffix(".en.md"))
    return Explanation(
        beginner=texts["beginner"],
        intermediate=texts["intermediate"],
        expert=texts["expert"],
        terms=tuple(texts["terms"].split(", ")),
        code=texts["code"].removeprefix("```python\n").removesuffix("\n```"),
    )
