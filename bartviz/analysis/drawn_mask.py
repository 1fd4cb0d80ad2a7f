"""A mask drawn by hand in place of the model's own: the cells, and how the model's predictions differ under it.

A mask is (Q, K) bool, True where a row may attend. Letters in shapes: T rows that are scored.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis.ablation import Guesses
from bartviz.analysis.mask_patterns import pattern
from bartviz.analysis.readonly import Brief
from bartviz.arrays import Bools, Floats, Ints
from bartviz.errors import SettingError
from bartviz.language import later, mark
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

STARTS: Mapping[str, str] = {
    "own": mark("the model's own"),
    "causal": mark("causal"),
    "full": mark("full"),
    "window": mark("window"),
    "padding": mark("padding"),
}
WINDOW = 2  # tokens that a row of the window sees: its own and the one before


@dataclass(frozen=True, eq=False, repr=False)
class DrawnMask(Brief):
    """The same tokens through a model with its own mask and with another one for a kind of attention.

    ``rows`` (T,) are the rows that are scored, ``targets`` the labels of what followed them in the record (for a model
    that fills masks: its own best guesses before). ``before`` and ``after`` are None where the model does not predict
    tokens. ``divergence`` (T,): KL(before || after) in nats. ``changed``: the record of the pass with the mask.
    ``written``: what the model writes itself, with its own mask and with this one; None for one that writes nothing.
    """

    record: Record
    kind: Kind
    mask: Bools
    rows: Ints
    targets: tuple[str, ...]
    before: Guesses | None
    after: Guesses | None
    divergence: Floats
    changed: Record
    written: tuple[Record, Record] | None = None

    def __repr__(self) -> str:
        return f"<DrawnMask of {self.kind}: {int(self.mask.sum())} of {self.mask.size} cells open>"

    @property
    def turned(self) -> Ints:
        """The indices into ``rows`` of those whose best token is another one."""
        if self.before is None or self.after is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.before.best != self.after.best)

    def table(self) -> pd.DataFrame:
        """One line for each scored row."""
        import pandas as pd

        data: dict[str, object] = {"row": self.rows, "target": self.targets}
        if self.before is not None and self.after is not None:
            data |= {
                "best, own mask": self.before.labels,
                "p, own mask": self.before.probability,
                "best, drawn mask": self.after.labels,
                "p, drawn mask": self.after.probability,
                "log p of target, own mask": self.before.log_probability,
                "log p of target, drawn mask": self.after.log_probability,
            }
        return pd.DataFrame(data | {"KL, nats": self.divergence, "open": self.mask[self.rows].sum(axis=1)})


def checked(mask: Bools, attention: Attention) -> Bools:
    """The mask, if it fits. Raises SettingError for another shape or a row in which no cell is open."""
    rows, columns = attention.mask.shape
    if mask.shape != (rows, columns):
        raise SettingError(
            later(
                "This mask has {rows} rows and {columns} columns, not {given}.",
                rows=rows,
                columns=columns,
                given=" × ".join(map(str, mask.shape)),
            )
        )
    closed = np.flatnonzero(~mask.any(axis=1))
    if closed.size:
        raise SettingError(later("Row {row} sees nothing: each row needs at least one open cell.", row=int(closed[0])))
    return np.asarray(mask, np.bool_)


def start(name: str, attention: Attention) -> Bools:
    """A mask of ``STARTS`` to begin with, in the shape of the attention. Padding closes the last third of the keys.

    Every row has an open cell. Raises SettingError for an unknown name.
    """
    rows, columns = attention.mask.shape
    if name not in STARTS:
        raise SettingError(later("There is no mask of that name to begin with."))
    if name == "own":
        return attention.mask.copy()
    if name == "padding":
        return np.broadcast_to(np.arange(columns) < max(1, columns - max(1, columns // 3)), (rows, columns)).copy()
    if name == "full":
        return np.ones((rows, columns), np.bool_)
    whole = pattern("causal", max(rows, columns))
    if name == "window":
        whole &= ~np.tri(len(whole), k=-WINDOW, dtype=np.bool_)
    cells = whole[:rows, :columns]
    cells[~cells.any(axis=1), -1] = True  # a row of cross-attention that is beyond the last key
    return cells


def packed(mask: Bools) -> str:
    """The mask as a short text for an address."""
    return base64.urlsafe_b64encode(zlib.compress(np.packbits(mask).tobytes(), 9)).decode().rstrip("=")


def unpacked(text: str, attention: Attention) -> Bools | None:
    """The mask of a text; None for one of another shape, or with a row that sees nothing."""
    rows, columns = attention.mask.shape
    count = -(-rows * columns // 8)
    try:
        stream = zlib.decompressobj()
        packed_bits = stream.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), count + 1)
    except (ValueError, binascii.Error, zlib.error):
        return None
    if len(packed_bits) != count:
        return None
    bits = np.unpackbits(np.frombuffer(packed_bits, np.uint8), count=rows * columns)
    mask = bits.reshape(rows, columns).astype(np.bool_)
    return mask if mask.any(axis=1).all() else None
