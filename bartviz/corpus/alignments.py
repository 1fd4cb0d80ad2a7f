"""Word alignments of a corpus by cross-attention: the links of every pair of texts, and the heads that align.

Pairs are run in batches of about the same length and come out in their order, so that what is written stays parallel to
the corpus. Letters in shapes: L layers, H heads, T and S words of the output and of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from bartviz.analysis import alignment, gold_alignment, look_ahead, mutual
from bartviz.analysis.aligners import READINGS
from bartviz.analysis.alignment import THRESHOLD, Method, Split
from bartviz.analysis.gold_alignment import Gold, Score
from bartviz.callbacks import never
from bartviz.corpus.read import Bad, Line
from bartviz.errors import BudgetError, TextError
from bartviz.models.model import Model
from bartviz.record.attention import Head
from bartviz.record.record import Reading, Record
from bartviz.run.forward import capture_batch

if TYPE_CHECKING:
    import pandas as pd

AHEAD = 512  # rows that are sorted by their length
BATCH = 32  # texts of one pass
MOST = 0.5  # of the pairs: those where heads look ahead less those where they look back
Pair = tuple[Line, Record] | Bad


def records(model: Model, rows: Iterable[Line | Bad], *, cancelled: Callable[[], bool] = never) -> Iterator[Pair]:
    """Each row with its record, in order; a row that the model cannot read with the reason.

    A row without a target is translated by the model. Raises SettingError for a model that writes no output, Cancelled.
    """
    waiting = iter(rows)
    while some := list(islice(waiting, AHEAD)):
        found: dict[int, Pair] = {row.number: row for row in some if isinstance(row, Bad)}
        usable = sorted((row for row in some if isinstance(row, Line)), key=_length)
        for given in (True, False):
            alike = [row for row in usable if (row.target is not None) is given]
            for at in range(0, len(alike), BATCH):
                batch = alike[at : at + BATCH]
                found |= {row.number: pair for row, pair in zip(batch, _run(model, batch, cancelled), strict=True)}
        yield from (found[row.number] for row in some)


def _length(row: Line) -> tuple[int, int]:
    return len(row.target or ""), len(row.text)


def _run(model: Model, rows: Sequence[Line], cancelled: Callable[[], bool]) -> list[Pair]:
    targets = None if rows[0].target is None else [row.target or "" for row in rows]
    try:
        made = capture_batch(model, [row.text for row in rows], targets=targets, top_k=1, cancelled=cancelled)
    except (TextError, BudgetError) as error:
        if len(rows) == 1:
            return [Bad(rows[0].number, rows[0].file, rows[0].line, error.args[0])]
        return [pair for row in rows for pair in _run(model, [row], cancelled)]  # the others are read all the same
    return list(zip(rows, made, strict=True))


def gold(row: Line, record: Record, split: Split = "tokenizer", *, one_based: bool = False, swap: bool = False) -> Gold:
    """The alignment by hand of a row that has one. Raises TextError if it does not fit its texts."""
    source, target = alignment.lines(record, split)
    return gold_alignment.read(row.gold or "", len(source), len(target), base=1 if one_based else 0, swap=swap)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A set of heads of one layer, whose mean weights are tried by one reading. ``first``: the first heads of the
    layer, which is what Marian, OpenNMT, fairseq and CTranslate2 can be told to take."""

    layer: int
    heads: tuple[int, ...]
    reading: Reading
    first: bool

    @property
    def name(self) -> str:
        """ "L2H0", "layer 2", or "layer 2, heads 0 to 3"."""
        if len(self.heads) == 1:
            return f"L{self.layer}H{self.heads[0]}"
        return f"layer {self.layer}, heads {self.heads[0]} to {self.heads[-1]}"

    @property
    def named(self) -> tuple[Head, ...]:
        return tuple(Head("cross", self.layer, head) for head in self.heads)


@dataclass
class Ranking:
    """How well each head, and the first heads of each layer, align the pairs that were added.

    split, method, threshold: how words and links are made, as ``alignment.lines`` and ``alignment.links`` do.
    """

    split: Split = "tokenizer"
    method: Method = "mutual"
    threshold: float = THRESHOLD
    pairs: int = 0
    agreement: dict[Candidate, float] = field(default_factory=dict)
    counts: dict[Candidate, list[Score]] = field(default_factory=dict)
    ahead: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)

    def add(self, record: Record, known: Gold | None = None) -> None:
        """Add a pair of texts, with its alignment by hand if there is one. Raises SettingError for a record without
        cross-attention."""
        cross = alignment.cross_of(record)
        source, target = alignment.lines(record, self.split)
        if not len(source) or not len(target):
            return
        self.pairs += 1
        for layer in range(cross.shape[0]):
            weights = cross.layer(layer)  # (H, Q, K)
            means = np.cumsum(weights, axis=0) / np.arange(1, len(weights) + 1, dtype=np.float32)[:, None, None]
            sets: list[tuple[tuple[int, ...], bool]] = [((head,), head == 0) for head in range(len(weights))]
            sets += [(tuple(range(count)), True) for count in range(2, len(weights) + 1)]
            tried = np.concatenate([weights, means[1:]])  # (N, Q, K), as ``sets``
            looks = look_ahead.record_directions(record, tried)
            for place, (heads, _first) in enumerate(sets):
                found = 0 if looks is None else int(looks[place])
                self.ahead[layer, heads] = self.ahead.get((layer, heads), 0) + found
            for reading in READINGS:
                words, has_rows = alignment.between(record, tried, source, target, reading=reading)
                scores = mutual.Mutual.of(words, has_rows).score if has_rows.any() else np.zeros(len(sets))
                for place, (heads, first) in enumerate(sets):
                    one = Candidate(layer, heads, reading, first)
                    self.agreement[one] = self.agreement.get(one, 0.0) + float(scores[place])
                    if known is not None:
                        links = alignment.links(words[place], self.method, threshold=self.threshold)
                        self.counts.setdefault(one, []).append(gold_alignment.score(links, known))

    def ordered(self) -> list[Candidate]:
        """The candidates, the best first: by error rate where there are alignments by hand, else by agreement.

        Agreement cannot tell which reading is right: by the wrong one all links are off by one word. So without
        alignments by hand a reading that contradicts where the heads look, for the next word or at the one just read,
        comes after all others.
        """
        return sorted(self.agreement, key=self._order)

    def looks(self, one: Candidate) -> Literal["ahead", "back", ""]:
        """Where the heads look in most pairs: ahead, for the next word, or back, at the word just read; "" if neither
        or unknown."""
        share = self.ahead.get((one.layer, one.heads), 0) / self.pairs
        return "ahead" if share > MOST else "back" if share < -MOST else ""

    def _order(self, one: Candidate) -> tuple[float, float]:
        rate = self.error_rate(one)
        wrong = {"ahead": "reads", "back": "predicts"}.get(self.looks(one)) == one.reading
        return (float(wrong) if rate is None else rate), -self.agreement[one]

    def error_rate(self, one: Candidate) -> float | None:
        """The alignment error rate over all links of the corpus together (Och and Ney 2003); None without any."""
        scores = self.counts.get(one, [])
        return sum(scores, Score(0, 0, 0, 0)).error_rate

    def table(self) -> pd.DataFrame:
        """A line for each candidate, the best first.

        ``looks`` as the method says; ``agreement``: the mean share of attention on words that choose each other; with
        alignments by hand also ``error rate``, ``precision`` and ``recall`` of all links together, and ``mean error
        rate``, the mean of the pairs' own rates, as an atlas has it.
        """
        import pandas as pd

        found = []
        for one in self.ordered():
            line: dict[str, object] = {"heads": one.name, "named by": one.reading, "looks": self.looks(one)}
            if scores := self.counts.get(one):
                whole = sum(scores, Score(0, 0, 0, 0))
                rates = [rate for each in scores if (rate := each.error_rate) is not None]
                line |= {"error rate": whole.error_rate, "precision": whole.precision, "recall": whole.recall}
                line |= {"mean error rate": float(np.mean(rates)) if rates else None}
            found.append(line | {"agreement": self.agreement[one] / self.pairs, "pairs": self.pairs})
        return pd.DataFrame(found)
