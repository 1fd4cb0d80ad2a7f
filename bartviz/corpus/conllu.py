"""Trees of words, read from CoNLL-U, and the tokens that their words are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.errors import TextError
from bartviz.text.clean import clean
from bartviz.text.tokens import Tokens

Arc = tuple[int, int, int, str]  # where a word begins and ends in the text, the place of its head (-1: root), relation
Tree = tuple[Arc, ...]
_FIELDS = 10
_DIGITS = 6  # of the number of a word
_SIGN = "\x1f"  # between the parts of a word, which have no control characters


@dataclass(frozen=True)
class _Sentence:
    line: int
    comments: tuple[str, ...]
    rows: tuple[Sequence[str], ...]


def sentences(stream: Iterable[str]) -> Iterator[tuple[int, dict[str, str] | TextError]]:
    """The sentences of a CoNLL-U file: the line of each, its text, and its words, forms, heads and relations as
    ``placed`` reads them."""
    for sentence in _blocks(stream):
        try:
            yield sentence.line, _texts(sentence)
        except TextError as error:
            yield sentence.line, error


def _blocks(stream: Iterable[str]) -> Iterator[_Sentence]:
    comments: list[str] = []
    rows: list[Sequence[str]] = []
    first = 0
    for number, line in enumerate(stream, start=1):
        stripped = line.rstrip("\r\n")
        first = first or (number if stripped else 0)
        if stripped.startswith("#"):
            comments.append(stripped)
        elif stripped:
            rows.append(stripped.split("\t"))
        elif first:
            yield _Sentence(first, tuple(comments), tuple(rows))
            comments, rows, first = [], [], 0
    if first:
        yield _Sentence(first, tuple(comments), tuple(rows))


def _texts(sentence: _Sentence) -> dict[str, str]:
    """Raises TextError for a sentence that is not CoNLL-U."""
    if any(len(row) != _FIELDS or any(_SIGN in cell for cell in row) for row in sentence.rows):
        raise TextError("It is no CoNLL-U: a word has ten fields with tabs between them.")
    surfaces: list[tuple[str, int]] = []  # form, and how many words it is written for
    words: list[tuple[str, str, str]] = []  # number, head, relation
    covered = 0
    for row in sentence.rows:
        number, form = row[0], row[1]
        if "." in number:  # an empty node is not written
            continue
        first, dash, last = number.partition("-")
        last = last if dash else first
        if not all(part.isdecimal() and len(part) <= _DIGITS for part in (first, last)) or int(last) < int(first):
            raise TextError("It is no CoNLL-U: the first field numbers the words.")
        if dash:
            surfaces.append((form, int(last) - int(first) + 1))
            covered = int(last)
            continue
        if int(number) > covered:
            surfaces.append((form, 1))
        words.append((number, row[6], row[7]))
    if not words:
        raise TextError("It has no words.")
    numbers = {number: place for place, (number, _head, _relation) in enumerate(words)} | {"0": -1}
    if any(head not in numbers for _number, head, _relation in words):
        raise TextError("It is no CoNLL-U: the head of a word is none of the sentence.")
    if sum(count for _form, count in surfaces) != len(words):
        raise TextError("It is no CoNLL-U: the words of a range are not there.")
    said = (line.partition("=")[2].strip() for line in sentence.comments if line.partition("=")[0].strip() == "# text")
    forms = [form for form, _count in surfaces]
    text = next(said, "") or " ".join(forms)
    if len(words) > len(text):
        raise TextError("It has more words than letters.")
    tree = [form for form, count in surfaces for _ in range(count)]
    repeated = [place for _form, count in surfaces for place in range(count)]
    lines = [
        _SIGN.join((form, str(place), str(numbers[head]), relation))
        for form, place, (_number, head, relation) in zip(tree, repeated, words, strict=True)
    ]
    return {"text": text, "tree": "\n".join(lines)}


def placed(text: str, tree: str) -> Tree:
    """The words of ``sentences`` where they stand in the text, which has been cleaned. Raises TextError."""
    arcs: list[Arc] = []
    start = stop = 0
    for line in tree.split("\n") if tree else ():
        form, place, head, relation = line.split(_SIGN)
        if place == "0":  # else another word of the same form, such as the article in "im"
            written = clean(form).text
            start = text.find(written, stop)
            if start < 0 or text[stop:start].strip():
                raise TextError("Its words are not those of its text.")
            stop = start + len(written)
        arcs.append((start, stop, int(head), relation.partition(":")[0]))
    return tuple(arcs)


def word_tokens(tree: Tree, tokens: Tokens) -> NDArray[np.bool_]:
    """(W, n) which tokens each word of the tree is made of."""
    spans = [
        (-1, -1) if span is None or segment else span
        for span, segment in zip(tokens.spans, tokens.segments, strict=True)
    ]
    first, last = (np.array(ends) for ends in zip(*spans, strict=True))
    starts, stops = (np.array([arc[place] for arc in tree])[:, None] for place in (0, 1))
    found: NDArray[np.bool_] = (first < stops) & (last > starts)
    return found
