"""Findings that need another run: heads with sharp attention that can be silenced, and the evenness of untrained rows.

Letters in shapes: N heads of a sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.ablation import Sweep
from bartviz.analysis.measures import Measured, of_record
from bartviz.features.pitfalls.numbers import rows_that_count
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record

SHARP = 0.5
"""The mean largest weight above which a head is called sharp."""
LITTLE = 0.1
"""A change of log p, in nats, that is called little."""
Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Quiet:
    """Sharp heads and heads that matter: ``peak`` (N,) the mean largest weight, ``change`` (N,) of log p in
    nats when the head is silenced, by ``heads``.

    ``quietest`` is the sharpest head among those that change little (among all sharp heads if none changes little);
    None if no head is sharp.
    """

    heads: tuple[Head, ...]
    peak: Doubles
    change: Doubles
    quietest: int | None

    @property
    def sharp(self) -> int:
        """How many heads are sharp."""
        return int((self.peak >= SHARP).sum())

    @property
    def idle(self) -> int:
        """How many sharp heads change log p by little."""
        return int(((self.peak >= SHARP) & (np.abs(self.change) < LITTLE)).sum())


def quiet(sweep: Sweep, measured: Mapping[Kind, Measured]) -> Quiet:
    """The sharpness of each head of a sweep, and the effect of silencing it."""
    peak = np.array([float(measured[one.kind].values["peak"][one.layer, one.head]) for one in sweep.heads])
    change = np.asarray(sweep.log_probability, np.float64)
    sharp = np.flatnonzero(peak >= SHARP)
    quietest = int(max(sharp, key=lambda at: (abs(change[at]) < LITTLE, peak[at]))) if sharp.size else None
    return Quiet(sweep.heads, peak, change, quietest)


@dataclass(frozen=True, slots=True)
class Evenness:
    """How even the rows of one kind are: mean entropy in bits, mean of the largest possible entropy, and their
    ratio."""

    kind: Kind
    bits: float
    possible: float

    @property
    def share(self) -> float:
        return self.bits / self.possible if self.possible else float("nan")


def evenness(record: Record, kinds: Sequence[Kind] | None = None) -> tuple[Evenness, ...]:
    """For each kind the mean entropy over all heads and rows that count, and log2 of the number of visible keys."""
    found = []
    for kind in kinds or record.kinds:
        rows = rows_that_count(record, kind)
        if not rows.any():
            continue
        measured = of_record(record, kind)
        found.append(Evenness(kind, float(measured.values["entropy"].mean()), float(measured.even["entropy"])))
    return tuple(found)
