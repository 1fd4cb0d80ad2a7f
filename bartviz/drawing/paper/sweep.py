"""A sweep for paper: what silencing each head changes, as layers x heads of each kind."""

from __future__ import annotations

import math

import numpy as np

from bartviz.analysis import ablation, sentence_words
from bartviz.analysis.ablation import SIGNED, UNITS, Measure, Sweep
from bartviz.drawing import theme
from bartviz.drawing.arguments import RECORD, expect
from bartviz.drawing.paper.caption import caption
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.plot import Mosaic, mosaic
from bartviz.drawing.paper.sheet import LEADING, SMALL, Sheet
from bartviz.drawing.paper.size import COLUMN, check_width
from bartviz.errors import SettingError
from bartviz.language import _
from bartviz.record.record import Record

_LINES = 10  # of a caption


def sweep(
    found: Sweep, record: Record, measure: Measure | None = None, *, width: float = COLUMN, captioned: bool = True
) -> Picture:
    """What silencing each head changes in one text: layers x heads, the kinds below each other, in the same colours.

    found: of ``bartviz.ablate_sweep(model, record)``; record: that one, for the caption. measure: one of
    ``found.measures``, by default the first. The change of log p runs orange (the text is less likely without the
    head) - neutral - blue (likelier). width: in points; ``captioned``: with its caption below. Raises SettingError for
    a measure that the sweep lacks, or the sweep of another record.

    >>> swept = bartviz.ablate_sweep(model, record)
    >>> bartviz.paper.sweep(swept, record).save("sweep.svg")
    """
    expect(found, Sweep, "the result of bartviz.ablate_sweep")
    expect(record, Record, RECORD)
    what = measure or found.measures[0]
    values = found.values(what)
    for kind in found.kinds:
        shape = record.attention(kind).shape[:2]
        if any(head.kind == kind and not (head.layer < shape[0] and head.head < shape[1]) for head in found.heads):
            raise SettingError("The sweep is of another record: it has heads that this one lacks.")
    signed = what in SIGNED
    most = float(np.nanmax(np.abs(values), initial=1e-6))
    places = 0 if what == "changed" else max(2, 1 - math.floor(math.log10(most)))
    digits = f"{'+' if signed else ''}.{places}f"
    sheet = Sheet(check_width(width))
    end = 0.0
    for kind in found.kinds:
        scale = theme.difference_scale() if signed else theme.scale(kind)
        title = sentence_words.capitalized(_("{kind} heads", kind=sentence_words.kind(kind)))
        drawn = Mosaic(
            found.map(kind, what),
            scale,
            -most if signed else 0.0,
            most,
            _(UNITS[what]),
            digits=digits,
            title=title if len(found.kinds) > 1 else "",
            missing=_("not measured"),
        )
        last = kind == found.kinds[-1] or not signed  # signed colours are those of every kind
        end = mosaic(sheet, drawn, end, colors=last) + SMALL * LEADING / 2
    name = _("{measure} by silencing each head", measure=_(UNITS[what]))
    notes = [ablation.sweep_notice(found), _("One text: these numbers have no interval.")]
    return sheet.picture(end, caption(record, name, *notes), written=captioned, most=_LINES)
