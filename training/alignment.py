"""Word alignment read from cross-attention, against alignments made by hand.

A head's weights (rows: German tokens, columns: English tokens) become a table of words: rows of a word's tokens are
averaged, columns summed. Each German word is linked to the English word of most weight; `<s>` and `</s>` stand aside.
Error rate (Och and Ney 2003): 1 - (|A & S| + |A & P|) / (|A| + |S|), with links found A, sure S, possible P (S in it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Link = tuple[int, int]  # (English word, German word)
Floats = NDArray[np.float32]
GOLD_WORD = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
GOLD_FILE = "gold_align.tsv"
LABELLINGS = ("predicts", "reads")


@dataclass(frozen=True)
class Gold:
    """A sentence pair aligned by hand."""

    en: str
    de: str
    sure: frozenset[Link]
    possible: frozenset[Link]  # the sure ones included


def read_gold(path: Path) -> list[Gold]:
    """Rows `en<TAB>de<TAB>links`, a link `i-j` (sure) or `i?j` (possible)."""
    return [parse_gold(*line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines() if line]


def parse_gold(en: str, de: str, links: str) -> Gold:
    """One row of the gold file."""
    sure = frozenset(_link(text, "-") for text in links.split() if "-" in text)
    return Gold(en, de, sure, sure | {_link(text, "?") for text in links.split() if "?" in text})


def error_rate(found: Iterable[frozenset[Link]], gold: Sequence[Gold]) -> float:
    """Alignment error rate over all pairs together: 0 is perfect."""
    hits = total = 0
    for links, known in zip(found, gold, strict=True):
        hits += len(links & known.sure) + len(links & known.possible)
        total += len(links) + len(known.sure)
    return 1.0 - hits / total


def links(weights: Floats) -> frozenset[Link]:
    """Each row's (German word's) column (English word) of most weight, from a (target words, source words) table."""
    return frozenset((int(column), row) for row, column in enumerate(weights.argmax(1)))


def word_table(weights: Floats, rows: Sequence[int | None], columns: Sequence[int | None]) -> Floats:
    """(..., T, S) of tokens as (..., target words, source words): rows averaged, columns summed; None stands aside."""
    down = _indicator(rows)
    mean = down / np.maximum(down.sum(1, keepdims=True), 1)  # a word's rows sum to 1
    return np.asarray(mean @ weights @ _indicator(columns).T, np.float32)


def word_of_token(tokenizer: Any, text: str) -> tuple[list[int], list[int | None]]:
    """Token ids of `text`, specials included, and the gold word that each token belongs to."""
    given = tokenizer(text, return_offsets_mapping=True)
    spans = [match.span() for match in GOLD_WORD.finditer(text)]
    return given["input_ids"], [_word_at(spans, *span) for span in given["offset_mapping"]]


@torch.no_grad()
def tables(model: Any, tokenizer: Any, pair: Gold, labelling: str) -> Floats:
    """Word tables of every head for the German sentence given: (L, H, German words, English words)."""
    source, columns = word_of_token(tokenizer, pair.en)
    target, rows = word_of_token(tokenizer, pair.de)
    inputs = [model.config.decoder_start_token_id, *target[:-1]]  # row t reads inputs[t] and predicts target[t]
    output = model(
        input_ids=torch.tensor([source]),
        decoder_input_ids=torch.tensor([inputs]),
        output_attentions=True,
        use_cache=False,
    )
    weights = torch.cat(output.cross_attentions).numpy()  # (L, H, T, S)
    return word_table(weights, rows if labelling == "predicts" else [None, *rows[:-1]], columns)


def _link(text: str, mark: str) -> Link:
    en, de = text.split(mark)
    return int(en), int(de)


def _indicator(words: Sequence[int | None]) -> Floats:
    """(words, tokens): 1 where a token belongs to a word."""
    count = max((w for w in words if w is not None), default=-1) + 1
    table = np.zeros((count, len(words)), np.float32)
    for token, word in enumerate(words):
        if word is not None:
            table[word, token] = 1.0
    return table


def _word_at(spans: Sequence[tuple[int, int]], start: int, end: int) -> int | None:
    """The word that shares most characters with [start, end); None where it shares none."""
    shared = [min(end, last) - max(start, first) for first, last in spans]
    best = int(np.argmax(shared)) if shared else 0
    return best if shared and shared[best] > 0 else None
