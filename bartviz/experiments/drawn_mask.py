"""Run a record's own tokens with another mask, and let the model write with it.

The mask replaces the model's own in every layer and head of one kind of attention, in that run only
(``tape/tape.py``, ``Tape.open_cells``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from bartviz.analysis.drawn_mask import DrawnMask, checked
from bartviz.arrays import Bools
from bartviz.callbacks import never, silent
from bartviz.errors import SettingError, choices
from bartviz.experiments.ablation import own_writing
from bartviz.experiments.replay import Replay
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape


@torch_defaults()
def with_mask(
    model: Model,
    record: Record,
    kind: Kind,
    mask: Bools,
    *,
    write: bool = True,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[str, float | None], None] = silent,
) -> DrawnMask:
    """A record's predictions with the model's own mask, and with ``mask`` (Q, K) in its place.

    The record's own tokens are given in both runs (teacher forcing). A column of an encoder that no row sees is
    padding: cross-attention does not see it either. ``write``: let the model also write its own output, with its own
    mask and with this one; while it writes, what comes later is not there, whatever the mask says.
    Raises SettingError for a mask that does not fit or a record of another model, Cancelled.
    """
    if kind not in record.kinds:
        raise SettingError(later("This record has attention of the kinds {kinds}.", kinds=choices(record.kinds)))
    cells = checked(mask, record.attention(kind))
    replay, opened = Replay(model, record), _opened(record, kind, cells)
    on_progress(later("Running the text again"), None)
    tapes = Tape(cancelled=cancelled), Tape(cancelled=cancelled, open_cells=opened)
    was, now = (replay.run(tape) for tape in tapes)
    rows, labels, before, after, divergence, _ = replay.compared(was, now)
    changed = replay.kept(tapes[1], now)
    written = _written(model, record, opened, cancelled, on_progress) if write else None
    return DrawnMask(record, kind, cells, rows[: len(labels)], labels, before, after, divergence, changed, written)


def _opened(record: Record, kind: Kind, cells: Bools) -> dict[Kind, Tensor]:
    opened: dict[Kind, Tensor] = {kind: torch.from_numpy(cells.copy())}
    if kind == "encoder" and record.cross is not None and not cells.any(axis=0).all():
        seen = record.cross.mask & cells.any(axis=0)
        opened["cross"] = torch.from_numpy(seen)
    return opened


def _written(
    model: Model,
    record: Record,
    opened: Mapping[Kind, Tensor],
    cancelled: Callable[[], bool],
    on_progress: Callable[[str, float | None], None],
) -> tuple[Record, Record] | None:
    """The model's own greedy output for the record's source, with its own mask and with the given one."""
    write = own_writing(model, record, cancelled, on_progress)
    return None if write is None else (write({}), write({"open_cells": opened}))
