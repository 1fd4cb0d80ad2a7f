"""Prose in files, one for each language: ``heads.en.md`` and ``heads.ko.md``.

A file has sections, each under a heading such as ``## beginner``. The heading of a translated section also contains the
digest of the English text that it translates, ``## beginner <!-- of 1a2b3c4d -->``: ``python -m scripts.prose`` reports
translations of an older text. A section that a language lacks is shown in English.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bartviz.language import PSEUDO, current

SAME = ("terms", "code")  # sections that every language has in common
_HEADING = re.compile(r"^## (\w+)(?: <!-- of (\w+) -->)?\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a file. ``of``: the digest of the English that it translates; in English there is none."""

    text: str
    of: str = ""


def sections(file: Path) -> dict[str, Section]:
    """The sections of a file by name, in order. Raises ValueError for a section that appears twice."""
    before, *parts = _HEADING.split(file.read_text("utf-8"))
    found = {name: Section(text.strip(), of or "") for name, of, text in zip(*[iter(parts)] * 3, strict=True)}
    if before.strip() or 3 * len(found) != len(parts):
        raise ValueError(f"{file.name} has a section twice, or text above its first heading.")
    return found


def texts(folder: Path, name: str) -> Mapping[str, str]:
    """The sections of ``name`` in the current language; raises FileNotFoundError."""
    found = _read(folder, name, language := current())
    return {word: text if word in SAME else _shown(text, language) for word, text in found.items()}


def paragraphs(folder: Path, name: str, section: str) -> list[str]:
    """A section's paragraphs in the current language, each without its line breaks."""
    parts = _read(folder, name, language := current())[section].split("\n\n")
    return [_shown(" ".join(part.splitlines()), language) for part in parts]


@cache
def _read(folder: Path, name: str, language: str) -> Mapping[str, str]:
    english = sections(folder / f"{name}.en.md")
    file = folder / f"{name}.{language}.md"
    other = sections(file) if file.is_file() else {}
    return {word: section.text for word, section in (english | other).items()}


def _shown(text: str, language: str) -> str:
    return f"⟦{text}⟧" if language == PSEUDO else text


def digest(english: str) -> str:
    """The digest of an English text, which its translation contains: eight characters; line breaks do not count."""
    return hashlib.sha256(" ".join(english.split()).encode()).hexdigest()[:8]
