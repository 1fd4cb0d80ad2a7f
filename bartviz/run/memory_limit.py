"""How much captured attention one run may hold: predicted before it begins, and refused above the limit."""

from __future__ import annotations

from bartviz.errors import BudgetError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.run.batch import Batch
from bartviz.tape import assemble
from bartviz.tape.tape import depths

MAX_BYTES = 2 << 30  # of captured attention in one run


def check_run(model: Model, batch: Batch, *, values: bool) -> None:
    """Raise BudgetError where the captured attention would be larger than MAX_BYTES."""
    source = len(batch.source[0])
    target = len(batch.query[0]) if batch.query else source
    refuse_run(len(batch.source) * predicted_bytes(model, source, target, values=values))


def predicted_bytes(model: Model, source: int, target: int, *, values: bool = False, beams: int = 1) -> int:
    """Bytes that a record of this many source and target tokens will hold, plus those of the other beams."""
    info, total = model.info, 0
    family = info.known
    key = family.keys.get("head_width", ("", None))[0]
    for kind, layers in depths(model.network).items():
        heads = info.encoder_heads if kind == "encoder" else info.decoder_heads
        rows = source if kind == "encoder" else target
        columns = source if kind != "decoder" else target
        width = getattr(model.config, key, None) or info.width // heads
        total += assemble.predicted_bytes(layers, heads, rows, columns, width, values=values)
        if kind != "encoder":
            total += (beams - 1) * assemble.predicted_bytes(layers, heads, rows, columns, width, values=values)
        if family.positions == "relative" and kind != "cross":  # T5 keeps its bias
            total += 4 * (layers if family.biased_layers else 1) * heads * rows * columns
    return total


def refuse_run(size: int) -> None:
    if size > MAX_BYTES:
        raise BudgetError(
            later(
                "The attention of this run would take {size:.1f} GB; the limit is {limit:.1f} GB. Use a "
                "shorter text or a smaller model.",
                size=size / 1e9,
                limit=MAX_BYTES / 1e9,
            )
        )
