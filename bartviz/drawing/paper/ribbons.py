"""Two lines of words for paper: below the words that look, above those that are looked at, ribbons between them."""

from __future__ import annotations

import numpy as np

from bartviz.analysis import sentence_words, start
from bartviz.analysis.start import FAINTEST
from bartviz.analysis.words import Word, direction_of
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.drawing.arguments import RECORD, expect
from bartviz.drawing.paper.caption import caption, reading_note
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.sheet import FAINT, INK, Sheet, measure, number
from bartviz.drawing.paper.size import COLUMN, check_width
from bartviz.errors import BudgetError
from bartviz.language import _, later
from bartviz.record.attention import Head, HeadName
from bartviz.record.record import Record

_SIZE, _GAP = 7.0, 4.0  # points: the font size of words, and the space between them
_TURNED = 8.0  # from word to word of a line that does not fit and is turned
_LONGEST, _HIGH, _WIDEST = 70.0, 84.0, 7.0  # of a turned word, between both lines, and of a ribbon of weight 1


def ribbons(record: Record, head: HeadName | None = None, *, width: float = COLUMN, captioned: bool = True) -> Picture:
    """The words of a record and the weights of one head between them: a ribbon for each weight from 0.02 on.

    head: such as "cross L2H5"; by default the one that aligns best. Rows are words by what a decoder row predicts in
    cross-attention, by what it reads elsewhere. width: in points; ``captioned``: with its caption below. Raises
    SettingError, BudgetError for more words than have space.
    """
    expect(record, Record, RECORD)
    sheet = Sheet(check_width(width))
    shown = start.ribbons(record, head=None if head is None else Head.parse(head, kinds=record.kinds))
    lines = shown.above, shown.below
    turned = any(_length(line) > width for line in lines)
    most = int(width / _TURNED) if turned else start.MOST_WORDS
    longest = max(map(len, lines))
    if longest > most:
        raise BudgetError(
            later("{count} words do not fit {width:.0f} points: make the picture {needed:.0f} points wide, or use a "
                  "shorter text.", count=longest, width=width, needed=longest * _TURNED)
        )  # fmt: skip
    rooms = [_room(line) if turned else _SIZE + 2 for line in lines]
    top = sheet.paragraph(0, _("above: words looked at; below: words that look")) + 2 + rooms[0]
    bottom = top + _HIGH
    xs = [_spread(line, width, turned) for line in lines]
    middle = (top + bottom) / 2
    sheet.begin(class_="weights", fill="none", stroke=theme.kind_color(shown.head.kind), stroke_opacity="0.6")
    for t, s in sorted(_cells(shown.weights), key=lambda cell: float(shown.weights[cell])):
        low, high, weight = number(xs[1][t]), number(xs[0][s]), float(shown.weights[t, s])
        sheet.path(
            f"M{low} {number(bottom)}C{low} {number(middle)} {high} {number(middle)} {high} {number(top)}",
            stroke_width=_WIDEST * weight,
            data_cell=f"{t} {s}",
            data_weight=f"{weight:.3f}",
        )
    sheet.end()
    for line, places, y in zip(lines, xs, (top - 3, bottom + (2 if turned else _SIZE)), strict=True):
        for word, x in zip(line, places.tolist(), strict=True):
            fill = FAINT if word.special else INK
            if turned:
                anchor = "start" if y < middle else "end"
                sheet.text(
                    x + 0.35 * _SIZE, y, word.text, _SIZE, mono=True, anchor=anchor, fill=fill, turn=-90, room=_LONGEST
                )
            else:
                sheet.text(x, y, word.text, _SIZE, mono=True, anchor="middle", fill=fill)
    name = sentence_words.head(shown.head.kind, shown.head.layer, shown.head.head)
    predicts = shown.head.kind == "cross" and record.output is not None
    note = _("The width of a ribbon shows its weight; weights under {faintest} are not drawn.", faintest=FAINTEST)
    said = caption(record, name, reading_note(shown.head.kind, predicts), note)
    return sheet.picture(bottom + rooms[1] + 2, said, written=captioned)


def _cells(weights: Floats) -> list[tuple[int, int]]:
    return [(int(t), int(s)) for t, s in np.argwhere(weights >= FAINTEST)]


def _length(line: tuple[Word, ...]) -> float:
    return sum(measure(word.text, _SIZE, mono=True) + _GAP for word in line)


def _room(line: tuple[Word, ...]) -> float:
    """The height of a turned line of words."""
    return min(max((measure(word.text, _SIZE, mono=True) for word in line), default=0.0), _LONGEST) + 4


def _spread(line: tuple[Word, ...], width: float, turned: bool) -> Floats:
    """The middle of each word in reading direction: evenly if they are turned, else with equal gaps."""
    wide = np.array([measure(word.text, _SIZE, mono=True) for word in line])
    gap = (width - wide.sum()) / max(len(line), 1)
    even = (np.arange(len(line)) + 0.5) * width / max(len(line), 1)
    at = np.asarray(even if turned else np.cumsum(wide + gap) - (wide + gap) / 2, np.float32)
    return at if direction_of(line) == "ltr" else np.float32(width) - at
