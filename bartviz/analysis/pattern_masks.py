"""The mask of a pattern for a record.

Letters in shapes: Q query rows, K key columns, T and S words of the output and the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bartviz import plugins
from bartviz.analysis import word_matches
from bartviz.analysis.gold_alignment import Gold
from bartviz.analysis.words import word_groups, word_labels, word_numbers
from bartviz.arrays import Bools
from bartviz.errors import PatternError, SettingError
from bartviz.language import later
from bartviz.patterns.grammar import Pattern, parse, without_meaning
from bartviz.patterns.nodes import MESSAGE, ROLE
from bartviz.patterns.pair import Column, Pair, Side, Unfit
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.record.turns import numbers
from bartviz.text.tokens import Tokens

Function = Callable[[Record, Kind], Any]
"""A pattern of one's own: a record and a kind of attention -> (Q, K) where the rows look."""


def pattern_mask(record: Record, kind: Kind, pattern: str | Pattern | Function, *, gold: Gold | None = None) -> Bools:
    """(Q, K) where the rows of a record's attention look that follow a pattern, of what they may see.

    pattern: in the language of docs/patterns.md, the name of one that a plugin adds, or a function of the record and
    the kind that returns such a mask.
    gold: an alignment by hand, to which ``link`` refers. Trees and columns belong to a corpus, not to a record.
    Raises PatternError for a pattern that cannot be read, SettingError for one without a meaning for the kind, or a
    mask of another shape.

    >>> bartviz.pattern_mask(record, "encoder", "from any to previous token").sum(axis=1).tolist()
    [0, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    attention = record.attention(kind)
    found = known(pattern)
    if not isinstance(found, Pattern):
        return checked(found(record, kind), np.asarray(attention.mask, np.bool_))
    try:
        marks: Bools = found.mask(of_record(record, kind, gold))
    except Unfit as reason:
        raise without_meaning(kind, reason) from reason
    return marks


def known(pattern: str | Pattern | Function) -> Pattern | Function:
    """A pattern that is written, or the one that a plugin adds under this name, a single word; others as they are.

    Raises PatternError for one that cannot be read, and SettingError for a plugin that is none.
    """
    if not isinstance(pattern, str):
        return pattern
    plugin = None if len(pattern.split()) != 1 else plugins.found("patterns").get(pattern.strip())
    if plugin is None:
        return parse(pattern)
    if callable(plugin.added):
        function: Pattern | Function = plugin.added
        return function
    if not isinstance(plugin.added, str):
        kind = type(plugin.added).__name__
        raise plugin.refused(later("it is neither a pattern as text nor a function, but {type}", type=kind))
    try:
        return parse(plugin.added)
    except PatternError as error:
        raise plugin.refused(str(error)) from error


def added() -> dict[str, str]:
    """The patterns that plugins add as text: name -> pattern. Raises SettingError for one that cannot be read."""
    found = {name: known(name) for name in plugins.found("patterns")}
    return {name: pattern.text for name, pattern in found.items() if isinstance(pattern, Pattern)}


def checked(given: Any, visible: Bools) -> Bools:
    """The mask (Q, K) that a function returned, of what rows may see. Raises SettingError for another shape."""
    found = np.asarray(given)
    if found.shape != visible.shape:
        raise SettingError(
            later(
                "The pattern returned a mask of shape {shape}, but there are {rows} rows and {columns} columns.",
                shape=found.shape,
                rows=visible.shape[0],
                columns=visible.shape[1],
            )
        )
    return found.astype(np.bool_) & visible


def of_record(record: Record, kind: Kind, gold: Gold | None = None) -> Pair:
    """The rows and columns of a record's attention, and the links of an alignment by hand.

    Raises SettingError for a kind that the record does not have.
    """
    attention = record.attention(kind)
    query_text, key_text = word_matches.texts_of(record, kind)
    known: dict[str, int] = {}
    named = side_of(record.rows(kind), query_text, known, chat_of(record) if kind == "decoder" else {})
    reads = side_of(attention.query, query_text, known) if kind == "cross" else named
    key = side_of(attention.key, key_text, known) if kind == "cross" else named
    links = None if gold is None or kind != "cross" else links_of(gold, named, key)
    return Pair(kind, named, key, reads, np.asarray(attention.mask, np.bool_), links)


def links_of(gold: Gold, target: Side, source: Side) -> Bools:
    """(T, S) which words of the output and the source an alignment joins, surely or possibly."""
    found = np.zeros((int(target.words.max(initial=-1)) + 1, int(source.words.max(initial=-1)) + 1), np.bool_)
    for at_source, at_target in gold.possible:
        if at_target < len(found) and at_source < found.shape[1]:
            found[at_target, at_source] = True
    return found


def chat_of(record: Record) -> dict[str, Column]:
    """The messages of a chat as columns: the role of each, and its number; none for another text."""
    if not record.turns:
        return {}
    of_tokens = np.array(numbers(record.turns, len(record.source)))  # (n,)
    members = of_tokens == np.arange(len(record.turns))[:, None]  # (W, n)
    roles = tuple(turn.role for turn in record.turns)
    return {ROLE: Column(roles, members), MESSAGE: Column(tuple(map(str, range(len(roles)))), members)}


def side_of(
    tokens: Tokens, texts: word_matches.Texts, known: dict[str, int], columns: Mapping[str, Column] | None = None
) -> Side:
    """The tokens of a text as a pattern sees them. ``known`` numbers the words of both texts, and grows. ``columns``:
    of a chat."""
    written = [""] * len(tokens)
    for group, label in zip(word_groups(tokens), word_labels(tokens, texts), strict=True):
        for token in group:
            written[token] = label.strip().casefold()
    return Side(
        ids=tokens.ids,
        special=tokens.special,
        punctuation=word_matches.punctuation(tokens, texts),
        groups=word_matches.groups(tokens),
        words=word_numbers(tokens),
        codes=word_matches.numbered(tokens, texts, known),
        labels=tokens.labels,
        written=tuple(written),
        columns=columns or {},
        annotated=False,
    )
