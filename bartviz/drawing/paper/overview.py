"""All heads of one kind for paper, each a small map: layers down, heads across."""

from __future__ import annotations

import numpy as np

from bartviz.analysis import sentence_words
from bartviz.analysis.thumbnails import MASKED, ONE, Bytes, thumbnails
from bartviz.analysis.weight_scale import RANGES, Range
from bartviz.drawing import theme
from bartviz.drawing.arguments import RECORD, expect, expect_word
from bartviz.drawing.paper.caption import caption, reading_note
from bartviz.drawing.paper.grid import color_bar
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.sheet import FAINT, GRID, Sheet, number
from bartviz.drawing.paper.sheet import MASKED as GREY
from bartviz.drawing.paper.size import COLUMN, check_width
from bartviz.language import _
from bartviz.record.attention import Kind
from bartviz.record.record import Record

SIDE = 24
"""Cells along a side of a small map; of a longer text each is the largest weight of a block of tokens."""
_LEVELS = 16  # shades: more cannot be distinguished in cells this small
_SIZE, _LEFT, _GAP, _LARGEST = 6.0, 14.0, 1.5, 60.0  # points


def overview(
    record: Record,
    kind: Kind,
    *,
    range: Range = "fixed",  # noqa: A002
    width: float = COLUMN,
    captioned: bool = True,
) -> Picture:
    """Small maps of every head: rows attend to columns, in 16 shades; for exact weights draw one head with ``map``.

    width: in points; ``captioned``: with its caption below. Raises SettingError.
    """
    expect(record, Record, RECORD)
    expect_word(range, RANGES, "The colour range")
    attention = record.attention(kind)
    sheet = Sheet(check_width(width))
    small = _pooled(thumbnails(attention, span=range).cells)  # (L, H, h, w)
    layers, heads, down, across = small.shape
    wide = min((width - _LEFT) / heads - _GAP, _LARGEST)
    high = wide * min(max(down / across, 0.4), 2.5)
    top = sheet.paragraph(0, _("layer ↓; head →")) + _SIZE + 3
    size = min(_SIZE, wide)
    for head in np.arange(heads).tolist():
        sheet.text(_LEFT + head * (wide + _GAP) + wide / 2, top - 2, str(head), size, anchor="middle", fill=FAINT)
    for layer in np.arange(layers).tolist():
        y = top + layer * (high + _GAP)
        sheet.text(_LEFT - 4, y + high / 2 + 0.35 * size, str(layer), size, anchor="end", fill=FAINT)
        for head in np.arange(heads).tolist():
            _thumbnail(sheet, small[layer, head], kind, f"{layer} {head}", _LEFT + head * (wide + _GAP), y, wide, high)
    end = color_bar(sheet, kind, range, top + layers * (high + _GAP) + 4, masked=bool((small == MASKED).any()))
    name = _("all {count} heads of {attention}", count=layers * heads, attention=sentence_words.attention(kind))
    blocks = max(attention.shape[2:]) > SIDE
    note = _("A cell is the largest weight of a block of tokens.") if blocks else ""
    predicts = kind == "cross" and record.output is not None
    return sheet.picture(end, caption(record, name, reading_note(kind, predicts), note), written=captioned)


def _thumbnail(
    sheet: Sheet, cells: Bytes, kind: Kind, place: str, x: float, y: float, wide: float, high: float
) -> None:
    """One path for each shade, in whole numbers, scaled to the size of the map."""
    down, across = cells.shape
    levels = np.where(cells == MASKED, -1, np.rint(cells / ONE * (_LEVELS - 1)).astype(int))
    scale = f"{wide / across:.4f} {high / down:.4f}"
    sheet.begin(transform=f"translate({number(x)} {number(y)}) scale({scale})", data_head=place)
    for level in np.unique(levels).tolist():
        if level:  # white is the paper
            fill = GREY if level < 0 else theme.at(theme.scale(kind), level / (_LEVELS - 1))
            sheet.path(_runs(levels == level), fill=fill, data_share=f"{max(level, 0) / (_LEVELS - 1):.3f}")
    sheet.end()
    sheet.rect(x, y, wide, high, "none", stroke=GRID, stroke_width=0.4)


def _runs(cells: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    """The True cells of (h, w) as rectangles, one for each run within a row."""
    padded = np.pad(cells, ((0, 0), (1, 1))).astype(np.int8)
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    lengths = np.nonzero(steps == -1)[1] - starts
    return "".join(f"M{x} {y}h{n}v1h-{n}z" for y, x, n in zip(rows, starts, lengths, strict=True))


def _pooled(cells: Bytes) -> Bytes:
    """(L, H, h, w) with at most 24 cells along a side: the largest of each block, masked if all of it is."""
    whole = np.where(cells == MASKED, 0, cells).astype(np.int16) + (cells != MASKED)
    for axis in (2, 3):
        count = min(whole.shape[axis], SIDE)
        whole = np.maximum.reduceat(whole, np.arange(count) * whole.shape[axis] // count, axis=axis)
    return np.where(whole == 0, MASKED, whole - 1).astype(np.uint8)
