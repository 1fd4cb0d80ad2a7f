"""Pictures of an atlas for paper: every head by one measure, two atlases, and one measure by another.

Letters in shapes: L layers, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from bartviz.analysis import sentence_words
from bartviz.analysis.corpus_measures import ALL, RANDOM
from bartviz.analysis.verdicts import LEVEL
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect, expect_word
from bartviz.drawing.paper import plot
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.plot import Axis, Mosaic, Strip
from bartviz.drawing.paper.sheet import SMALL, Sheet, number
from bartviz.drawing.paper.size import COLUMN, check_width
from bartviz.errors import SettingError, choices
from bartviz.language import _
from bartviz.record.attention import KINDS, Kind
from bartviz.text.labels import visible
from bartviz.version import __version__

if TYPE_CHECKING:
    import pandas as pd

NEEDED = "an atlas, such as bartviz.open_atlas(folder) or bartviz.corpus(texts, model)"
NAMED = 10
"""Heads of a scatter that are named, those farthest from the middle of all first, where there is room."""
_LINES = 10  # of a caption


@runtime_checkable
class Atlas(Protocol):
    """What is drawn of an atlas."""

    @property
    def description(self) -> Mapping[str, Any]: ...

    @property
    def heads(self) -> pd.DataFrame: ...


@runtime_checkable
class Comparable(Atlas, Protocol):
    """An atlas that can be compared with another one."""

    def unpaired(self, other: Any) -> str: ...

    def against(self, other: Any, *, paired: bool = False) -> pd.DataFrame: ...


def atlas(
    atlas: Atlas, measure: str = "previous", kind: Kind | None = None, *, width: float = COLUMN, captioned: bool = True
) -> Picture:
    """Every head of a kind by one measure: above the means as layers x heads, below each with its 95% interval.

    A dot marks a head whose interval lies above the value of even attention, a ring one whose interval lies below it.
    kind: by default the first that has the measure. width: in points; ``captioned``: with its caption below. Raises
    SettingError for a measure or kind that the atlas lacks.

    >>> picture = bartviz.paper.atlas(bartviz.open_atlas("atlas"), "previous", "encoder")
    >>> picture.save("previous.svg")
    """
    expect(atlas, Atlas, NEEDED)
    kind, rows = rows_of(atlas, measure, kind)
    mean, low, high, even = (_matrix(rows, name) for name in ("mean", "low", "high", "even"))
    line = _even(even)
    marks = (low > even).astype(int) - (high < even).astype(int)  # NaN: no mark
    sheet = Sheet(check_width(width))
    known, top = ALL.get(measure), _top(measure, mean)
    signed = known is not None and known.lowest is None
    scale, bottom = (theme.difference_scale(), -top) if signed else (theme.scale(kind), 0.0)
    shown = Mosaic(mean, scale, bottom, top, label(measure), marks, missing=_("not defined"))
    end = plot.mosaic(sheet, shown)
    color = theme.at(theme.scale(kind), 0.8)
    end = plot.strip(sheet, Strip(mean, low, high, color, label(measure), line), end + SMALL)
    notes = [_("Above: the mean of each head; below: the same with its 95% interval.")]
    if line is not None:
        marked = _(
            "A dot: the interval lies above even attention ({even}, dotted), a ring: below it.", even=f"{line:.3g}"
        )
        notes.append(marked)
    return sheet.picture(end, caption(atlas, [measure], kind, rows, *notes), written=captioned, most=_LINES)


def atlas_pair(
    atlas: Comparable,
    other: Comparable,
    measure: str = "previous",
    kind: Kind | None = None,
    *,
    paired: bool | None = None,
    width: float = COLUMN,
    captioned: bool = True,
) -> Picture:
    """What differs between two atlases, head by head: above the differences (the second less the first) as layers x
    heads, orange - neutral - blue, below each with its 95% interval.

    A dot marks a head that differs at a false-discovery rate of 5% over all measures of all heads. paired: text by
    text, as ``Atlas.against``; None: where both have the values of the same texts. Otherwise like ``atlas``; raises
    SettingError, too, where the atlases cannot be compared.

    >>> one, two = bartviz.open_atlas("atlas"), bartviz.open_atlas("other")
    >>> bartviz.paper.atlas_pair(one, two, "previous", "encoder").save("difference.svg")
    """
    for given in (atlas, other):
        expect(given, Comparable, NEEDED)
    kind, own = rows_of(atlas, measure, kind)
    together = measure not in RANDOM and not atlas.unpaired(other) if paired is None else paired
    table = atlas.against(other, paired=together)
    rows = table[(table["kind"] == kind) & (table["measure"] == measure)]
    if rows.empty:
        raise SettingError(f"The atlases share no {kind} attention with the measure {measure}.")
    difference, low, high, p = (
        _matrix(rows, name, own) for name in ("difference", "difference_low", "difference_high", "p_bh")
    )
    differs = p <= LEVEL
    most = float(np.nanmax(np.abs(difference), initial=1e-6))
    sheet = Sheet(check_width(width))
    unit = _("difference of {measure}", measure=label(measure))
    scale = theme.difference_scale()
    end = plot.mosaic(
        sheet, Mosaic(difference, scale, -most, most, unit, differs.astype(int), "+.2f", missing=_("not defined"))
    )
    color = theme.at(theme.scale(kind), 0.8)
    end = plot.strip(sheet, Strip(difference, low, high, color, unit, 0.0, differs), end + SMALL)
    tested = _("text by text, by a paired t-test") if together else _("as independent texts, by Welch's test")
    notes = [
        _(
            "The means of {model} over {texts:,} texts of {corpus} are subtracted from these.",
            model=visible(str(atlas.description["model"]["name"])),
            texts=int(atlas.description["texts"]),
            corpus=visible(str(atlas.description["corpus"]["name"])),
        ),
        _("Compared {tested}, with 95% intervals.", tested=tested),
        _(
            "A dot, or a filled point: {count} of {all} heads that differ at a false discovery rate of 5%, over all "
            "measures of all heads.",
            count=int(differs.sum()),
            all=int(np.isfinite(p).sum()),
        ),
    ]
    return sheet.picture(
        end, caption(other, [measure], kind, rows_of(other, measure, kind)[1], *notes), written=captioned, most=_LINES
    )


def scatter(
    atlas: Atlas, x: str, y: str, kind: Kind | None = None, *, width: float = COLUMN, captioned: bool = True
) -> Picture:
    """Every head of a kind as a point, one measure across and another one upwards, with the 95% intervals of both.

    Dotted lines are even attention. Up to ten heads are named, those farthest from the others. Otherwise like
    ``atlas``.

    >>> bartviz.paper.scatter(bartviz.open_atlas("atlas"), "entropy", "previous", "encoder").save("heads.svg")
    """
    expect(atlas, Atlas, NEEDED)
    kind, rows = rows_of(atlas, x, kind)
    others = rows_of(atlas, y, kind)[1]
    places = [(int(layer), int(head)) for layer, head in zip(rows["layer"], rows["head"], strict=True)]
    first, second = (
        {name: _matrix(part, name, rows) for name in ("mean", "low", "high", "even")} for part in (rows, others)
    )
    sheet = Sheet(check_width(width))
    evens = _even(first["even"]), _even(second["even"])
    high = min(width * 0.8, 300.0)
    top = sheet.paragraph(0, f"↑ {label(y)}") + 4
    upwards = Axis.around([*_all(second), *_known([evens[1]])], top + high, top)
    left = plot.tick_room(upwards)
    across = Axis.around([*_all(first), *_known([evens[0]])], left, width - 2)
    plot.upwards(sheet, upwards, left)
    if evens[0] is not None:
        plot.dotted(sheet, across.at(evens[0]), top, across.at(evens[0]), top + high)
    if evens[1] is not None:
        plot.dotted(sheet, left, upwards.at(evens[1]), width - 2, upwards.at(evens[1]))
    color = theme.at(theme.scale(kind), 0.8)
    points: list[tuple[float, float]] = []
    labels: list[tuple[int, str]] = []
    for layer, head in places:
        at = first["mean"][layer, head], second["mean"][layer, head]
        if math.isnan(at[0] + at[1]):
            continue
        point = across.at(float(at[0])), upwards.at(float(at[1]))
        _bars(sheet, point, across, upwards, first, second, layer, head, color)
        sheet.circle(*point, 1.5, color, data_head=f"{layer} {head}", data_value=f"{at[0]:.4g} {at[1]:.4g}")
        labels.append((len(points), f"L{layer}H{head}"))
        points.append(point)
    plot.names(sheet, points, _far(points, labels), width - 2)
    end = plot.across(sheet, across, top + high, f"{label(x)} →")
    notes = [_("A point is the mean of a head, its bars the 95% intervals.")]
    if any(even is not None for even in evens):
        notes.append(_("Dotted: even attention."))
    return sheet.picture(end, caption(atlas, [x, y], kind, rows, *notes), written=captioned, most=_LINES)


def label(measure: str) -> str:
    """The title of a measure and its unit; a measure of one's own has its name alone."""
    known = ALL.get(measure)
    return measure if known is None else f"{known.title}, {known.unit}"


def caption(atlas: Atlas, measures: Sequence[str], kind: Kind, rows: pd.DataFrame, *notes: str) -> str:
    """What is drawn, of which model over which texts, how many, and what it was computed and drawn with."""
    of = atlas.description
    counts = rows["n"].to_numpy()
    least, most = int(counts.min()), int(counts.max())
    named = sentence_words.capitalized("; ".join(label(measure) for measure in measures))
    sentences = [
        _(
            "{measure}: {count} heads of {attention} of {model}, over {texts} texts of {corpus}; layers and "
            "heads are numbered from 0.",
            measure=named,
            count=len(rows),
            attention=sentence_words.attention(kind),
            model=visible(str(of["model"]["name"])),
            texts=f"{most:,}" if least == most else f"{least:,}–{most:,}",
            corpus=visible(str(of["corpus"]["name"])),
        ),
        *notes,
    ]
    made = of.get("versions", {})
    if made:
        versions = ", ".join(f"{name} {version[:12]}" for name, version in made.items())
        sentences.append(_("Computed with {versions}.", versions=versions))
    sentences.append(_("Drawn by bartviz {version}.", version=__version__))
    return " ".join(sentences)


def rows_of(atlas: Atlas, measure: str, kind: Kind | None) -> tuple[Kind, pd.DataFrame]:
    """The kind, and its rows of a measure. Raises SettingError."""
    heads: Any = atlas.heads.dropna(subset=["mean"])
    expect_word(measure, list(dict.fromkeys(heads["measure"])), "The measure")
    heads = heads[heads["measure"] == measure]
    there = [name for name in KINDS if (heads["kind"] == name).any()]
    chosen = kind or there[0]
    if chosen not in there:
        raise SettingError(f"No {chosen} attention has the measure {measure}: choose {choices(there)}.")
    return chosen, heads[heads["kind"] == chosen].sort_values(["layer", "head"])


def _matrix(rows: pd.DataFrame, column: str, of: pd.DataFrame | None = None) -> Floats:
    """(L, H) a column, NaN where there is no row; as large as the heads ``of`` another table."""
    whole = rows if of is None else of
    found = np.full((int(whole["layer"].max()) + 1, int(whole["head"].max()) + 1), np.nan, np.float32)
    found[rows["layer"].to_numpy(), rows["head"].to_numpy()] = rows[column].to_numpy()
    return found


def _top(measure: str, mean: Floats) -> float:
    """The end of the colours: the largest value that the measure can have, or that there is."""
    known = ALL.get(measure)
    return (None if known is None else known.highest) or float(np.nanmax(np.abs(mean), initial=1e-6))


def _even(even: Floats) -> float | None:
    """The value of even attention, if the measure has one: the same for all heads."""
    known = _known(even.ravel().tolist())
    return known[0] if known else None


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and not math.isnan(value)]


def _all(found: Mapping[str, Floats]) -> list[float]:
    return [value for name in ("mean", "low", "high") for value in found[name].ravel().tolist()]


def _bars(
    sheet: Sheet,
    point: tuple[float, float],
    across: Axis,
    upwards: Axis,
    first: Mapping[str, Floats],
    second: Mapping[str, Floats],
    layer: int,
    head: int,
    color: str,
) -> None:
    x, y = point
    low, high = (float(first[end][layer, head]) for end in ("low", "high"))
    steps = "" if math.isnan(low + high) else f"M{number(across.at(low))} {number(y)}H{number(across.at(high))}"
    low, high = (float(second[end][layer, head]) for end in ("low", "high"))
    if not math.isnan(low + high):
        steps += f"M{number(x)} {number(upwards.at(low))}V{number(upwards.at(high))}"
    if steps:
        sheet.path(steps, stroke=color, stroke_width=0.6, data_bars=f"{layer} {head}")


def _far(points: Sequence[tuple[float, float]], labels: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The points farthest from the middle of all, at most ten."""
    if not points:
        return []
    places = np.array(points)
    apart = np.abs(places - np.median(places, axis=0)).sum(axis=1)
    return [labels[index] for index in np.argsort(-apart, kind="stable")[:NAMED].tolist()]
