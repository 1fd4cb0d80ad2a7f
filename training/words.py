"""The words that are offered as replacements: whole words of the training texts, so that no piece of one is offered.

`python -m training.words --corpus FOLDER --out bartviz/embedded/words` writes `en.txt` and `de.txt`.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from training import corpus

LEAST = 4  # times that a word occurs; below are names and slips
SHARE = 0.05  # of a word's uses: below, it is a quotation in the other language
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LETTERS = frozenset({"a", "A", "I", "O"})  # the words of one letter


def counted(texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs; a word at the beginning of a sentence counts as it is written there."""
    return Counter(word for text in texts for word in _WORD.findall(text) if len(word) > 1 or word in _LETTERS)


def listed(texts: Iterable[str], least: int = LEAST) -> list[str]:
    """The words that occur at least so often, sorted."""
    return sorted(word for word, count in counted(texts).items() if count >= least)


def of_language(known: Iterable[str], own: Counter[str], other: Counter[str]) -> list[str]:
    """Those of the known words that are a language's: with at least a twentieth of their uses in it."""
    return [word for word in known if own[word] >= SHARE * (own[word] + other[word])]


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = list(corpus.pairs(corpus.folder(options.corpus), "train"))
    known = listed(side for row in rows for side in (row.en, row.de))
    english, german = counted(row.en for row in rows), counted(row.de for row in rows)
    options.out.mkdir(exist_ok=True)
    for name, own, other in (("en", english, german), ("de", german, english)):
        words = of_language(known, own, other)
        (options.out / f"{name}.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        print(f"{name}: {len(words):,} words")


if __name__ == "__main__":
    _main()
