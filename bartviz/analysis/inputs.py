"""The input of the first layer: the vectors that are summed for each token.

Letters in shapes: n tokens, e width of the embeddings, w width of the model (w = e but for ELECTRA and ALBERT), P rows
of the position table, D shifts. NumPy alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from bartviz.analysis.positions import Floats
from bartviz.arrays import Bools, Ints
from bartviz.language import _, mark, plural
from bartviz.text.labels import CONTINUES
from bartviz.text.tokens import Tokens

LIMIT = 1e-5  # how far the sum may be from the network's own first hidden state
Stack = Literal["encoder", "decoder"]
PARTS = (mark("token"), mark("position"), mark("segment"))


@dataclass(frozen=True)
class Inputs:
    """The embeddings of one text, from the model's matrices.

    ``parts``: token, position, segment, as far as the model has them, (n, e) each; the token part is scaled already.
    ``rows`` (n,): the rows of the position table that were read, or None. ``summed`` (n, e): their sum. ``normed``
    (n, e): after LayerNorm, None where there is none. ``entered`` (n, w): what the first layer reads, after a
    projection where the model has one. ``own`` (n, w): the network's own first hidden state, from a pass of its own.
    ``table`` (P, e): the position table from the row of the first position on, None where the model has none.
    """

    model: str
    family: str
    stack: Stack
    tokens: Tokens
    parts: Mapping[str, Floats]
    scale: float
    rows: Ints | None
    summed: Floats
    normed: Floats | None
    entered: Floats
    own: Floats
    table: Floats | None

    @property
    def error(self) -> float:
        """The largest difference between the sum computed here and the network's first hidden state."""
        return float(np.abs(self.entered - self.own).max(initial=0.0))

    @property
    def passed(self) -> bool:
        return self.error <= LIMIT

    @property
    def nbytes(self) -> int:
        arrays = [*self.parts.values(), self.summed, self.normed, self.entered, self.own, self.table]
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def stages(self) -> dict[str, Floats]:
        """All vectors by name, in the order of computation."""
        found = {name: self.parts[name] for name in PARTS if name in self.parts} | {mark("sum"): self.summed}
        found |= {} if self.normed is None else {mark("after LayerNorm"): self.normed}
        return found | ({mark("projected"): self.entered} if self.entered.shape != self.summed.shape else {})


def norms(one: Inputs) -> dict[str, Floats]:
    """The lengths of each part, of the sum, and of what follows it: (n,) each."""
    return {name: np.linalg.norm(part.astype(float), axis=-1) for name, part in one.stages.items()}


def shares(one: Inputs) -> dict[str, Floats]:
    """The share of each part in the sum, (n,) each: part · sum / |sum|². They add up to 1; a share may be negative."""
    whole = one.summed.astype(float)
    square = np.maximum((whole**2).sum(-1), np.finfo(float).tiny)
    return {name: (part.astype(float) * whole).sum(-1) / square for name, part in one.parts.items()}


def sentence(one: Inputs) -> str:
    """A sentence that points out what is notable in this text."""
    if "position" not in one.parts:
        return _(
            "{model} adds nothing to its token embeddings: only its attention depends on positions.", model=one.model
        )
    inside = ~one.tokens.special if (~one.tokens.special).any() else np.ones(len(one.tokens), np.bool_)
    lengths, part = norms(one), shares(one)
    ratio = float(lengths["token"][inside].mean() / max(lengths["position"][inside].mean(), 1e-12))
    row = int(np.flatnonzero(inside)[part["position"][inside].argmax()])
    return _(
        "Special tokens aside, a token's vector is on average {ratio} times as long as its position's. The position "
        "adds most to “{token}”: {share:.0%} of their sum, measured along it.",
        ratio=f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}",
        token=one.tokens.labels[row],
        share=part["position"][row],
    )


def formula(one: Inputs) -> str:
    """The sum in words."""
    scaled = "" if one.scale == 1 else f"{one.scale:.4g} × "
    terms = [scaled + _(PARTS[0]), *(_(name) for name in PARTS[1:] if name in one.parts)]
    said = " + ".join(terms)
    if one.normed is not None:
        said = _("{said}, then LayerNorm", said=said)
    if one.entered.shape != one.summed.shape:
        said = _("{said}, then projection to {width}", said=said, width=one.entered.shape[1])
    return said


def table(one: Inputs) -> pd.DataFrame:
    """One line for each token: id, position row, segment, lengths of the parts, shares in the sum."""
    given: dict[str, Any] = {"token": one.tokens.labels, "id": one.tokens.ids}
    if one.rows is not None:
        given["position row"] = one.rows
    if "segment" in one.parts:
        given["segment"] = one.tokens.segments
    given |= {f"length: {name}": value for name, value in norms(one).items()}
    return pd.DataFrame(given | {f"share: {name}": value for name, value in shares(one).items()})


def arrays(one: Inputs) -> dict[str, Any]:
    """For NPZ: every part (n, e), the sum, what entered the first layer, the network's own, the position table."""
    found: dict[str, Any] = {name.replace(" ", "_"): part for name, part in one.stages.items()}
    found |= {"entered": one.entered, "own": one.own, "ids": one.tokens.ids}
    return found | ({} if one.table is None else {"positions": one.table})


def pieces(tokens: Tokens, roles: Sequence[str | None] = ()) -> pd.DataFrame:
    """The tokens as a table, from text to id: one line each. ``roles``: whose message they belong to, of a chat."""
    return pd.DataFrame(
        {
            "position": np.arange(len(tokens)),
            "token": tokens.labels,
            "piece in the vocabulary": tokens.pieces,
            "id": tokens.ids,
            "special": tokens.special,
            "word": pd.array(list(tokens.words), dtype="Int64"),
            "segment": tokens.segments,
            **({"role": list(roles)} if any(roles) else {}),
            "from": pd.array([None if span is None else span[0] for span in tokens.spans], dtype="Int64"),
            "to": pd.array([None if span is None else span[1] for span in tokens.spans], dtype="Int64"),
        }
    )


def pieces_of_words(tokens: Tokens) -> Counter[int]:
    """How many pieces each word has, by its number; punctuation marks are words here, special tokens are not."""
    inside = [word for word, special in zip(tokens.words, tokens.special, strict=True) if not special]
    return Counter(word for word in inside if word is not None)


def pieces_sentence(tokens: Tokens) -> str:
    """One sentence: for what the model gets how many numbers, which add up; then the word that has the most."""
    counts, special = pieces_of_words(tokens), int(tokens.special.sum())
    added = plural("{count} for a special token", "{count} for special tokens", special)
    if not counts:
        return _("The model gets {ids} ids: {special}.", ids=len(tokens), special=added)
    filled: dict[str, object] = {"ids": len(tokens), "special": added if special else _("none for special tokens")}
    longest, inside = most_cut(tokens), len(tokens) - special
    if longest is None:
        whole = plural("{count} for a word or punctuation mark", "{count} for words and punctuation marks", inside)
        return _(
            "The model gets {ids} numbers and no letters: {whole}, {special}. No word had to be split.",
            whole=whole,
            **filled,
        )
    cut = plural(
        "{pieces} for the pieces of {count} word",
        "{pieces} for the pieces of {count} words and punctuation marks",
        len(counts),
        pieces=inside,
    )
    return _(
        "The model gets {ids} numbers and no letters: {cut}, {special}. “{word}” alone is cut into {pieces}.",
        cut=cut,
        word=longest[0],
        pieces=longest[1],
        **filled,
    )


def most_cut(tokens: Tokens) -> tuple[str, int] | None:
    """The word that is cut into most pieces, and how many; None where no word is cut."""
    return max(cut_words(tokens), key=lambda found: found[1], default=None)


def cut_words(tokens: Tokens) -> list[tuple[str, int]]:
    """The words that are cut into pieces, in their order, and into how many."""
    found = []
    for word, count in pieces_of_words(tokens).items():
        labels = [label for label, one in zip(tokens.labels, tokens.words, strict=True) if one == word]
        if count > 1:
            found.append(("".join(label.removeprefix(CONTINUES) for label in labels), count))
    return found


def marks_sentence(texts: Sequence[Tokens]) -> str:
    """What the special tokens around these texts are; empty where one has others, or none."""
    found: dict[str, None] = {}
    for tokens in texts:
        at = tokens.special.nonzero()[0].tolist()
        if len(at) != 2 or at != [0, len(tokens) - 1]:
            return ""
        found |= dict.fromkeys(tokens.labels[place] for place in at)
    *names, last = found or [""]
    if not names:
        return ""
    quoted = ", ".join(f"“{name}”" for name in names)
    return _("{names} and “{last}” mark where the text begins and ends.", names=quoted, last=last)


@dataclass(frozen=True)
class Split:
    """A text as one tokenizer splits it; ``unknown`` (n,) marks tokens that are not in the vocabulary."""

    model: str
    how: str
    vocabulary: int
    tokens: Tokens
    unknown: Bools

    @property
    def count(self) -> int:
        """The tokens of the text, special tokens not counted."""
        return int((~self.tokens.special).sum())


def splits(found: tuple[Split, ...]) -> pd.DataFrame:
    """One line for each tokenizer: how many tokens, how many of them unknown, how large the vocabulary is."""
    return pd.DataFrame(
        {
            "model": [one.model for one in found],
            "cuts into": [one.how for one in found],
            "tokens": [one.count for one in found],
            "unknown": [int(one.unknown.sum()) for one in found],
            "special": [int(one.tokens.special.sum()) for one in found],
            "vocabulary": [one.vocabulary for one in found],
        }
    )
