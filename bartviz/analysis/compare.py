"""All measures of all heads as one table, and a sentence on what is striking in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import head_view, sentence_words
from bartviz.analysis.corpus_measures import measure_of
from bartviz.analysis.head_measures import MEASURES
from bartviz.analysis.head_names import THRESHOLD, UNNAMED, clearest, names
from bartviz.analysis.measures import Measured
from bartviz.arrays import Bools, Floats
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark, plural, speaking
from bartviz.record.attention import Kind

if TYPE_CHECKING:
    import pandas as pd

NAMED = 2  # heads that the sentence names
TO_A = "to_a"
"""The measure that is the distance from the head A; it is no property of a head alone."""
_PLAIN = {
    "evenness": mark("how widely it looks, from 0 (at one token) to 1 (at all alike)"),
    "alignment": mark("the share of its weight that links words one to one"),
    "previous": mark("the share of its weight on the token before"),
    "distance": mark("how many tokens away it looks on average"),
}


def table(measured: Measured, *, threshold: float = THRESHOLD, to_a: Floats | None = None) -> pd.DataFrame:
    """One line per head: layer, head, every measure (NaN if undefined), its name, and the score behind the name.

    ``to_a`` (L, H) adds the Jensen-Shannon distance of each head from A. Columns are named as in ``MEASURES``.
    """
    import pandas as pd

    layers, heads = measured.shape
    given = names(measured, threshold=threshold)
    places = list(np.ndindex(layers, heads))
    frame = pd.DataFrame(
        {
            "head": [f"{measured.kind} L{layer}H{head}" for layer, head in places],
            "layer": [layer for layer, _head in places],
            "number": [head for _layer, head in places],
            "name": [given[place].title if place in given else _(UNNAMED) for place in places],
            "score": [given[place].score if place in given else np.nan for place in places],
        }
    )
    for name, values in measured.values.items():
        frame[name] = values.ravel()
    if to_a is not None:
        frame[TO_A] = to_a.ravel()
    return frame


def with_units(table: pd.DataFrame) -> pd.DataFrame:
    """The same table for a file: columns of measures contain the unit, in English."""
    with speaking("en"):
        units = {name: f"{name} ({measure.unit})" for name, measure in MEASURES.items() if measure.unit}
    return table.rename(columns=units | {TO_A: f"{TO_A} (Jensen-Shannon distance, 0 to 1)"})


def notice(measured: Measured, *, threshold: float = THRESHOLD, percents: bool = True) -> str:
    """How many heads do mainly one thing in this text, what the clearest do, and how many do none. With ``percents``
    shares of weight are in per cent, else in decimals, as beside the heads' names."""
    given = clearest(measured, threshold=threshold)
    count = measured.shape[0] * measured.shape[1]
    filled: dict[str, object] = {"named": len(given), "all": count, "kind": sentence_words.before_noun(measured.kind)}
    if not given:
        if count == 1:
            return _("The one {kind} head has no clear habit in this text.", **filled)
        return _("None of the {all} {kind} heads has a clear habit in this text.", **filled)
    if count == 1:
        said = _("The one {kind} head does mainly one thing in this text.", **filled)
    elif len(given) == 1:
        said = _("One of {all} {kind} heads does mainly one thing in this text.", **filled)
    else:
        said = _("{named} of {all} {kind} heads do mainly one thing in this text.", **filled)
    does = [
        head_view.of_habit(f"L{layer}H{head}", name.habit if percents else name.does(f"{name.score:.2f}"))
        for (layer, head), name in given[:NAMED]
    ]
    rest = count - len(given)
    others = plural("{count} other has no clear habit.", "{count} others have no clear habit.", rest) if rest else ""
    return " ".join(filter(None, (said, *does, others)))


def arrays(measured: Measured) -> dict[str, NDArray[np.generic]]:
    """Every measure (L, H), what even attention would give, and how many rows were averaged."""
    found: dict[str, NDArray[np.generic]] = dict(measured.values)
    defined = list(measured.values)
    return found | {
        "kind": np.array(measured.kind),
        "measures": np.array(defined),
        "even": np.array([measured.even[name] for name in defined]),
        "rows": np.array([measured.rows[name] for name in defined]),
    }


def defaults(kind: Kind) -> tuple[str, str, str]:
    """The default measures of the page: x, y and colour."""
    return ("evenness", "alignment", "alignment") if kind == "cross" else ("evenness", "previous", "distance")


@dataclass(frozen=True, eq=False)
class Field:
    """One number of every head, ready to be drawn: ``values`` (L, H), ``highest`` None where it grows with the text,
    ``even`` what even attention gives (NaN where that has no meaning), ``lowest`` None where it may be anything."""

    name: str
    title: str
    unit: str
    values: Floats
    highest: float | None
    even: float
    lowest: float | None = 0.0

    @property
    def label(self) -> str:
        """For an axis: the title with its unit."""
        return _("{title} ({unit})", title=self.title, unit=self.unit)

    @property
    def plain(self) -> str:
        """What the number says, in words that need no formula."""
        return _(_PLAIN[self.name]) if self.name in _PLAIN else self.title

    @property
    def signed(self) -> bool:
        """Whether a head has a value below 0."""
        return self.lowest is None and self.bounds[0] < 0

    @property
    def top(self) -> float:
        """Where a colour scale ends: the highest possible value, or the largest that a head has, whatever its sign."""
        return self.highest if self.highest is not None else max(*map(abs, self.bounds), 1e-6)

    @property
    def bottom(self) -> float:
        """Where it begins: at 0, or as far below it as it ends above."""
        return -self.top if self.signed else 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value of any head; (0, 0) where it is undefined for all."""
        known = self.values[np.isfinite(self.values)]
        return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)

    @property
    def has_even(self) -> bool:
        """Whether the value of even attention is within the range of the heads, or close to it."""
        low, high = self.bounds
        room = max(high - low, 1e-6) * 0.25
        return low - room <= self.even <= high + room

    def within(self, least: float, most: float) -> Bools:
        """(L, H) the heads whose value lies between two numbers, both included; none where it is undefined."""
        return np.asarray((self.values >= least) & (self.values <= most), np.bool_)


def field(measured: Measured, name: str, *, to_a: Floats | None = None) -> Field:
    """A measure by its name, or with ``to_a`` (L, H) the distance from head A. Raises SettingError."""
    if name == TO_A and to_a is not None:
        return Field(name, _("distance from A"), _("Jensen-Shannon, 0 to 1"), to_a, 1.0, np.nan)
    if name not in measured.values:
        raise SettingError(
            later(
                "There is no such measure of {kind} heads: choose {choices}.",
                kind=sentence_words.later_kind(measured.kind),
                choices=choices(measured.values),
            )
        )
    known = measure_of(name)
    return Field(name, known.title, known.unit, measured.values[name], known.highest, measured.even[name], known.lowest)
