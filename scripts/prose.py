"""Which prose lacks a translation, and which translation is older than its English: ``python -m scripts.prose``.

Prose is in the folders of the features, a file for each language. A translated section keeps the
digest of the English that it translates; the digest to write after bringing one up to date is printed here.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bartviz.language import LANGUAGES
from bartviz.teaching import glossary
from bartviz.teaching.prose import SAME, Section, digest, sections

HOME = Path(glossary.__file__).parents[1]


def written(language: str) -> dict[tuple[str, str], Section]:
    """Every section of a language by file and name, such as ``("features/heads/explanation", "expert")``."""
    found = {
        (str(file.relative_to(HOME)).removesuffix(f".{language}.md"), name): section
        for file in sorted(HOME.rglob(f"*.{language}.md"))
        for name, section in sections(file).items()
    }
    terms = glossary.entries(language)
    return found | {("glossary", name): Section(term["text"], term.get("of", "")) for name, term in terms.items()}


def faults(english: dict[tuple[str, str], Section], other: dict[tuple[str, str], Section]) -> list[str]:
    """The faults of ``other``: headings that are missing, older than the English, cut otherwise, or that translate
    nothing.
    """
    found = []
    for (file, name), section in english.items():
        translation, now = other.get((file, name)), digest(section.text)
        if name in SAME:
            continue
        if translation is None:
            found.append(f"{file}: {name} is missing; it will be of {now}")
        elif translation.of != now:
            found.append(f"{file}: {name} is older than its English: of {translation.of or 'nothing'}, now {now}")
        elif translation.text.count("\n\n") != section.text.count("\n\n"):
            found.append(f"{file}: {name} has other paragraphs than its English")
    return found + [f"{file}: {name} translates nothing" for file, name in other if (file, name) not in english]


def _main() -> int:
    english = written("en")
    found = [f"{code}: {fault}" for code in LANGUAGES if code != "en" for fault in faults(english, written(code))]
    print("\n".join(found) or f"{len(english)} sections, each translated and up to date.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(_main())
