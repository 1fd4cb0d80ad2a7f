"""Word links of cross-attention for paper: the matrix of weights between words, a dot on each link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from bartviz.analysis import alignment as analysis
from bartviz.analysis.aligners import aligners, best
from bartviz.analysis.alignment import THRESHOLD, Method
from bartviz.drawing.arguments import RECORD, expect, expect_word
from bartviz.drawing.paper.caption import caption, reading_note
from bartviz.drawing.paper.grid import Cells, grid
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.sheet import Sheet
from bartviz.drawing.paper.size import COLUMN, check_width
from bartviz.errors import SettingError
from bartviz.language import _, later, mark
from bartviz.language.percentages import percent
from bartviz.record.attention import Head, HeadName, Kind
from bartviz.record.record import Reading, Record

_LINKS: dict[Method, str] = {
    "target": mark("A dot: the strongest source word of an output word."),
    "source": mark("A dot: the strongest output word of a source word."),
    "mutual": mark("A dot: both words choose each other."),
    "union": mark("A dot: either word chooses the other."),
    "grow": mark("A dot: both words choose each other, or a neighbour of such a link does."),
    "threshold": mark("A dot: a weight of {threshold} or more."),
}


def alignment(
    record: Record,
    heads: Sequence[HeadName] | None = None,
    *,
    reading: Reading = "predicts",
    method: Method = "mutual",
    threshold: float = THRESHOLD,
    width: float = COLUMN,
    captioned: bool = True,
) -> Picture:
    """Rows are words of the output, columns words of the source, a dot is a link; of several heads the mean.

    ``heads`` are named like "cross L1H0"; by default the best head for this reading. width: in points; ``captioned``:
    with its caption below. Raises SettingError for a record without cross-attention or words, BudgetError for more than
    128 words on a side, or a text so long that ``heads`` must be given.
    """
    expect(record, Record, RECORD)
    expect_word(reading, get_args(Reading), "The reading")
    sheet = Sheet(check_width(width))
    source, target = analysis.lines(record)
    if not len(source) or not len(target):
        raise SettingError(later("There are only special tokens here: nothing to align."))
    cross: tuple[Kind, ...] = ("cross",)
    parsed = None if heads is None else tuple(Head.parse(head, kinds=cross) for head in heads)
    chosen = best(aligners(record), reading).heads if parsed is None else parsed
    shown = analysis.table(record, chosen, reading=reading)
    links = analysis.links(shown.weights, method, threshold=threshold)
    cells = Cells(
        shown.weights,
        np.broadcast_to(shown.has_rows[:, None], shown.weights.shape),
        shown.target.labels,
        shown.source.labels,
        np.zeros(len(target), np.bool_),
        np.zeros(len(source), np.bool_),
        "cross",
        (_("output word ↓"), _("source word →")),
        marks=[(row, column) for column, row in links],
    )
    end = grid(sheet, cells)
    notes = reading_note("cross", reading == "predicts"), _(_LINKS[method], threshold=threshold)
    share = _("{share} of the attention went to special tokens.", share=percent(shown.special_share))
    return sheet.picture(end, caption(record, shown.name, *notes, share), written=captioned)
