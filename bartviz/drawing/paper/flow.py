"""What reaches a row through all layers, and what each key adds to it, for paper: rollout and contributions as maps."""

from __future__ import annotations

import numpy as np

from bartviz.analysis import contributions as lengths
from bartviz.analysis import rollout as rolled
from bartviz.analysis import sentence_words
from bartviz.drawing import axes
from bartviz.drawing.arguments import RECORD, expect
from bartviz.drawing.paper.caption import caption, reading_note
from bartviz.drawing.paper.grid import Cells, Reach, grid
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.sheet import Sheet
from bartviz.drawing.paper.size import COLUMN, check_width
from bartviz.errors import SettingError
from bartviz.language import _
from bartviz.record.attention import Head, HeadName, Kind
from bartviz.record.record import Reading, Record


def rollout(
    record: Record, kind: Kind | None = None, layer: int | None = None, *, width: float = COLUMN, captioned: bool = True
) -> Picture:
    """Attention rollout as a map: row i of a layer's output, spread over the tokens that the stack reads.

    The numbers are those of ``bartviz.rollout(record, kind, layer=layer)`` (Abnar and Zuidema 2020). kind: "encoder" or
    "decoder"; None: the encoder if the record has it. width: in points; ``captioned``: with its caption below. Raises
    SettingError, BudgetError for more than 128 rows or columns.

    >>> bartviz.paper.rollout(record, "encoder").save("rollout.svg")
    """
    expect(record, Record, RECORD)
    chosen: Kind = kind or ("decoder" if record.encoder is None else "encoder")
    attention = record.attention(chosen)
    last = attention.shape[0] - 1 if layer is None else layer
    values = rolled.rollout(attention, last)
    sheet = Sheet(check_width(width))
    query, key = attention.query, attention.key
    cells = Cells(
        values,
        attention.mask,
        query.labels,
        key.labels,
        query.special,
        key.special,
        chosen,
        (_("row of the output ↓"), _("token that was read →")),
        reach=Reach(1.0, False, _("share that arrives, 0 to 1"), _("masked")),
    )
    name = _("rollout, {kind} layers 0 to {layer}", kind=sentence_words.kind(chosen), layer=last)
    notes = (
        _("A cell is the share of a token in a row, by the mean weights of each layer and the residual connection "
          "(Abnar and Zuidema 2020)."),
        _("Values and feed-forward layers are left out."),
    )  # fmt: skip
    return sheet.picture(grid(sheet, cells), caption(record, name, *notes), written=captioned)


def contributions(
    record: Record,
    kind: HeadName,
    layer: int | None = None,
    head: int | None = None,
    *,
    reading: Reading | None = None,
    width: float = COLUMN,
    captioned: bool = True,
) -> Picture:
    """What each key adds to a row through one head, the length ‖a(i, j) v_j W_O‖, as a map (Kobayashi et al. 2020).

    ``kind`` may be the name of a head, such as "cross L2H5"; else layer and head are given. reading: what names the
    rows of a decoder, as in ``record.rows``. Otherwise like ``rollout``; raises SettingError for a record without
    values, which ``capture(..., values=True)`` keeps.

    >>> with_values = bartviz.capture(model, "We see a dog.", values=True)
    >>> bartviz.paper.contributions(with_values, "cross L2H5").save("contributions.svg")
    """
    expect(record, Record, RECORD)
    if (layer is None) != (head is None):
        raise SettingError("Contributions are of one head: name its layer and its head.")
    named: HeadName = kind if layer is None or head is None else Head(record.attention(str(kind)).kind, layer, head)
    one = Head.parse(named, kinds=record.kinds)
    attention = record.attention(one.kind)
    values = lengths.norms(attention, one.layer, one.head)
    rows = record.rows(one.kind, reading)
    predicts = rows is record.output
    sheet = Sheet(check_width(width))
    high = float(np.max(np.where(attention.mask, values, 0), initial=0)) or 1.0
    cells = Cells(
        values,
        attention.mask,
        rows.labels,
        attention.key.labels,
        rows.special,
        attention.key.special,
        one.kind,
        (_("query: row predicts ↓") if predicts else _(axes.ROW_TITLE), _(axes.COLUMN_TITLE)),
        reach=Reach(high, False, _("length of what is added"), _("masked")),
    )
    name = _("contributions of {head}", head=sentence_words.head(one.kind, one.layer, one.head))
    note = _("A cell is the length of what a key adds to a row, ‖a(i, j) v_j W_O‖ (Kobayashi et al. 2020).")
    said = caption(record, name, note, reading_note(one.kind, predicts))
    return sheet.picture(grid(sheet, cells), said, written=captioned)
