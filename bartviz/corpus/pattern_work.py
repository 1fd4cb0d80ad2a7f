"""One part of a corpus -> what every head has of patterns, text by text: what a worker does, with a model that it
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
from bartviz.corpus.pattern_shares import Marks, Slot
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

    ``shares`` (N, L, H, 3) and ``even`` (N,) of each pattern and kind (``pattern_shares.Shares``). Where heads are
    silenced instead, ``effects`` (N, C, 2) and ``rows`` (N, C, 2) (``head_effects.Effects``), pattern by pattern.
    """

    lots: Lots
    repeated: int
    bad: tuple[Bad, ...]
    shares: Mapping[Slot, Floats]
    even: Mapping[Slot, NDArray[np.float64]]
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
        arrays |= {f"{_name(slot)}/shares": values for slot, values in self.shares.items()}
        arrays |= {f"{_name(slot)}/even": values for slot, values in self.even.items()}
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        return packed.getvalue()

    @classmethod
    def unpack(cls, data: bytes) -> Part:
        """The opposite of ``pack``. Raises whatever NumPy does for a file that is damaged."""
        arrays = arrays_of(data)
        lots = array(arrays, "lots", np.uint8, (-1, LOT))
        count = len(lots)
        slots = [_slot(name.removesuffix("/shares")) for name in arrays if name.endswith("/shares")]
        effects = array(arrays, "effects", np.float32, (count, -1, 2))
        return cls(
            lots,
            int(array(arrays, "repeated", np.int64, ())),
            bad_rows(arrays["bad"].tobytes()),
            {slot: array(arrays, f"{_name(slot)}/shares", np.float32, (count, -1, -1, 3)) for slot in slots},
            {slot: array(arrays, f"{_name(slot)}/even", np.float64, (count,)) for slot in slots},
            effects,
            array(arrays, "rows", np.int64, effects.shape),
        )


def _name(slot: Slot) -> str:
    """What the arrays of a pattern and a kind begin with."""
    number, kind = slot
    return f"{kind}/{number}" if number else kind


def _slot(name: str) -> Slot:
    """The opposite. Raises ValueError."""
    given, _, number = name.partition("/")
    (kind,) = [kind for kind in KINDS if kind == given]
    return int(number or 0), kind


@dataclass(frozen=True)
class Measuring:
    """What measures patterns in parts of a corpus: for each all heads of its ``kinds``, or what silencing its ``heads``
    does."""

    model: Model
    patterns: tuple[Pattern | Function, ...]
    kinds: tuple[tuple[Kind, ...], ...]
    seed: int
    heads: tuple[tuple[Head, ...], ...] = ()
    cancelled: Callable[[], bool] = never

    def files(self, job: Job) -> Files:
        """The file of a part. Raises Cancelled."""
        return {FOLDER: self.part(job).pack()}

    def part(self, job: Job) -> Part:
        """A part, measured. Raises Cancelled."""
        rows: list[Encoded] = []
        lots: dict[bytes, None] = {}
        bad, repeated = list(job.bad), 0
        labels = any(isinstance(one, Pattern) and nodes.LABELS in one.needs for one in self.patterns)
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
        shares: dict[Slot, Floats] = {}
        even: dict[Slot, NDArray[np.float64]] = {}
        effects, counts = np.zeros((len(rows), 0, 2), np.float32), np.zeros((len(rows), 0, 2), np.int64)
        numbers = np.frombuffer(b"".join(lots), np.uint8).reshape(-1, LOT)
        if rows and self.heads:
            found = [
                head_effects.effects(self.model, rows, _of_pattern(marks, at), heads, numbers, self.cancelled)
                for at, heads in enumerate(self.heads)
                if heads
            ]
            effects = np.concatenate([one.changes for one in found], axis=1)
            counts = np.concatenate([one.rows for one in found], axis=1)
        elif rows:
            shares, even = self._shares(rows, marks)
        return Part(numbers, repeated, tuple(bad), shares, even, effects, counts)

    def _shares(
        self, rows: Sequence[Encoded], marks: Sequence[Mapping[Slot, Marks]]
    ) -> tuple[dict[Slot, Floats], dict[Slot, NDArray[np.float64]]]:
        shares: dict[Slot, Floats] = {}
        even: dict[Slot, NDArray[np.float64]] = {}
        for batch in batches(rows):
            some = [rows[at] for at in batch]
            for slot, found in pattern_shares.shares(
                self.model, some, [marks[at] for at in batch], self.cancelled
            ).items():
                shape = len(rows), *found.values.shape[1:]
                shares.setdefault(slot, np.empty(shape, np.float32))[batch] = found.values
                even.setdefault(slot, np.empty(len(rows)))[batch] = found.even
        return shares, even

    def _marks(self, row: Encoded) -> dict[Slot, Marks]:
        found: dict[Slot, Marks] = {}
        on = pattern_shares.pairs(row, sorted({kind for kinds in self.kinds for kind in kinds}))
        line = row.line
        functions = any(not isinstance(one, Pattern) for one in self.patterns)
        record = capture(self.model, line.text, pair=line.pair, target=line.target) if functions else None
        for at, (pattern, kinds) in enumerate(zip(self.patterns, self.kinds, strict=True)):
            for kind in kinds:
                if isinstance(pattern, Pattern):
                    found[at, kind] = Marks(pattern.mask(on[kind]), on[kind].mask)
                else:
                    assert record is not None
                    visible = np.asarray(record.attention(kind).mask, np.bool_)
                    found[at, kind] = Marks(checked(pattern(record, kind), visible), visible)
        return found


def _of_pattern(marks: Sequence[Mapping[Slot, Marks]], number: int) -> list[dict[Kind, Marks]]:
    """The marks of one of the patterns."""
    return [{kind: found for (at, kind), found in one.items() if at == number} for one in marks]


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
