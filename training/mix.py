"""What the translator is trained on, drawn anew all the time: rows of the corpus with other names and numbers, rows of
the project's own grammar and of its lessons, and texts of two sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.random import Generator

from bartviz.text.capitals import sentence_case
from training import everyday, fresh, grammar, lists, names_check, substitute
from training.batches import Deck
from training.corpus import Pair

OWN = 0.18  # share of rows that are of the grammar
LESSONS = 0.3  # share of rows that are of lessons.txt
SMALL = 0.15  # share of texts whose English is typed without capitals, or without some of them
JOINED = 0.14  # share of texts that are two sentences
NO_END = 0.15  # share of texts that lose the final mark on both sides, so that input without a full stop works
TAUGHT = 0.5  # share of the rows of the corpus whose German is a teacher's, where there is one
SHORT = 60  # characters of a sentence that is joined to another


class Mix:
    """Draws sentence pairs to train on; ``taught`` are pairs of a teacher (``training.teacher``)."""

    def __init__(self, rows: Sequence[Pair], rng: Generator, taught: Sequence[Pair] = ()) -> None:
        self.rows, self.rng = rows, rng
        self.deck = Deck(rows, rng)
        self.taught = {pair.en: pair.de for pair in taught}
        self.measured = {bare(text) for text in measured()}

    def draw(self, count: int) -> list[Pair]:
        """The next `count` rows, some of them joined in twos; none that is measured on."""
        found = [self.of_corpus(i) for i in self.deck.draw(of_corpus(count))]
        found += [self.own(grammar.drawn) for _ in range(round(count * OWN))]
        found += [self.own(grammar.lesson) for _ in range(round(count * LESSONS))]
        found = joined([row for row in found if bare(row.en) not in self.measured], self.rng)
        return [without_end(row) if self.rng.random() < NO_END else row for row in found]

    def numbered(self, index: int, count: int, rng: Generator) -> list[Pair]:
        """The rows of draw number `index`, where all draws before were of `count` rows."""
        self.rng, self.deck.position = rng, index * of_corpus(count)
        return self.draw(count)

    def of_corpus(self, index: int) -> Pair:
        """A row of the corpus, some words of it exchanged."""
        row = self.rows[index]
        if row.en in self.taught and self.rng.random() < TAUGHT:
            row = Pair(row.en, self.taught[row.en])
        row = substitute.substituted(row, self.rng)
        return Pair(substitute.spelled(row.en, self.rng), row.de)

    def own(self, drawn: Callable[[Generator], Pair]) -> Pair:
        """A row of the project's own."""
        row = drawn(self.rng)
        return Pair(substitute.spelled(row.en, self.rng), row.de)


def of_corpus(count: int) -> int:
    """How many of `count` rows are of the corpus."""
    return count - round(count * OWN) - round(count * LESSONS)


def measured() -> list[str]:
    """English that is for measuring only: three lists, the articles' sentences, and what others have tried."""
    return [
        *(case.en for case in everyday.cases()),
        *(case.en for case in names_check.cases()),
        *(case.en for case in fresh.cases()),
        *lists.words("held_out.toml", "articles"),
        *lists.words("held_out.toml", "tried"),
    ]


def bare(text: str) -> str:
    """A text by which it is known again: in small letters, without its final mark."""
    return text.lower().rstrip(".!? ")


def typed(text: str, rng: Generator) -> str:
    """English as people type it in a hurry, now and then: no capitals, not the first one, or none but of sentences.

    The last is also what becomes of a text in capitals (`bartviz.text.capitals`).
    """
    drawn = int(rng.random() * 3 / SMALL)
    if drawn == 0:
        return text.lower()
    if drawn == 1:
        return text[:1].lower() + text[1:]
    return sentence_case(text) if drawn == 2 else text


def joined(rows: Sequence[Pair], rng: Generator) -> list[Pair]:
    """The rows, some of the short ones joined in twos."""
    short = [i for i, row in enumerate(rows) if len(row.en) <= SHORT and row.en[-1:] in ".!?" and row.de[-1:] in ".!?"]
    chosen = [short[int(i)] for i in rng.permutation(len(short))[: 2 * round(len(rows) * JOINED / (1 + JOINED))]]
    twos = [(rows[a], rows[b]) for a, b in zip(chosen[::2], chosen[1::2], strict=False)]
    alone = set(range(len(rows))) - set(chosen[: 2 * len(twos)])
    return [rows[i] for i in sorted(alone)] + [Pair(f"{a.en} {b.en}", f"{a.de} {b.de}") for a, b in twos]


def without_end(row: Pair) -> Pair:
    """Both sides without their final mark, where it is the same."""
    same = row.en[-1:] == row.de[-1:] and row.en[-1:] in ".!?"
    return Pair(row.en[:-1], row.de[:-1]) if same else row
