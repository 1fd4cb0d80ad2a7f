"""One part of a corpus -> what every head has of a pattern, text by text: what a worker does, with a model that it
loads once.

Letters in shapes: N texts, L layers, H heads, C heads that are silenced.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.pattern_masks import Function, checked
from bartviz.arrays import Floats
from bartviz.callbacks import never
from bartviz.corpus import head_effects, pattern_shares
from bartviz.corpus.encode import Encoded, encode
from bartviz.corpus.measure import batches
from bartviz.corpus.pattern_shares import Marks
from bartviz.corpus.read import Bad
from bartviz.corpus.run_folder import FOLDER, Files, Job, Store, array, arrays_of, bad_rows, require
from bartviz.errors import Cancelled, TextError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.patterns import nodes
from bartviz.patterns.grammar import Pattern
from bartviz.record.attention import KINDS, Head, Kind
from bartviz.run.forward import capture
from bartviz.safety.other_libraries import guarded

LOT = 32  # bytes
Lots = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Part:
    """A part, measured. ``lots`` (N, 32): a digest of each text, by which it is known and in one of the halves;
    ``repeated`` texts of the part are not among them, nor the ``bad`` rows.

    ``shares`` (N, L, H, 3) and ``even`` (N,) of each kind (``pattern_shares.Shares``). Where heads are silenced
    instead, ``effects`` (N, C, 2) and ``rows`` (N, C, 2) (``head_effects.Effects``).
    """

    lots: Lots
    repeated: int
    bad: tuple[Bad, ...]
    shares: Mapping[Kind, Floats]
    even: Mapping[Kind, NDArray[np.float64]]
    effects: Floats
    rows: NDArray[np.int64]

    def pack(self) -> bytes:
        """The bytes of a file."""
        bad = json.dumps([asdict(row) for row in self.bad], ensure_ascii=True)
        arrays: dict[str, Any] = {
            "lots": self.lots,
            "repeated": np.array(self.repeated),
            "bad": np.frombuffer(bad.encode(), np.uint8),
            "effects": self.effects,
            "rows": self.rows,
        }
        arrays |= {f"{kind}/shares": values for kind, values in self.shares.items()}
        arrays |= {f"{kind}/even": values for kind, values in self.even.items()}
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        return packed.getvalue()

    @classmethod
    def unpack(cls, data: bytes) -> Part:
        """The opposite of ``pack``. Raises whatever NumPy does for a file that is damaged."""
        arrays = arrays_of(data)
        lots = array(arrays, "lots", np.uint8, (-1, LOT))
        count = len(lots)
        kinds = [kind for kind in KINDS if f"{kind}/shares" in arrays]
        effects = array(arrays, "effects", np.float32, (count, -1, 2))
        return cls(
            lots,
            int(array(arrays, "repeated", np.int64, ())),
            bad_rows(arrays["bad"].tobytes()),
            {kind: array(arrays, f"{kind}/shares", np.float32, (count, -1, -1, 3)) for kind in kinds},
            {kind: array(arrays, f"{kind}/even", np.float64, (count,)) for kind in kinds},
            effects,
            array(arrays, "rows", np.int64, effects.shape),
        )


@dataclass(frozen=True)
class Measuring:
    """What measures a pattern in parts of a corpus: all heads of these ``kinds``, or what silencing ``heads`` does."""

    model: Model
    pattern: Pattern | Function
    kinds: tuple[Kind, ...]
    seed: int
    heads: tuple[Head, ...] = ()
    cancelled: Callable[[], bool] = never

    def files(self, job: Job) -> Files:
        """The file of a part. Raises Cancelled."""
        return {FOLDER: self.part(job).pack()}

    def part(self, job: Job) -> Part:
        """A part, measured. Raises Cancelled."""
        rows: list[Encoded] = []
        lots: dict[bytes, None] = {}
        bad, repeated = list(job.bad), 0
        labels = isinstance(self.pattern, Pattern) and nodes.LABELS in self.pattern.needs
        for line in job.lines:
            if self.cancelled():
                raise Cancelled(later("The run was stopped."))
            lot = hashlib.sha256(json.dumps([self.seed, line.text, line.pair, line.target]).encode()).digest()
            if lot in lots:
                repeated += 1
                continue
            try:
                rows.append(encode(self.model, line, labels=labels, cancelled=self.cancelled))
            except TextError as error:
                bad.append(Bad(line.number, line.file, line.line, str(error.args[0])))
                continue
            lots[lot] = None
        bad.sort(key=lambda row: row.number)
        marks = [self._marks(row) for row in rows]
        shares: dict[Kind, Floats] = {}
        even: dict[Kind, NDArray[np.float64]] = {}
        effects, counts = (
            np.zeros((len(rows), len(self.heads), 2), np.float32),
            np.zeros((len(rows), len(self.heads), 2), np.int64),
        )
        numbers = np.frombuffer(b"".join(lots), np.uint8).reshape(-1, LOT)
        if rows and self.heads:
            found = head_effects.effects(self.model, rows, marks, self.heads, numbers, self.cancelled)
            effects, counts = found.changes, found.rows
        elif rows:
            shares, even = self._shares(rows, marks)
        return Part(numbers, repeated, tuple(bad), shares, even, effects, counts)

    def _shares(
        self, rows: Sequence[Encoded], marks: Sequence[Mapping[Kind, Marks]]
    ) -> tuple[dict[Kind, Floats], dict[Kind, NDArray[np.float64]]]:
        shares: dict[Kind, Floats] = {}
        even: dict[Kind, NDArray[np.float64]] = {}
        for batch in batches(rows):
            some = [rows[at] for at in batch]
            for kind, found in pattern_shares.shares(
                self.model, some, [marks[at] for at in batch], self.cancelled
            ).items():
                shape = len(rows), *found.values.shape[1:]
                shares.setdefault(kind, np.empty(shape, np.float32))[batch] = found.values
                even.setdefault(kind, np.empty(len(rows)))[batch] = found.even
        return shares, even

    def _marks(self, row: Encoded) -> dict[Kind, Marks]:
        if isinstance(self.pattern, Pattern):
            on = pattern_shares.pairs(row, self.kinds)
            return {kind: Marks(self.pattern.mask(on[kind]), on[kind].mask) for kind in self.kinds}
        line = row.line
        record = capture(self.model, line.text, pair=line.pair, target=line.target)
        visible = {kind: np.asarray(record.attention(kind).mask, np.bool_) for kind in self.kinds}
        return {kind: Marks(checked(self.pattern(record, kind), visible[kind]), visible[kind]) for kind in self.kinds}


class Folder(Store):
    """That of a search for heads."""

    def expect(self, job: Job) -> None:
        """Raise SettingError if the shard of a part is damaged, or of something else."""
        self.get(job)

    def get(self, job: Job) -> Part:
        """A part. Raises SettingError if it is damaged, or of something else."""
        held = self.content(job)
        with guarded(self.foreign(job)):
            part = Part.unpack(held)
            require(len(part.lots) + part.repeated + len(part.bad) == job.rows)
        return part
