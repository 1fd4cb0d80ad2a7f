"""Terms of the field, each with a short definition: ``glossary()["softmax"].text``.

Definitions are in ``glossary.en.toml``, by the names that explanations use, and in one file for each other language,
where each entry contains the digest of the English text that it translates.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bartviz.language import PSEUDO, current

HOME = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term, in one language.

    ``text`` is plain (no Markdown), two sentences at most; ``formula`` is LaTeX or empty; ``page`` is the word of the
    page that shows it best.
    """

    name: str
    text: str
    page: str
    formula: str = ""


def glossary() -> Mapping[str, Term]:
    """Every term by its English name, in the current language; terms without a translation are in English."""
    return _terms(current())


def entries(language: str) -> dict[str, dict[str, str]]:
    """The entries of a language's file: texts with ``formula`` and ``page``, or with ``name`` and ``of``."""
    file = HOME / f"glossary.{language}.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


@cache
def _terms(language: str) -> Mapping[str, Term]:
    terms = {name: Term(name=name, **entry) for name, entry in entries("en").items()}
    if language == PSEUDO:
        return {key: replace(term, name=f"⟦{key}⟧", text=f"⟦{term.text}⟧") for key, term in terms.items()}
    other = entries(language) if language != "en" else {}
    for key in other.keys() & terms.keys():
        terms[key] = replace(terms[key], name=other[key]["name"], text=other[key]["text"])
    return terms
