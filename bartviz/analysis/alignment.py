"""From cross-attention to word links: which source word became which word of the output.

Letters in shapes: Q decoder rows, K source tokens, T output words, S source words. Special tokens, padding and white
space are not words: they are never linked, and their share of the attention is reported.

**Rows and words.** Decoder row t *reads* token t and *predicts* token t + 1. What a row looked at was used to choose
the token that it predicts, so links are named by ``predicts`` by default; some heads look back at the source
word of the token that has just been read, and align only by ``reads``. Words are numbered by the output in both cases.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from bartviz.analysis import sentence_words
from bartviz.analysis.gold_alignment import Gold, Link, Links, crossing, score
from bartviz.analysis.masks import quote
from bartviz.analysis.words import Groups, word_groups, word_labels
from bartviz.arrays import Bools, Floats
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark, plural
from bartviz.record.attention import Attention, Head
from bartviz.record.record import Reading, Record
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["target", "source", "mutual", "union", "grow", "threshold"]
METHODS: tuple[Method, ...] = get_args(Method)
Split = Literal["tokenizer", "spaces"]
SPLITS: tuple[Split, ...] = get_args(Split)
THRESHOLD = 0.2
_NEIGHBOURS = tuple((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))


@dataclass(frozen=True, eq=False)
class Line:
    """The words of one side, counted from 0: their labels, and the token indices of each."""

    labels: tuple[str, ...]
    groups: Groups

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Table:
    """Attention between words. ``name`` is the head, "cross L2H0", or the mean.

    weights (T, S): summed over a source word's tokens, averaged over the rows of an output word; each row sums to 1
    together with ``special`` (T,), its share outside of words. ``has_rows`` (T,): False for a word that no row reads
    (the last word of an output that was cut off), whose row is zero.
    """

    name: str
    reading: Reading
    source: Line
    target: Line
    weights: Floats
    special: Floats
    has_rows: Bools

    @property
    def special_share(self) -> float:
        """The share of all attention of these rows that went to special tokens, 0..1."""
        return float(self.special[self.has_rows].mean()) if self.has_rows.any() else 0.0


def cross_of(record: Record) -> Attention:
    """The record's cross-attention. Raises SettingError, which names what has cross-attention."""
    if record.cross is None:
        raise SettingError(
            later(
                "Word alignment is read from cross-attention, where an output looks at its source, and this model has "
                "none: choose an encoder-decoder model, such as bart-tiny-en-de, t5-small or a Marian model."
            )
        )
    return record.cross


def target_tokens(record: Record) -> Tokens:
    """The tokens whose words are linked: the output, or the decoder's input if the record has no output."""
    return record.output if record.output is not None else cross_of(record).query


def lines(record: Record, split: Split = "tokenizer") -> tuple[Line, Line]:
    """The words of the source and of the output: those of the tokenizer, for which a sign is a word, or what stands
    between ``spaces``, as in texts that were split into words before."""
    sides = (cross_of(record).key, record.source_text), (target_tokens(record), record.target_text)
    source, target = (
        _line(tokens, text) if split == "tokenizer" else _spaced(tokens, text or "") for tokens, text in sides
    )
    return source, target


def _spaced(tokens: Tokens, text: str) -> Line:
    """Every word between spaces, also one without a token: words keep their numbers."""
    found = [(word.start(), word.group()) for word in re.finditer(r"\S+", text)]
    starts = [start for start, _word in found]
    groups: list[list[int]] = [[] for _word in found]
    for token, span in enumerate(tokens.spans):
        if span is None or not (piece := text[slice(*span)]).strip():
            continue
        begin = span[0] + len(piece) - len(piece.lstrip())
        groups[bisect_right(starts, begin) - 1].append(token)
    return Line(tuple(word for _start, word in found), tuple(map(tuple, groups)))


def _line(tokens: Tokens, text: str | None) -> Line:
    groups, labels = word_groups(tokens), word_labels(tokens, text)
    kept = [place for place, group in enumerate(groups) if tokens.words[group[0]] is not None]
    return Line(tuple(labels[place] for place in kept), tuple(groups[place] for place in kept))


def rows_of(record: Record, target: Line, reading: Reading) -> Groups:
    """The decoder rows of each output word: those that predict its tokens, or those that read them."""
    shift = (reading == "reads") - (record.output is None)
    count = cross_of(record).shape[2]
    return tuple(tuple(place + shift for place in group if 0 <= place + shift < count) for group in target.groups)


def mean_of(record: Record, heads: Sequence[Head]) -> Floats:
    """(Q, K) the mean weights of a set of cross-attention heads. Raises SettingError for none, or another kind."""
    cross = cross_of(record)
    if not heads:
        raise SettingError(later("Choose at least one head."))
    if any(head.kind != "cross" for head in heads):
        raise SettingError(later("Only heads of cross-attention link words."))
    total = cross.head(heads[0].layer, heads[0].head).copy()
    for head in heads[1:]:
        total += cross.head(head.layer, head.head)
    return total / np.float32(len(heads))


def name_of(record: Record, heads: Sequence[Head]) -> str:
    """The name of a set of heads: one head, a whole layer, all, or a list."""
    layers, per_layer = cross_of(record).shape[:2]
    if len(heads) == 1:
        return sentence_words.head("cross", heads[0].layer, heads[0].head)
    if len(set(heads)) == layers * per_layer:
        return _("the mean of all {count} cross heads", count=layers * per_layer)
    within = {head.layer for head in heads}
    if len(within) == 1 and len(set(heads)) == per_layer:
        return layer_name(within.pop(), per_layer)
    named = ", ".join([*(head.short for head in heads[:6]), *(["…"] if len(heads) > 6 else [])])
    return _("the mean of {count} cross heads ({heads})", count=len(heads), heads=named)


def layer_name(layer: int, heads: int) -> str:
    """The name of a layer's mean."""
    return _("the mean of the {count} heads of cross layer {layer}", count=heads, layer=layer)


def heads_of(record: Record, layer: int | None = None) -> tuple[Head, ...]:
    """All heads of cross-attention, or those of one layer. Raises SettingError for a layer that is not there."""
    layers, per_layer = cross_of(record).shape[:2]
    if layer is not None and not 0 <= layer < layers:
        raise SettingError(later("There is no cross layer {layer}: choose 0 to {last}.", layer=layer, last=layers - 1))
    chosen = range(layers) if layer is None else [layer]
    return tuple(Head("cross", at, head) for at in chosen for head in range(per_layer))


def table(record: Record, heads: Sequence[Head], *, reading: Reading = "predicts", split: Split = "tokenizer") -> Table:
    """The weights between words of a set of heads: their mean. Raises SettingError."""
    source, target = lines(record, split)
    return merged(record, mean_of(record, heads), source, target, reading=reading, name=name_of(record, heads))


def merged(record: Record, weights: Floats, source: Line, target: Line, *, reading: Reading, name: str = "") -> Table:
    """Weights (Q, K) between tokens -> between words (T, S)."""
    words, has_rows = between(record, weights, source, target, reading=reading)
    special = np.where(has_rows, np.maximum(1 - words.sum(axis=-1), 0), 0).astype(np.float32)
    return Table(name, reading, source, target, words, special, has_rows)


def between(record: Record, weights: Floats, source: Line, target: Line, *, reading: Reading) -> tuple[Floats, Bools]:
    """Weights (..., Q, K) between tokens -> (..., T, S) between words, and (T,) whether a word has a row."""
    rows = rows_of(record, target, reading)
    columns = _sums(weights, source.groups)  # (..., Q, S)
    words = np.zeros((*weights.shape[:-2], len(target), len(source)), np.float32)
    for place, group in enumerate(rows):
        if group:
            words[..., place, :] = columns[..., list(group), :].mean(axis=-2)
    return words, np.array([bool(group) for group in rows], np.bool_)


def _sums(weights: Floats, groups: Groups) -> Floats:
    """(..., Q, K) -> (..., Q, S): the sum over the columns of each group."""
    total = np.zeros((*weights.shape[:-1], weights.shape[-1] + 1), np.float64)
    np.cumsum(weights, axis=-1, out=total[..., 1:])
    starts = [group[0] if group else 0 for group in groups]
    ends = [group[-1] + 1 if group else 0 for group in groups]
    return np.asarray(total[..., ends] - total[..., starts], np.float32)


def links(weights: Floats, method: Method = "mutual", *, threshold: float = THRESHOLD) -> Links:
    """Word links (source word, target word) from ``weights`` (T, S) between words.

    - ``target``: each word of the output to the source word it looks at most; ``source``: each source word to the word
      of the output that looks at it most. Of equal weights the first; a weight of 0 links nothing.
    - ``mutual``: links of both directions (their intersection); ``union``: of either.
    - ``grow``: the mutual links, and those of the union that touch a link and join a word that has none (grow-diag,
      Koehn, Och and Marcu 2003, section 4).
    - ``threshold``: every pair with at least that weight.

    Raises SettingError for another method, or a threshold that is not above 0 and at most 1.
    """
    if method not in METHODS:
        raise SettingError(later("Links are made by {choices}.", choices=choices(METHODS)))
    if method == "threshold":
        if not 0 < threshold <= 1:
            raise SettingError(later("The threshold is above 0 and at most 1."))
        return _pairs(weights >= threshold)
    by_target, by_source = _strongest(weights, 1), _strongest(weights, 0)
    if method == "grow":
        return grown(by_target, by_source)
    sets = {"target": by_target, "source": by_source, "mutual": by_target & by_source, "union": by_target | by_source}
    return sets[method]


def grown(one: Links, other: Links) -> Links:
    """Two alignments, one of each direction, joined by grow-diag: between their intersection and their union."""
    found, union = set(one & other), one | other
    added = True
    while added:
        near = {(i + a, j + b) for i, j in found for a, b in _NEIGHBOURS} & union
        added = False
        for i, j in sorted(near - found):
            if all(i != source for source, _j in found) or all(j != target for _i, target in found):
                found.add((i, j))
                added = True
    return frozenset(found)


def _strongest(weights: Floats, axis: int) -> Links:
    """The largest weight of each row (axis 1) or column (axis 0), where there is one above 0."""
    if weights.size == 0:
        return frozenset()
    chosen = np.zeros(weights.shape, np.bool_)
    np.put_along_axis(chosen, np.expand_dims(weights.argmax(axis=axis), axis), True, axis=axis)
    return _pairs(chosen & (weights > 0))


def _pairs(chosen: Bools) -> Links:
    targets, sources = np.nonzero(chosen)
    return frozenset(zip(sources.tolist(), targets.tolist(), strict=True))


def link_table(shown: Table, found: Iterable[Link], gold: Gold | None = None) -> pd.DataFrame:
    """One line for each link and, with ``gold``, for each missed link: word numbers, words, weight, judgement."""
    import pandas as pd

    linked = frozenset(found)
    every = sorted(linked | (gold.sure if gold is not None else frozenset()), key=lambda link: (link[1], link[0]))
    columns: dict[str, list[object]] = {
        "source word": [i for i, _j in every],
        "source": [shown.source.labels[i] for i, _j in every],
        "target word": [j for _i, j in every],
        "target": [shown.target.labels[j] for _i, j in every],
        "weight": [float(shown.weights[j, i]) for i, j in every],
    }
    if gold is not None:
        columns["judged"] = [_(judge(link, linked, gold)) for link in every]
    return pd.DataFrame(columns)


def judge(link: Link, found: Links, gold: Gold) -> str:
    """In English: right, wrong, missed, or possible and not found or not judged yet, which are no errors."""
    if not gold.judges(link):
        return mark("not judged yet")
    if link in gold.sure:
        return mark("right, sure") if link in found else mark("missed")
    if link in gold.possible:
        return mark("right, possible") if link in found else mark("possible, not found")
    return mark("wrong")


def notice(shown: Table, found: Links, gold: Gold | None = None) -> str:
    """One sentence: how many words are linked, where the word order differs, and the error rate."""
    who = sentence_words.capitalized(shown.name)
    if not shown.source.labels or not shown.target.labels:
        return _("There are only special tokens here: nothing to align.")
    if not found:
        return _("{heads} links no word to another.", heads=who)
    labels = shown.target.labels
    words = {j for j, label in enumerate(labels) if any(map(str.isalnum, label))}  # not a full stop, ...
    words = words or set(range(len(labels)))  # ... unless there is nothing else
    linked = len({j for _i, j in found} & words)
    said = _("{heads} links {linked} of {all} words of the output", heads=who, linked=linked, all=len(words))
    if linked == len(words) > 1:
        said = _("{heads} links all {all} words of the output", heads=who, all=linked)
    if marks := len({j for _i, j in found} - words):
        said = plural("{said} and {count} punctuation mark", "{said} and {count} punctuation marks", marks, said=said)
    also = _order(shown, frozenset((i, j) for i, j in found if j in words))
    if gold is not None:
        judged = score(found, gold)
        counts = {"right": judged.right, "found": judged.found, "missed": judged.missed}
        also = _("measured against the links made by hand, {right} of {found} are right, {missed} missed", **counts)
        if others := len(found) - judged.found:
            also = _(
                "measured against your links, {right} of {found} are right, {missed} missed; {others} not judged yet",
                **counts,
                others=others,
            )
    return f"{said}; {also}." if also else f"{said}."


SAID = 3  # links that a sentence names


def by_hand(shown: Table, found: Links, gold: Gold) -> str:
    """One or two sentences on links made by hand: how many of them are found, and which are not."""
    lacks = sorted(gold.possible - found)
    pairs = [f"{quote(shown.source.labels[i])} – {quote(shown.target.labels[j])}" for i, j in lacks[:SAID]]
    if len(gold.possible) == 1:
        who = sentence_words.capitalized(shown.name)
        if not pairs:
            return _("{heads} has your link.", heads=who)
        return _("{heads} does not have your link, {link}.", heads=who, link=pairs[0])
    said = _(
        "{heads} has {there} of your {count} links.",
        heads=sentence_words.capitalized(shown.name),
        there=len(gold.possible) - len(lacks),
        count=len(gold.possible),
    )
    if not pairs:
        return said
    lacking = _("It does not have {links}.", links=", ".join(pairs))
    return f"{said} {lacking}" if len(lacks) <= SAID else f"{said} {lacking.removesuffix('.')}, …"


def _order(shown: Table, found: Links) -> str:
    """One clause: whether links cross, as they do where the word order differs."""
    crossed = crossing(found) if found else None
    if crossed is not None:
        target, source = quote(shown.target.labels[crossed[1]]), quote(shown.source.labels[crossed[0]])
        return _(
            "links cross where the order of words differs, as with {source} and {target}", target=target, source=source
        )
    return _("no link crosses another: both texts have the same order") if len(found) > 1 else ""
