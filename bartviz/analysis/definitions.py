"""What is measured of a head: each number with its formula, unit, range, the rows that count, and who introduced it.

Letters: a(i, j) is the weight with which row i looks at column j, n_i the number of columns that row i may see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bartviz.attention import KINDS, Kind

if TYPE_CHECKING:
    import pandas as pd

SELF: tuple[Kind, ...] = ("encoder", "decoder")
SHARE = "share of weight"
ROWS = "all that count"


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a head: ``name`` in tables and links, ``title`` for a reader, the mean of ``formula`` over rows.

    ``highest`` is its largest possible value, None where that grows with the text; the lowest is 0. ``rows`` says which
    rows it is averaged over, beyond the rule for all of them (``measures.counted``).
    """

    name: str
    title: str
    formula: str
    says: str
    source: str
    unit: str = SHARE
    highest: float | None = 1.0
    kinds: tuple[Kind, ...] = KINDS
    rows: str = ROWS


_CLARK = "Clark et al. 2019"

MEASURES: Mapping[str, Measure] = {
    known.name: known
    for known in (
        Measure(
            "entropy", "entropy", "-Σ_j a(i, j) log2 a(i, j)",
            "How spread the weight is: 0 where all of it is on one key, log2 n where it is even over n.",
            f"Shannon 1948; {_CLARK}, 3.3", "bits", None,
        ),
        Measure(
            "evenness", "entropy / possible", "-Σ_j a(i, j) log2 a(i, j) / log2 n_i",
            "The entropy as a share of the most that the row could have: comparable between texts and rows.",
            "Pielou 1966 (evenness)", "share of log2 n",
        ),
        Measure(
            "peak", "largest weight", "max_j a(i, j)",
            "How sure the head is: the weight of the key that a row looks at most.",
            "Voita et al. 2019, 4 (confidence)",
        ),
        Measure(
            "distance", "mean distance", "Σ_j a(i, j) |i - j|",
            "How far the head looks, in tokens.", "Vig and Belinkov 2019", "tokens", None, SELF,
        ),
        Measure(
            "previous", "previous token", "a(i, i - 1)", "Weight on the token before.", f"{_CLARK}, 3.1",
            kinds=SELF, rows="those whose previous token may be seen",
        ),
        Measure(
            "next", "next token", "a(i, i + 1)", "Weight on the token after; a causal mask closes it, then undefined.",
            f"{_CLARK}, 3.1", kinds=("encoder",), rows="those whose next token may be seen",
        ),
        Measure(
            "itself", "the token itself", "a(i, i)", "Weight on the diagonal of self-attention.", f"{_CLARK}, 3.1",
            kinds=SELF,
        ),
        Measure(
            "diagonal", "diagonal", "Σ_j a(i, j) where |i (K - 1) / (Q - 1) - j| <= 1",
            "Weight within one key of the straight line from the first pair to the last: reading in step.",
            "after Kovaleva et al. 2019, 4.1 (diagonal pattern)", kinds=("cross",),
        ),
        Measure(
            "same", "same word", "Σ_j a(i, j) where j belongs to the same word, standing elsewhere",
            "Weight on other places of the row's word; in cross-attention on the same word of the other text. Pieces "
            "are merged into words, capitals ignored.",
            "Wang et al. 2023 (duplicate token heads)",
            rows="those whose word stands a second time where it may be seen",
        ),
        Measure(
            "first", "first token", "a(i, 0)", "Weight on the first key, where many heads rest.",
            "Xiao et al. 2024, 3.1 (attention sink)", rows="all that count but the first token's own",
        ),
        Measure(
            "special", "special tokens", "Σ_j a(i, j) where j is special",
            "Weight on <s>, </s>, [CLS], [SEP] together.", f"{_CLARK}, 3.2", rows="those that may see a special token",
        ),
        Measure(
            "punctuation", "punctuation", "Σ_j a(i, j) where j is only punctuation",
            "Weight on full stops, commas and the like, a row's own place left out.", f"{_CLARK}, 3.2",
            rows="those that may see other punctuation",
        ),
        Measure(
            "coverage", "coverage", "1/K Σ_j min(1, K/Q Σ_i a(i, j))",
            "The share of the keys' fair part of the attention that they really get: 1 where all columns sum to the "
            "same, 1/K where one key gets everything.",
            "Tu et al. 2016; Wu et al. 2016, eq. 14 (here without the logarithm)",
            "share of keys", rows="all that are not padding, those with one visible key too",
        ),
        Measure(
            "share", "share of the output", "‖Σ_j a(i, j) v_j W_O‖ / Σ_heads ‖Σ_j a(i, j) v_j W_O‖",
            "How much of its layer's output comes from the head, by the norm of its vectors. Needs the values.",
            "after Kobayashi et al. 2020",
        ),
        Measure(
            "alignment", "alignment", "Σ a(t, s) over words t, s that choose each other / number of words t",
            "Weight on pairs of words where s is what t looks at most, and t what looks at s most. Pieces are merged "
            "into words; special tokens are left out.",
            "after Och and Ney 2003 (intersection)", kinds=("cross",), rows="all words of the output",
        ),
    )
}  # fmt: skip
"""In reading order. Positions are counted in tokens; only "same word" and "alignment" merge words."""


def of_kind(kind: Kind) -> tuple[Measure, ...]:
    """The measures that have a meaning for that kind of attention."""
    return tuple(measure for measure in MEASURES.values() if kind in measure.kinds)


def definitions(kind: Kind | None = None) -> pd.DataFrame:
    """The measures as a table: name, what it says, formula (mean over rows), unit with range, rows, source."""
    import pandas as pd

    known = tuple(MEASURES.values()) if kind is None else of_kind(kind)
    columns = ("measure", "says", "formula, mean over rows i", "unit", "rows", "source")
    lines = [
        (one.title, one.says, one.formula, f"{one.unit}, {'0 to 1' if one.highest else 'from 0'}", one.rows, one.source)
        for one in known
    ]
    return pd.DataFrame(lines, columns=list(columns))
