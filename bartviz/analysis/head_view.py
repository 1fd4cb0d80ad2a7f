"""The weights of one head, or the mean of a layer or of all heads: by tokens or words, with or without sinks.

Shapes: Q query rows, K key columns; after merging into words and hiding columns Q' and K'. Rows attend to columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import sentence_words
from bartviz.analysis.masks import listed, no_row, quote
from bartviz.analysis.words import Groups, Merged, merge_words, pieces_of
from bartviz.arrays import Bools, Floats
from bartviz.errors import SettingError
from bartviz.language import _, later, mark
from bartviz.record.attention import Attention, Kind
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

Column = TypeVar("Column", str, tuple[int, ...])
_ENDS = re.compile(r"[.!?…。！？｡؟۔।]+")  # punctuation that ends a sentence
LINKS = 2  # how many of the strongest links a sentence names
STRIKING = 0.2  # the share of attention above which a direction is named
FAINT = 0.005  # a link below this is not named: it would read 0.00
MOST = 0.5  # a direction with more than this share of the attention is said before the links


@dataclass(frozen=True, eq=False)
class View:
    """Weights as they are shown. ``name`` is the head, "encoder L1H3", or the mean.

    weights (Q', K'), mask (Q', K') True where a row may look, ``query_special`` (Q',), ``key_special`` (K',);
    ``query_groups`` and ``key_groups`` are the tokens of each row and column. ``hidden`` (Q',) is the share of each row
    that went to ``hidden_labels``, columns that are left out; with ``renormalised`` rows that have something left sum
    to 1 again. ``predicts``: rows are named by the token that they predict, the one after the token that they read.
    ``pieces``: some labels are pieces of words.
    """

    name: str
    kind: Kind
    weights: Floats
    mask: Bools
    query_labels: tuple[str, ...]
    key_labels: tuple[str, ...]
    query_special: Bools
    key_special: Bools
    query_groups: Groups
    key_groups: Groups
    hidden: Floats
    hidden_labels: tuple[str, ...]
    renormalised: bool
    predicts: bool = False
    pieces: bool = False

    @property
    def has_choice(self) -> Bools:
        """(Q',) True for rows with a choice: at least two visible keys."""
        return np.asarray(self.mask.sum(axis=1) > 1, np.bool_)

    @property
    def hidden_share(self) -> float:
        """The share of all attention that went to the hidden columns, 0..1."""
        rows = self.mask.any(axis=1) | (self.hidden > 0)
        return float(self.hidden[rows].mean()) if rows.any() else 0.0


def view(
    attention: Attention,
    layer: int | None = None,
    head: int | None = None,
    *,
    query: Tokens | None = None,
    words: bool = False,
    hide_sinks: bool = False,
    renormalise: bool = False,
) -> View:
    """The weights of a head; without ``head`` the mean over a layer's heads, without ``layer`` over all heads.

    ``query`` replaces the labels of rows (by what they predict); ``words`` merges pieces: summed over keys, averaged
    over queries; ``hide_sinks`` leaves out the columns of ``sinks``. Raises SettingError for a layer or head that is
    not there.
    """
    rows, keys = query or attention.query, attention.key
    merged = _merge(mean(attention, layer, head), rows, keys, words)
    allowed = attention.mask if layer is None else attention.allowed(layer)
    mask = _merge(allowed.astype(np.float32), rows, keys, words).weights > 0
    hidden = _any(sinks(attention), merged.key_groups)  # (K',)
    kept = ~hidden if hide_sinks and not hidden.all() else np.ones_like(hidden)
    shown, share = merged.weights[:, kept], merged.weights[:, ~kept].sum(axis=1)
    if renormalise:
        shown = shown / np.maximum(shown.sum(axis=1, keepdims=True), np.float32(1e-9))
    return View(
        name(attention, layer, head),
        attention.kind,
        shown.astype(np.float32),
        mask[:, kept],
        merged.query_labels,
        _at(merged.key_labels, kept),
        _any(rows.special, merged.query_groups),
        _any(keys.special, merged.key_groups)[kept],
        merged.query_groups,
        _at(merged.key_groups, kept),
        share.astype(np.float32),
        _at(merged.key_labels, ~kept),
        renormalise,
        predicts=attention.kind != "encoder" and rows is not attention.query,
        pieces=not words and any(map(pieces_of, (rows, keys))),
    )


def _merge(weights: Floats, query: Tokens, key: Tokens, words: bool) -> Merged:
    """Weights between words, or unchanged with each token as its own group."""
    if words:
        return merge_words(weights, query, key)
    rows, columns = (tuple((place,) for place in range(len(tokens))) for tokens in (query, key))
    return Merged(weights, query.labels, key.labels, rows, columns)


def _any(flags: Bools, groups: Groups) -> Bools:
    """(groups,) True where any token of the group is flagged."""
    return np.logical_or.reduceat(flags, [group[0] for group in groups])


def mean(attention: Attention, layer: int | None = None, head: int | None = None) -> Floats:
    """(Q, K) weights of one head, or their mean over a layer or all layers. Raises SettingError."""
    if layer is None:
        if head is not None:
            raise SettingError(later("A head belongs to a layer: choose the layer too."))
        layers = [attention.layer(index).mean(axis=0) for index in range(attention.shape[0])]
        return np.asarray(np.mean(layers, axis=0), np.float32)
    if head is None:
        return np.asarray(attention.layer(layer).mean(axis=0), np.float32)
    return attention.head(layer, head)


def name(attention: Attention, layer: int | None = None, head: int | None = None) -> str:
    """The name of the head or mean that is shown."""
    layers, heads = attention.shape[:2]
    kind = sentence_words.kind(attention.kind)
    if layer is None:
        return _("mean of all {count} {kind} heads", count=layers * heads, kind=kind)
    if head is None:
        return _("mean of the {count} heads of {kind} layer {layer}", count=heads, kind=kind, layer=layer)
    return sentence_words.head(attention.kind, layer, head)


def sinks(attention: Attention) -> Bools:
    """(K,) tokens that attract attention without meaning: special ones, ends of sentences, a decoder's first token.

    Clark et al. 2019, section 3.2 (delimiters); Xiao et al. 2024, section 3.1 (the first token of a causal model).
    """
    found = attention.key.special | np.array([_ENDS.fullmatch(label) is not None for label in attention.key.labels])
    if attention.kind == "decoder":
        found[0] = True
    return np.asarray(found, np.bool_)


def _at(columns: Sequence[Column], kept: Bools) -> tuple[Column, ...]:
    return tuple(column for column, keep in zip(columns, kept, strict=True) if keep)


def hidden_note(shown: View) -> str:
    """One sentence: the share of the hidden columns, and whether rows still sum to 1; empty if none is hidden."""
    if not shown.hidden_labels:
        return ""
    columns = list(dict.fromkeys(shown.hidden_labels))
    values = {"share": shown.hidden_share, "columns": listed(columns, range(len(columns)))}
    if shown.renormalised:
        return _("{share:.0%} of the attention went to {columns}, hidden; each row is renormalised.", **values)
    return _("{share:.0%} of the attention went to {columns}, hidden; rows do not sum to 1 any more.", **values)


def plainly(shown: View, linked: View | None = None) -> str:
    """What ``notice`` says first, with one number: where most of the attention goes, or the strongest link."""
    name, where, strongest = sentence_words.capitalized(shown.name), directions(shown), links(linked or shown)
    if where and where[0][1] > MOST:
        return _("{head}: most of it, {share:.0%}, goes to {where}.", head=name, share=where[0][1], where=where[0][0])
    if not strongest:
        return notice(shown)
    query, key, weight = strongest[0]
    link = (
        mark("{head}: the strongest link between words and pieces of words is from {query} to {key} ({weight:%}).")
        if (linked or shown).pieces
        else mark("{head}: the strongest link between words is from {query} to {key} ({weight:%}).")
    )
    return _(link, head=name, query=quote(query), key=quote(key), weight=weight)


def of_habit(name: str, habit: str) -> str:
    """What a head that has a habit does, in words: for who does not know the short names. The sentence names no row, as
    another one may be framed in the picture."""
    return _("{head} {habit}.", head=name, habit=habit)


def notice(shown: View, linked: View | None = None) -> str:
    """One sentence computed for this text: the strongest links among words, and where most of the attention goes.

    ``linked``: the same between whole words, where ``shown`` is between pieces of them.
    """
    named = [
        _("{query} to {key} ({weight:.2f})", query=quote(query), key=quote(key), weight=weight)
        for query, key, weight in links(linked or shown)
    ]
    both = _("{one} and {other}", one=named[0], other=named[1]) if len(named) == LINKS else "".join(named)
    among = (
        mark("strongest between words and pieces of words: {links}")
        if (linked or shown).pieces
        else mark("strongest between words: {links}")
    )
    parts = [_(among, links=both)] if named else []
    where = directions(shown)
    said = [
        _("{share:.0%} goes to {where} (if spread evenly, {even:.0%})", where=to, share=had, even=even)
        for to, had, even in where
    ]
    parts = [*said, *parts] if where and where[0][1] > MOST else [*parts, *said]
    if shown.hidden_labels and not shown.renormalised:
        parts.append(_("{share:.0%} to hidden columns", share=shown.hidden_share))
    nothing = _("no link between words") if shown.has_choice.any() else _("no row has a choice")
    return f"{sentence_words.capitalized(shown.name)}: {'; '.join(parts) or nothing}."


def links(shown: View) -> list[tuple[str, str, float]]:
    """The strongest links (row, column, weight), at most one per row, without special tokens, rows without a choice,
    and what looks at itself, which links nothing."""
    open_rows = shown.has_choice & ~shown.query_special
    weights = np.where(open_rows[:, None] & ~shown.key_special, shown.weights, -1.0)  # (Q', K')
    if shown.kind != "cross" and weights.shape[0] == weights.shape[1]:
        np.fill_diagonal(weights, -1.0)
    if weights.size == 0:
        return []
    best = weights.argmax(axis=1)  # (Q',)
    rows = np.argsort(-weights.max(axis=1), kind="stable")[:LINKS]
    return [
        (shown.query_labels[row], shown.key_labels[best[row]], float(weights[row, best[row]]))
        for row in rows.tolist()
        if weights[row, best[row]] >= FAINT
    ]


def directions(shown: View) -> list[tuple[str, float, float]]:
    """(direction, its share of the attention, the share with even weights), for striking shares.

    "The previous token", "the next token", "the token itself" for self-attention without hidden columns; "special
    tokens" always. Means over the rows that have a choice.
    """
    rows = shown.has_choice
    if not rows.any():
        return []
    even = shown.mask / np.maximum(shown.mask.sum(axis=1, keepdims=True), 1)  # (Q', K')
    found = [(_("special tokens"), np.broadcast_to(shown.key_special, shown.mask.shape))]
    if shown.kind != "cross" and shown.mask.shape[0] == shown.mask.shape[1]:
        offset = np.arange(shown.mask.shape[1])[None, :] - np.arange(shown.mask.shape[0])[:, None]
        names = {-1: _("the previous token"), 1: _("the next token"), 0: _("the token itself")}
        if shown.predicts:  # row t is named by token t + 1
            names = {-1: _("the token two before"), 0: _("the token before")}
        found += [(where, offset == step) for step, where in names.items()]
    shares = [
        (where, float((shown.weights * cells)[rows].sum(axis=1).mean()), float((even * cells)[rows].sum(axis=1).mean()))
        for where, cells in found
    ]
    return [(where, share, chance) for where, share, chance in shares if share >= max(STRIKING, 1.5 * chance)]


def row_table(shown: View, row: int) -> pd.DataFrame:
    """The numbers of one row: position, key, weight, whether it is masked. Raises SettingError."""
    import pandas as pd

    if not 0 <= row < len(shown.query_labels):
        raise no_row(row, len(shown.query_labels))
    return pd.DataFrame(
        {
            "position": range(len(shown.key_labels)),
            "key": list(shown.key_labels),
            "weight": shown.weights[row],
            "masked": ~shown.mask[row],
        }
    )


def table(shown: View) -> pd.DataFrame:
    """All numbers: one line for each row, one column for each key, named by position and label."""
    import pandas as pd

    columns = [f"{position} {label}" for position, label in enumerate(shown.key_labels)]
    frame = pd.DataFrame(shown.weights, columns=columns)
    frame.insert(0, "query", list(shown.query_labels))
    return frame


def arrays(
    attention: Attention, layer: int, query: Tokens | None = None, *, shown: View | None = None
) -> dict[str, NDArray[np.generic]]:
    """A layer as arrays: weights (H, Q, K), mask (Q, K), and the labels and ids of rows and columns.

    ``shown`` adds what a reader sees: its weights (Q', K') and their labels.
    """
    rows = query or attention.query
    seen: dict[str, NDArray[np.generic]] = (
        {}
        if shown is None
        else {
            "shown": shown.weights,
            "shown_query": np.array(shown.query_labels),
            "shown_key": np.array(shown.key_labels),
        }
    )
    return {
        "weights": attention.layer(layer),
        "mask": attention.allowed(layer),
        "layer": np.array(layer),
        "query": np.array(rows.labels),
        "query_ids": rows.ids,
        "key": np.array(attention.key.labels),
        "key_ids": attention.key.ids,
        **seen,
    }
