"""``bartviz.differences``: which heads look elsewhere in a second record of the same text, such as that of the model
after fine-tuning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis.edits import changed_rows
from bartviz.analysis.measures import padding
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd


def differences(record: Record, other: Record) -> pd.DataFrame:
    """How far each head's weights differ between two records of the same tokens: a line for each head of every kind
    that both have, the furthest first.

    Columns: kind, layer, head; distance: the mean Jensen-Shannon distance of a row, 0 (equal) to 1 (no key in common);
    row, token: the row that differs most, counted from 0; furthest: its distance. Rows that only pad are left out.
    The records are those of two models (before and after training), or of one model in two ways (a head silenced); an
    encoder-decoder is best given the same ``target=`` in both. Many texts are compared by ``Atlas.against``.
    Raises SettingError where tokens, layers or heads differ, or where no kind is in both.

    >>> other = bartviz.capture(model, record.source_text, target=record.target_text, ablate="encoder L0H0")
    >>> table = bartviz.differences(record, other)
    >>> table.columns.tolist()
    ['kind', 'layer', 'head', 'distance', 'row', 'token', 'furthest']
    >>> float(table.query("kind == 'encoder' and layer == 0").distance.max())  # what is before the change stays
    0.0
    """
    import pandas as pd

    kinds = [kind for kind in record.kinds if kind in other.kinds]
    if not kinds:
        raise SettingError(later("The records have no kind of attention in common."))
    tables = []
    for kind in kinds:
        was, now = record.attention(kind), other.attention(kind)
        if (was.query.labels, was.key.labels) != (now.query.labels, now.key.labels):
            raise SettingError(
                later(
                    "The records have other tokens, so their rows cannot be compared: run both on one text, and with "
                    "one target where there is a decoder."
                )
            )
        rows = np.flatnonzero(~padding(record, kind))
        distance = changed_rows(was, now)[0][:, :, rows]  # (L, H, rows)
        layer, head = (index.ravel() for index in np.indices(distance.shape[:2]))
        furthest = distance.reshape(len(layer), -1)
        most = rows[furthest.argmax(axis=1)]
        labels = record.rows(kind).labels
        tables.append(
            pd.DataFrame(
                {
                    "kind": kind,
                    "layer": layer,
                    "head": head,
                    "distance": furthest.mean(axis=1),
                    "row": most,
                    "token": [labels[row] for row in most],
                    "furthest": furthest.max(axis=1),
                }
            )
        )
    return pd.concat(tables).sort_values("distance", ascending=False, kind="stable", ignore_index=True)
