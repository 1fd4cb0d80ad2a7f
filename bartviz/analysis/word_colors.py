"""Which words have the same colour on every page: a number for each, which a palette repeats.

The words that the model read are numbered in order, from 0, without special tokens and signs. A word of the output has
the number of the word that it is aligned to, and none without one: the two choose each other in the head that every
page shows first (``start.pairs``). A decoder without an encoder continues its text: all of its words are numbered, and
what its last row predicts has no number. In a chat it is the roles that are numbered, in the order in which they speak,
so that each message has one colour.

Letters in shapes: S tokens of the source, T rows of the decoder. NumPy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bartviz.analysis import start
from bartviz.analysis.words import Word, words
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Reading, Record
from bartviz.text.tokens import Tokens

Numbers = tuple[int, ...]
NONE = -1  # a token whose word has no colour


@dataclass(frozen=True, slots=True)
class WordColors:
    """The number of each token's word, ``NONE`` where it has none: of the source (S,), and of the tokens that the rows
    of a decoder read (T,) and predict (T,)."""

    source: Numbers
    reads: Numbers = ()
    predicts: Numbers = ()

    def sides(self, kind: Kind, reading: Reading | None = None) -> tuple[Numbers, Numbers]:
        """The numbers of the rows and of the columns of one kind; rows are named as by ``Record.rows``."""
        if kind == "encoder":
            return self.source, self.source
        predicts = kind == "cross" if reading is None else reading == "predicts"
        return self.predicts if predicts else self.reads, self.source if kind == "cross" else self.reads


def of(record: Record, head: Head | None = None) -> WordColors:
    """The numbers of a record's words. ``head``: the one that aligns output and source, by default that of
    ``start.ribbons``.

    >>> of(record).source
    (-1, 0, 1, 2, 3, 4, -1, -1)
    """
    if record.decoder is None:
        return WordColors(_numbered(words(record.source)))
    if record.turns:
        return _of_roles(record)
    reads = record.decoder.query
    if record.cross is None:
        numbers = _numbered(words(reads))
        return WordColors(numbers, numbers, numbers if record.output is None else (*numbers[1:], NONE))
    aligned = start.ribbons(record, head=head)
    source = _numbered(aligned.above)
    paired = {t: source[aligned.above[s].start] for t, s in start.pairs(aligned)}
    predicts = _each(aligned.below, [paired.get(t, NONE) for t in range(len(aligned.below))])
    if record.output is None:  # rows can only be named by what they read
        return WordColors(source, predicts, predicts)
    return WordColors(source, (NONE, *predicts[:-1]), predicts)


def carried(known: Sequence[tuple[Tokens, Numbers]], tokens: Tokens) -> Numbers:
    """The numbers of another text's tokens: a word that is also in the ``known`` lines has its number there, in the
    first place where it has one; other words have none.

    >>> carried([(record.source, of(record).source)], other.source)
    (-1, 0, -1, 3, -1)
    """
    numbers: dict[str, int] = {}
    for line, given in known:
        for word in words(line):
            if given[word.start] != NONE:
                numbers.setdefault(word.text, given[word.start])
    found = words(tokens)
    return _each(found, [numbers.get(word.text, NONE) for word in found])


def _of_roles(record: Record) -> WordColors:
    """For each token of a chat the number of the role that speaks."""
    places: dict[str | None, int] = {role: number for number, role in enumerate(speakers(record))}
    reads, predicts = (
        tuple(places.get(role, NONE) for role in roles) for roles in (record.roles(), record.roles("predicts"))
    )
    return WordColors(reads, reads, predicts)


def speakers(record: Record) -> tuple[str, ...]:
    """The roles of a chat in the order in which they speak, by their numbers; empty for other texts."""
    return tuple(dict.fromkeys(turn.role for turn in record.turns))


def grouped(numbers: Numbers, groups: Sequence[Sequence[int]]) -> Numbers:
    """The number of each group of tokens, as of a word: that of its first token which has one."""
    return tuple(next((numbers[token] for token in group if numbers[token] != NONE), NONE) for group in groups)


def _numbered(line: Sequence[Word]) -> Numbers:
    """For each token the number of its word, counted in reading order."""
    spoken = [t for t in start.plain(tuple(line)) if any(sign.isalnum() for sign in line[t].text)]
    places = {t: number for number, t in enumerate(spoken)}
    return _each(line, [places.get(t, NONE) for t in range(len(line))])


def _each(line: Sequence[Word], numbers: Sequence[int]) -> Numbers:
    """A number for each word -> for each of its tokens."""
    return tuple(number for word, number in zip(line, numbers, strict=True) for _token in range(word.start, word.end))
