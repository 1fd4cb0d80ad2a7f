"""One head, or a mean of heads, for paper: as a map, as lines between tokens, or as a text shaded by one row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bartviz.analysis import head_view as analysis
from bartviz.analysis.head_view import View
from bartviz.analysis.masks import no_row
from bartviz.analysis.weight_scale import Range, shares
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import RECORD, expect
from bartviz.drawing.colors import LIGHT
from bartviz.drawing.paper.caption import caption, reading_note
from bartviz.drawing.paper.grid import MOST, Cells, color_bar, grid
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.sheet import FAINT, GRID, INK, Sheet, measure, number
from bartviz.drawing.paper.size import COLUMN, check_width
from bartviz.errors import BudgetError, SettingError
from bartviz.language import _, later
from bartviz.record.attention import Head, HeadName
from bartviz.record.record import Reading, Record

FAINTEST = 0.05
"""Weights below this draw no line."""
_TOKEN = 7.0  # points: the font size of tokens
_DOWN = 0.35 * _TOKEN  # from the middle of a token to its baseline
_LINE = 10.0  # from token to token of a column, and from line to line of a text
_THICK = 2.2  # a line of weight 1


def map(  # noqa: A001
    record: Record,
    kind: HeadName,
    layer: int | None = None,
    head: int | None = None,
    *,
    reading: Reading | None = None,
    words: bool = False,
    hide_sinks: bool = False,
    renormalise: bool = False,
    range: Range = "fixed",  # noqa: A002
    width: float = COLUMN,
    captioned: bool = True,
) -> Picture:
    """The weights of a head as a map: a row attends to columns, and masked cells are hatched.

    ``kind`` may be the name of a head, such as "cross L2H5". Without ``head`` the mean of the layer, without ``layer``
    the mean of all heads. reading: what names the rows of a decoder, as in ``record.rows``. ``words`` merges pieces,
    ``hide_sinks`` leaves out special tokens and ends of sentences, whose share the caption states. Of a chat, strips
    beside rows and columns show whose message they belong to. width: in points;
    ``captioned``: with its caption below. Raises SettingError, BudgetError for more than 128 rows or columns.
    """
    shown = _view(record, kind, layer, head, reading, words, hide_sinks, renormalise)
    sheet = Sheet(check_width(width))
    rows = _("query: row predicts ↓") if shown.predicts else _(axes.ROW_TITLE)
    cells = Cells(
        shown.weights,
        shown.mask,
        shown.query_labels,
        shown.key_labels,
        shown.query_special,
        shown.key_special,
        shown.kind,
        (rows, _(axes.COLUMN_TITLE)),
        range,
        roles=_roles(record, shown),
    )
    end = grid(sheet, cells)
    return sheet.picture(end, _caption(record, shown), written=captioned)


def lines(
    record: Record,
    kind: HeadName,
    layer: int | None = None,
    head: int | None = None,
    *,
    row: int | None = None,
    reading: Reading | None = None,
    words: bool = False,
    hide_sinks: bool = False,
    renormalise: bool = False,
    width: float = COLUMN,
    captioned: bool = True,
) -> Picture:
    """Queries on the left, keys on the right, and a line for each weight from 0.05 on, as thick as it is large; with
    ``row`` those of one row alone. Otherwise like ``map``."""
    shown = _view(record, kind, layer, head, reading, words, hide_sinks, renormalise)
    if row is not None:
        _check_row(shown, row)
    longest = max(shown.weights.shape)
    if longest > MOST:
        raise BudgetError(later("Lines have at most {most} tokens on a side, not {count}: merge pieces into words, or "
                                "use a shorter text.", most=MOST, count=longest))  # fmt: skip
    sheet = Sheet(check_width(width))
    left, right = (
        min(max(measure(label, _TOKEN, mono=True) for label in labels), 0.35 * width) + 4
        for labels in (shown.query_labels, shown.key_labels)
    )
    start, end = left, width - right
    top = sheet.paragraph(0, _("left: query; right: key")) + 2
    high = longest * _LINE
    ends = [(np.arange(count) + 0.5) * high / count + top for count in shown.weights.shape]
    scale = theme.scale(shown.kind)
    drawn = np.argwhere(np.where(shown.mask, shown.weights, 0) >= FAINTEST).tolist()
    chosen = [(q, k) for q, k in drawn if row is None or q == row]
    bend = (end - start) * 0.35
    sheet.begin(class_="weights", fill="none")
    for q, k in sorted(chosen, key=lambda cell: float(shown.weights[cell])):  # strong lines above weak ones
        weight = float(shown.weights[q, k])
        y0, y1 = number(ends[0][q]), number(ends[1][k])
        sheet.path(
            f"M{number(start)} {y0}C{number(start + bend)} {y0} {number(end - bend)} {y1} {number(end)} {y1}",
            stroke=theme.at(scale, 0.25 + 0.6 * weight),
            stroke_width=_THICK * weight,
            data_cell=f"{q} {k}",
            data_weight=f"{weight:.3f}",
        )
    sheet.end()
    for q, (label, y) in enumerate(zip(shown.query_labels, ends[0].tolist(), strict=True)):
        fill = FAINT if shown.query_special[q] or row not in (None, q) else INK
        sheet.text(start - 3, y + _DOWN, label, _TOKEN, mono=True, anchor="end", fill=fill, room=left - 3)
    for k, (label, y) in enumerate(zip(shown.key_labels, ends[1].tolist(), strict=True)):
        fill = FAINT if shown.key_special[k] else INK
        sheet.text(end + 3, y + _DOWN, label, _TOKEN, mono=True, fill=fill, room=right - 3)
    note = _("The width of a line shows its weight; weights under {faintest} are not drawn.", faintest=FAINTEST)
    return sheet.picture(top + high, _caption(record, shown, note), written=captioned)


def text(
    record: Record,
    kind: HeadName,
    layer: int | None = None,
    head: int | None = None,
    row: int | None = None,
    *,
    reading: Reading | None = None,
    words: bool = False,
    hide_sinks: bool = False,
    renormalise: bool = False,
    range: Range = "fixed",  # noqa: A002
    width: float = COLUMN,
    captioned: bool = True,
) -> Picture:
    """The text itself, each token in the colour of the weight that one row gives it.

    row: counted from 0; by default the first that is not special. Otherwise like ``map``, without its limit.
    """
    shown = _view(record, kind, layer, head, reading, words, hide_sinks, renormalise)
    chosen = int(np.argmin(shown.query_special)) if row is None else row
    _check_row(shown, chosen)
    sheet = Sheet(check_width(width))
    cells = _one_row(shown, chosen, range)
    top = sheet.paragraph(0, _("row {row}: {token}", row=chosen, token=shown.query_labels[chosen]), fill=INK) + 3
    x, y, scale = 0.0, top, theme.scale(shown.kind)
    backwards = record.attention(shown.kind).key.direction == "rtl"
    sheet.begin(class_="weights")
    for place, label in enumerate(shown.key_labels):
        wide = min(measure(label, _TOKEN, mono=True) + 3, width)
        if x and x + wide > width:
            x, y = 0.0, y + _LINE + 2
        weight, masked = float(shown.weights[chosen, place]), not shown.mask[chosen, place]
        color = LIGHT.masked if masked else theme.at(scale, cells[place])
        said = {} if masked else {"data_weight": f"{weight:.3f}"}
        left = width - x - wide if backwards else x
        sheet.rect(left, y, wide, _LINE, color, stroke=GRID, stroke_width=0.4, data_cell=str(place), **said)
        fill = FAINT if masked else theme.ink_on(color)
        sheet.text(left + 1.5, y + _LINE - 2.7, label, _TOKEN, mono=True, fill=fill, room=wide - 3)
        x += wide + 1.5
    sheet.end()
    end = color_bar(sheet, shown.kind, range, y + _LINE + 5)
    return sheet.picture(end, _caption(record, shown), written=captioned)


def _one_row(shown: View, row: int, span: Range) -> Sequence[float]:
    """(K',) in 0..1: where the weights of a row are on the colour scale."""
    return [
        float(place) for place in shares(np.where(shown.mask[row], shown.weights[row], np.float32(0))[None], span)[0]
    ]


def _view(
    record: Record,
    kind: HeadName,
    layer: int | None,
    head: int | None,
    reading: Reading | None,
    words: bool,
    hide_sinks: bool,
    renormalise: bool,
) -> View:
    expect(record, Record, RECORD)
    if not isinstance(kind, str) or any(char.isdigit() for char in kind):
        if layer is not None or head is not None:
            raise SettingError("The name of a head has its layer in it: leave layer and head out.")
        named = Head.parse(kind, kinds=record.kinds)
        kind, layer, head = named.kind, named.layer, named.head
    attention = record.attention(str(kind))
    rows = record.rows(attention.kind, reading)
    return analysis.view(
        attention, layer, head, query=rows, words=words, hide_sinks=hide_sinks, renormalise=renormalise
    )


def _roles(record: Record, shown: View) -> tuple[list[str | None], list[str | None]] | None:
    """Of a chat, the role of each row and of each column; else None."""
    if not record.turns or shown.kind != "decoder":
        return None
    rows, columns = record.roles("predicts" if shown.predicts else "reads"), record.roles()
    return [rows[group[0]] for group in shown.query_groups], [columns[group[0]] for group in shown.key_groups]


def _caption(record: Record, shown: View, note: str = "") -> str:
    return caption(record, shown.name, reading_note(shown.kind, shown.predicts), analysis.hidden_note(shown), note)


def _check_row(shown: View, row: int) -> None:
    if not 0 <= row < len(shown.query_labels):
        raise no_row(row, len(shown.query_labels))
