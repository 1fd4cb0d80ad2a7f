"""Activation patching: which heads carry what makes one text end otherwise than another?

The outputs of heads in a run on one text, the clean one, are put into a run on another, the corrupted one. The share of
the difference between the two runs that this recovers says what the head carries of it (Meng et al. 2022; Wang et al.
2023). Shares do not add up: heads work together, and one may take over where another is missing. NumPy alone.

Letters in shapes: L layers, H heads, Q rows of a kind of attention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from bartviz.analysis import sentence_words
from bartviz.analysis.masks import quote
from bartviz.analysis.readonly import Brief
from bartviz.arrays import Floats
from bartviz.language import _, plural
from bartviz.record.attention import Kind

if TYPE_CHECKING:
    import pandas as pd

By = Literal["head", "position", "head and position"]
BYS: tuple[By, ...] = ("head", "position", "head and position")
CARRIES = 0.1  # the share from which on a head is said to carry something of the difference


@dataclass(frozen=True, eq=False, repr=False)
class Patching(Brief):
    """What the outputs of heads, taken from a clean run and put into a corrupted one, recover of their difference.

    The difference of a run is the logit of the first of ``answers`` minus that of the second, at row ``row`` of the
    last stack: ``clean`` and ``corrupted``, in nats. ``recovered``: for each kind the share (patched - corrupted) /
    (clean - corrupted) of what is put back, each alone: a head at all rows (L, H), all heads of a layer at one row
    (L, Q), or one head at one row (L, H, Q), as ``by`` says. 1 is the clean run, 0 the corrupted one; below 0 it is
    pushed further away, above 1 beyond the clean run. ``everything``: the share if all heads of these kinds are put
    back at all rows at once. ``rows`` and ``corrupted_rows``: the tokens at the rows of each kind, in the two runs.
    ``missing``: kinds that are left out because the texts have different numbers of tokens.
    """

    model: str
    by: By
    row: int
    answers: tuple[str, str]
    ids: tuple[int, int]
    clean: float
    corrupted: float
    recovered: Mapping[Kind, Floats]
    everything: float
    rows: Mapping[Kind, tuple[str, ...]]
    corrupted_rows: Mapping[Kind, tuple[str, ...]]
    missing: tuple[Kind, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rows", "corrupted_rows"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{kind} {list(shares.shape)}" for kind, shares in self.recovered.items())
        first, second = self.answers
        return f"<Patching by {self.by}: {first!r} against {second!r}, {sizes}>"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(self.recovered)

    def ranked(self) -> list[tuple[Kind, tuple[int, ...], float]]:
        """Kind, index into its shares, and share of everything that was put back, the largest share first."""
        found = [
            (kind, tuple(int(i) for i in index), float(share))
            for kind, shares in self.recovered.items()
            for index, share in np.ndenumerate(shares)
        ]
        return sorted(found, key=lambda one: -one[2])

    def name(self, kind: Kind, index: tuple[int, ...]) -> str:
        """What is put back at an index: ``cross L2H5``, ``cross L2, row 3 (Auto)``, or both."""
        if self.by == "head":
            return sentence_words.head(kind, *index)
        row = index[-1]
        where = _("row {row} ({token})", row=row, token=self.rows[kind][row])
        layer = f"{sentence_words.kind(kind)} L{index[0]}"
        return f"{sentence_words.head(kind, index[0], index[1]) if self.by != 'position' else layer}, {where}"

    def to_dataframe(self) -> pd.DataFrame:
        """One line for each share: kind, layer, head (-1: all of the layer), row (-1: all), the tokens there in the
        clean and in the corrupted run, recovered share."""
        import pandas as pd

        lines = []
        for kind, shares in self.recovered.items():
            for index, share in np.ndenumerate(shares):
                head = -1 if self.by == "position" else index[1]
                row = -1 if self.by == "head" else index[-1]
                tokens = ("", "") if row < 0 else (self.rows[kind][row], self.corrupted_rows[kind][row])
                lines.append((kind, index[0], head, row, *tokens, float(share)))
        return pd.DataFrame(lines, columns=["kind", "layer", "head", "row", "token", "other token", "recovered"])


def sentence(one: Patching) -> str:
    """What the best of all that is put back recovers, how many others carry something too, and all together."""
    kind, index, share = one.ranked()[0]
    others = sum(bool(value >= CARRIES) for shares in one.recovered.values() for value in shares.flat) - 1
    values = {
        "name": one.name(kind, index),
        "share": share,
        "first": quote(one.answers[0]),
        "second": quote(one.answers[1]),
        "least": CARRIES,
        "all": one.everything,
    }
    if share < CARRIES:
        return _(
            "No one part recovers {least:.0%} of the difference between {first} and {second}; the largest share is "
            "{share:.0%}, of {name}. All together recover {all:.0%}.",
            **values,
        )
    said = (
        _(
            "Of what makes it {first} and not {second}, {name} alone recovers {share:.0%}, and no other {least:.0%}.",
            **values,
        )
        if not others
        else plural(
            "Of what makes it {first} and not {second}, {name} alone recovers {share:.0%}; one other recovers "
            "{least:.0%} or more.",
            "Of what makes it {first} and not {second}, {name} alone recovers {share:.0%}; {count} others recover "
            "{least:.0%} or more.",
            others,
            **values,
        )
    )
    return f"{said} {_('All together recover {all:.0%}.', all=one.everything)}"
