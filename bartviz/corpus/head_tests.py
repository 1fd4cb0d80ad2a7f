"""The values of texts -> the table of heads: tests in two halves, and what silencing those that were found changes.

Letters in shapes: N texts, L layers, H heads, C heads that are silenced.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.evidence import Evidence
from bartviz.analysis.intervals import Doubles
from bartviz.analysis.means import Means
from bartviz.arrays import Bools, Floats
from bartviz.corpus.head_effects import APPLIES, ELSEWHERE
from bartviz.corpus.pattern_shares import ABOVE, SHARE, SHUFFLED, Slot
from bartviz.corpus.pattern_work import Part
from bartviz.corpus.read import Bad
from bartviz.errors import TextError
from bartviz.language import later

if TYPE_CHECKING:
    import pandas as pd

RATE = 0.01
"""The false-discovery rate over all heads that are tried, in each half."""
LEAST = 0.5
"""The least share of weight, at the lower end of its interval (as for the names of heads, ``head_names.THRESHOLD``)."""
ROUNDING = 1e-6
"""How far a log probability may move, in nats, by arithmetic alone; such a change is none, or a test of many texts
would find it."""
_TESTED = ("n", "share", "low", "high", "wider", "even", "shuffled", "p", "q")


@dataclass(frozen=True, eq=False)
class Values:
    """What was measured of each text, once, in order (``pattern_work.Part``); ``half`` (N,): whether it is held out."""

    half: Bools
    shares: Mapping[Slot, Floats]
    even: Mapping[Slot, Doubles]
    effects: Floats
    rows: NDArray[np.int64]
    repeated: int
    bad: tuple[Bad, ...]

    @property
    def texts(self) -> int:
        return len(self.half)

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Values:
        """From the parts, in order: a text that an earlier one has too is left out and counted."""
        seen: set[bytes] = set()
        kept: list[Part] = []
        half: list[Bools] = []
        repeated, bad = 0, list[Bad]()
        for part in parts:
            names = [lot.tobytes() for lot in part.lots]
            first = np.array([name not in seen for name in names], np.bool_)
            seen.update(names)
            repeated += part.repeated + int((~first).sum())
            bad += part.bad
            if first.any():
                shares = {slot: values[first] for slot, values in part.shares.items()}
                even = {slot: values[first] for slot, values in part.even.items()}
                lots = part.lots[first]
                kept.append(Part(lots, 0, (), shares, even, part.effects[first], part.rows[first]))
                half.append((lots[:, 0] & 1).astype(np.bool_))
        if not kept:
            return cls(
                np.zeros(0, np.bool_),
                {},
                {},
                np.zeros((0, 0, 2), np.float32),
                np.zeros((0, 0, 2), np.int64),
                repeated,
                tuple(bad),
            )
        return cls(
            np.concatenate(half),
            {slot: np.concatenate([part.shares[slot] for part in kept]) for slot in kept[0].shares},
            {slot: np.concatenate([part.even[slot] for part in kept]) for slot in kept[0].even},
            np.concatenate([part.effects for part in kept]),
            np.concatenate([part.rows for part in kept]),
            repeated,
            tuple(bad),
        )


def table(values: Values, rate: float, least: float, patterns: Sequence[str] = ()) -> pd.DataFrame:
    """The heads of all kinds with their tests, for each of several ``patterns``, whose names are then the first column.
    Raises TextError where no pattern applies in any text."""
    import pandas as pd

    shares = values.shares
    if not any(np.isfinite(found[..., SHARE]).any() for found in shares.values()):
        raise TextError(later("The pattern applies in none of the texts."))
    names = [(*slot, layer, head) for slot, found in shares.items() for layer, head in np.ndindex(found.shape[1:3])]
    heads = pd.DataFrame(names, columns=["pattern", "kind", "layer", "head"])
    for prefix, texts in (("", ~values.half), ("held_out_", values.half)):
        columns = [
            np.concatenate([_flat(found[texts][..., column]) for found in shares.values()], axis=1)
            for column in (SHARE, SHUFFLED, ABOVE)
        ]
        even = np.concatenate(
            [
                np.repeat(values.even[slot][texts][:, None], found.shape[1] * found.shape[2], axis=1)
                for slot, found in shares.items()
            ],
            axis=1,
        )
        evidence = Evidence.of(
            *(columns[SHARE], even, columns[SHUFFLED], columns[ABOVE]),
            rate=rate,
            least=least,
            texts=np.flatnonzero(texts),
        )
        for name in _TESTED:
            heads[f"{prefix}{name}"] = getattr(evidence, name)
        heads[f"{prefix}found" if not prefix else "replicated"] = evidence.passes
    heads["replicated"] &= heads["found"]
    order = np.lexsort((-heads["share"].fillna(-1).to_numpy(), ~heads["found"].to_numpy(np.bool_), heads["pattern"]))
    heads = heads.iloc[order].reset_index(drop=True)
    if not patterns:
        return heads.drop(columns="pattern")
    return heads.assign(pattern=[patterns[number] for number in heads["pattern"]])


def with_effects(heads: pd.DataFrame, values: Values | None) -> pd.DataFrame:
    """The table with what silencing the heads that were found changes, in their order; NaN for all others."""
    found = heads["found"].to_numpy(np.bool_)
    per_row: list[Doubles] = []
    heads = heads.copy()
    for place, name in ((APPLIES, "effect"), (ELSEWHERE, "elsewhere")):
        changes, rows = _of_place(values, place)  # (N, C) each
        texts = np.arange(len(changes))
        change = Means.of(changes, texts)
        for column, numbers in (
            (name, change.mean),
            (f"{name}_low", change.ends[0]),
            (f"{name}_high", change.ends[1]),
            (f"{name}_p", change.two_sided),
            (f"{name}_n", change.n),
            (f"{name}_rows", Means.of(rows).mean),
        ):
            heads[column] = np.nan
            heads.loc[found, column] = numbers
        per_row.append(changes / np.maximum(rows, 1))
    heads["apart_p"] = np.nan
    heads.loc[found, "apart_p"] = Means.of(per_row[APPLIES] - per_row[ELSEWHERE], texts).two_sided
    return heads


def _of_place(values: Values | None, place: int) -> tuple[Doubles, Doubles]:
    """The changes and the numbers of rows (N, C), NaN where there are none."""
    if values is None:
        return np.zeros((0, 0)), np.zeros((0, 0))
    changes = values.effects[..., place].astype(np.float64)
    changes[np.abs(changes) <= ROUNDING] = 0.0
    return changes, np.where(np.isfinite(changes), values.rows[..., place], np.nan)


def _flat(values: Floats) -> Doubles:
    """(N, L, H) -> (N, L H)."""
    return values.reshape(len(values), math.prod(values.shape[1:])).astype(np.float64)
