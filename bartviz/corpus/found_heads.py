"""The heads of a model that were tested for patterns: their table, and what a receipt holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz.analysis.means import alike
from bartviz.corpus import receipt
from bartviz.corpus.read import Bad
from bartviz.record.record import ModelInfo

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class FoundHeads:
    """The heads of a model, tested for a pattern, or for several ``patterns``: name -> pattern.

    ``table``: a row for each head that was tried, those found first; of several patterns for each of these, named by
    its column ``pattern``. ``share`` of weight on the pattern, ``low`` and
    ``high`` of its 95% interval over ``n`` texts, how many times ``wider`` it is than that of independent texts where
    neighbours are alike, ``even`` and ``shuffled`` what even attention has there, and the same head where each row is
    given the marks of other rows (missing where all rows look for the same); ``p`` against both, one-sided; ``q`` the
    false-discovery rate (Benjamini and Hochberg 1995); ``found``. The same with ``held_out_`` before it for the other
    half of the texts; ``replicated``: found, and passed there too.
    Where heads are silenced, of each that was found over all texts: ``effect``, the mean change of the log probability
    of ``outcome`` with the head's output set to 0 in the rows where the pattern applies, in nats (negative: less likely
    without it), its 95% interval from ``effect_low`` to ``effect_high``, ``effect_p`` of the paired two-sided test
    against no change, over ``effect_n`` texts, and in how many rows of a text, ``effect_rows``; the same with
    ``elsewhere`` for the rows without a mark; and ``apart_p``, of the paired test between the two, each per row.
    ``texts`` that were measured, ``repeated`` that were left out because they had been read before, and ``bad`` rows.

    >>> texts = ["I want to buy a car.", "We see a dog."]
    >>> found = bartviz.find_heads(model, texts, "from any to first", kinds=["decoder"])
    >>> found.pattern, found.texts, len(found.table)
    ('from any to first', 2, 32)
    """

    patterns: Mapping[str, str]
    table: pd.DataFrame
    model: ModelInfo
    corpus: Mapping[str, object]
    settings: Mapping[str, object]
    texts: int
    repeated: int
    bad: tuple[Bad, ...]
    versions: Mapping[str, object]

    @property
    def pattern(self) -> str:
        """The pattern; of several the names, with semicolons between them."""
        return "; ".join(self.patterns) if self._several else next(iter(self.patterns.values()))

    @property
    def _several(self) -> bool:
        return "pattern" in self.table

    @property
    def found(self) -> pd.DataFrame:
        """The heads that were found, the largest share first, pattern by pattern."""
        return self.table[self.table["found"]].reset_index(drop=True)

    @property
    def wider(self) -> float:
        """How many times as wide the intervals are as those of independent texts, in the median of heads; 1 where
        neighbouring texts are no more alike than chance makes them."""
        return alike(self.table["wider"].to_numpy(np.float64))

    @property
    def outcome(self) -> str | None:
        """Whose log probability the effects are of, such as "the output"; None where no head was silenced."""
        known = self.settings.get("silence")
        return None if known is None else str(known)

    @property
    def replicated(self) -> tuple[str, ...]:
        """The heads that were found and replicated, such as "cross L2H5"; of several patterns "cross L2H5: name"."""
        rows = self.table[self.table["replicated"]].itertuples()
        return tuple(f"{row.kind} L{row.layer}H{row.head}{f': {row.pattern}' if self._several else ''}" for row in rows)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table."""
        return [{str(name): value for name, value in row.items()} for row in self.table.to_dict("records")]

    def content(self) -> dict[str, Any]:
        """What a receipt holds."""
        return {
            "pattern": dict(self.patterns) if self._several else self.pattern,
            "model": {"name": self.model.name, "fingerprint": self.model.fingerprint},
            "corpus": dict(self.corpus),
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "texts": self.texts,
            "repeated": self.repeated,
            "left_out": len(self.bad),
            "table": self.rows(),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the receipt: digests of model and corpus, pattern, seed, versions and commit, the table, and a digest
        of all."""
        receipt.write(Path(path), self.content())

    def __repr__(self) -> str:
        found = int(self.table["found"].sum())
        follow = f"for {len(self.patterns)} patterns" if self._several else f"follow {self.pattern!r}"
        return (
            f"<FoundHeads: {found} of {len(self.table)} heads of {self.model.name} {follow}, "
            f"{len(self.replicated)} replicated, {self.texts:,} texts>"
        )
