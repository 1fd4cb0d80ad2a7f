"""The downloads of the masks page: the masks with the chosen weights, a pattern's effect, a padded batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bartviz.app.controls import show
from bartviz.arrays import Bools, Floats
from bartviz.features.masks.figure import View
from bartviz.language import _
from bartviz.record.attention import Attention

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from bartviz.record.record import Record


def arrays(record: Record, view: View, layer: int, head: int) -> dict[str, Bools | Floats]:
    """The mask of each kind (Q, K), True where a row may look; with the view of weights also those of the head."""
    named: dict[str, Bools | Floats] = {kind: record.attention(kind).mask for kind in record.kinds}
    for kind in record.kinds if view == "weights" else ():
        attention = record.attention(kind)
        layers, heads = attention.shape[:2]
        indices = min(layer, layers - 1), min(head, heads - 1)
        named[f"{kind}_L{indices[0]}H{indices[1]}"] = attention.head(*indices)
    return named


def batch(attentions: Sequence[Attention]) -> None:
    """The padded masks of a batch, (Q, K) each, and the weights of L0H0."""
    masks = {f"mask_{number + 1}": one.mask for number, one in enumerate(attentions)}
    show.downloads(
        "masks-padding",
        title=_("A padded batch"),
        arrays=lambda: masks | {f"L0H0_{number + 1}": one.head(0, 0) for number, one in enumerate(attentions)},
    )


def effect(
    changed: Attention, before: Floats, after: Floats, row: int, name: str, figure: Callable[[], go.Figure]
) -> None:
    """The effect of a pattern: one row as a table and a figure, all rows (n, n) as arrays."""
    show.downloads(
        "masks-pattern",
        title=_("The effect of a pattern"),
        of=name,
        table=lambda: _row(changed, before[row], after[row], row),
        arrays=lambda: {"mask": changed.mask, "before": before, "after": after},
        figure=figure,
    )


def _row(changed: Attention, before: Floats, after: Floats, row: int) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "query": changed.query.labels[row],
            "column": np.arange(before.size),
            "key": changed.key.labels,
            "open": changed.mask[row],
            "weight, nothing closed": before,
            "weight with the pattern": after,
        }
    )
