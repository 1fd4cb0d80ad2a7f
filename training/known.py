"""Which of the fresh sentences the training data has, exactly or but for a word: by counting, so that nobody reads it.

python -m training.known --corpus FOLDER
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from training import corpus, fresh, mix
from training.evaluate import table

DRAWS, AT_ONCE = 400_000, 4_000  # rows of the mix that are compared, and how many are drawn together
LONG = 5  # words from which on a sentence counts as known where all but one word is
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def known(sentences: Iterable[str], texts: Iterable[str]) -> dict[str, str]:
    """Sentence -> `exactly` or `but for a word`, of those that the texts have.

    Capitals and marks do not count. A word may be another one, left out or added, in sentences of `LONG` words or more.
    """
    whole = {words(text): text for text in sentences}
    gaps: dict[tuple[str, ...], set[str]] = {}
    for key, text in whole.items():
        for gap in _gaps(key) if len(key) >= LONG else ():
            gaps.setdefault(gap, set()).add(text)
    shorter = {key[:i] + key[i + 1 :]: text for key, text in whole.items() if len(key) >= LONG for i in range(len(key))}
    found: dict[str, str] = {}
    for key in {words(text) for text in texts}:
        if key in whole:
            found[whole[key]] = "exactly"
        near = {shorter[key]} if key in shorter else set()
        for i, gap in enumerate(_gaps(key)):
            near |= gaps.get(gap, set())
            without = whole.get(key[:i] + key[i + 1 :])
            if without is not None and len(key) > LONG:
                near.add(without)
        for text in near:
            found.setdefault(text, "but for a word")
    return found


def words(text: str) -> tuple[str, ...]:
    """The words of a text in small letters, without marks."""
    return tuple(_WORD.findall(text.lower()))


def _gaps(key: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words with each of them blanked in turn."""
    for i in range(len(key)):
        yield (*key[:i], "", *key[i + 1 :])


def training_texts(folder: Path) -> Iterator[str]:
    """All English of the train split, and of `DRAWS` rows as the training draws them, whole and by sentence."""
    rows = corpus.pairs(folder, "train", all_rows=True)
    yield from (row.en for row in rows)
    drawn = mix.Mix(rows, np.random.default_rng(0))
    drawn.measured = set()  # what is measured on is left out of the training by its text: here it shall be seen
    for _ in range(DRAWS // AT_ONCE):
        for row in drawn.draw(AT_ONCE):
            yield row.en
            yield from re.split(r"(?<=[.!?]) ", row.en)


def main() -> None:
    """Read the command line and print the sentences that are known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", help="folder of the corpus (default: BARTVIZ_CORPUS)")
    given = parser.parse_args()
    found = fresh.cases()
    met = known((case.en for case in found), training_texts(corpus.folder(given.corpus)))
    print(table(["sentence", "kind", "known"], [[c.en, c.kind, met[c.en]] for c in found if c.en in met]))
    print(f"{len(met)} of {len(found)}")


if __name__ == "__main__":
    main()
