"""Tables for LaTeX: escaped, with the rules of booktabs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bartviz.analysis import compare, numbers
from bartviz.analysis import measures as analysis
from bartviz.analysis.corpus_measures import measure_of
from bartviz.analysis.parameter_totals import sublayer
from bartviz.analysis.parameters import Model, from_table
from bartviz.analysis.parameters import parameters as every_matrix
from bartviz.drawing.arguments import RECORD, expect, expect_word
from bartviz.drawing.paper.atlas import NEEDED, Atlas, rows_of
from bartviz.drawing.paper.atlas import caption as about
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, speaking
from bartviz.record.attention import Kind
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

_WEIGHT_OR_BIAS = re.compile(" (?:weight|bias)$")
_SIGNS = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
} | {char: f"\\{char}" for char in "{}$&#_%"}  # fmt: skip
MOST_DIGITS = 6  # decimals of a number that is rounded to its interval
_VALUES = ("mean", "share")
_EVEN = "even attention"


SHORT = ("entropy", "distance", "previous", "next", "first", "special", "alignment")
"""Measures that fit next to each other on a page; a kind of attention has some of them."""


def measures(
    record: Record, kind: Kind, columns: Sequence[str] | None = None, *, with_units: bool = True
) -> pd.DataFrame:
    """One line for each head of a kind: its name, the score behind it, and its measures.

    columns: names of measures in their order; None for all. with_units: name columns with their units; without them
    ``units`` has them in words, for a caption. Raises SettingError.
    """
    expect(record, Record, RECORD)
    measured = numbers.measures(record, kind)
    table = compare.table(measured).drop(columns=["layer", "number"])
    if columns is not None:
        wrong = [name for name in columns if name not in measured.values]
        if wrong:
            raise SettingError(
                later("{kind} heads are measured by {choices}.", kind=kind, choices=choices(measured.values))
            )
        table = table[["head", "name", "score", *columns]]
    return compare.with_units(table) if with_units else table


def short(record: Record, kind: Kind) -> tuple[str, ...]:
    """The measures of ``SHORT`` that have a value in this record."""
    return tuple(name for name in SHORT if name in analysis.of_record(record, kind).defined)


def units(columns: Sequence[str]) -> str:
    """The units of measures in words: "entropy: bits; previous, next: share of attention weight"."""
    by_unit: dict[str, list[str]] = {}
    for name in columns:
        by_unit.setdefault(measure_of(name).unit, []).append(name)
    with speaking("en"):
        return "; ".join(f"{', '.join(names)}: {_(unit)}" for unit, names in by_unit.items() if unit)


def parameters(model: Model) -> pd.DataFrame:
    """component, part, parameters and their share of the model: short enough for a page, each matrix counted once.

    model: as for ``bartviz.parameters``. Raises ModelError.
    """
    import pandas as pd

    counted: Counter[tuple[str, str]] = Counter()
    for row in from_table(every_matrix(model)):
        counted[row.component, _WEIGHT_OR_BIAS.sub("", sublayer(row.role))] += row.count
    lines = [(*place, count, count / counted.total()) for place, count in counted.items() if count]
    return pd.DataFrame(lines, columns=["component", "part", "parameters", "share"])


def with_interval(value: float, low: float, high: float, *, digits: int = 3) -> str:
    """A number with its interval, "0.934 [0.921, 0.947]", rounded so that half the interval has two digits that count;
    without an interval with ``digits`` decimals, and empty if it is missing itself.

    >>> bartviz.paper.with_interval(0.93412, 0.92107, 0.94722)
    '0.934 [0.921, 0.947]'
    """
    if math.isnan(value):
        return ""
    half = (high - low) / 2
    known = math.isfinite(half) and half > 0
    places = min(max(1 - math.floor(math.log10(half)), 0), MOST_DIGITS) if known else digits
    number, *ends = (f"{one:.{places}f}".replace("-", "−") for one in (value, low, high))
    return f"{number} [{', '.join(ends)}]" if math.isfinite(half) else number


def rounded(table: pd.DataFrame, *, digits: int = 3) -> pd.DataFrame:
    """The table with every number that has an interval in one column with it, rounded to it (``with_interval``).

    ``mean`` or ``share`` has the columns ``low`` and ``high``, ``other_mean`` has ``other_low`` and ``other_high``, and
    ``difference`` has ``difference_low`` and ``difference_high``, as in ``Atlas.heads``, ``Atlas.against`` and
    ``bartviz.find_heads(...).table``; kind, layer and head become one column, such as "cross L2H5". Other columns stay.

    >>> heads = bartviz.open_atlas("atlas").heads
    >>> one = bartviz.paper.rounded(heads[heads["measure"] == "previous"])
    >>> one.loc[0, ["head", "mean"]].tolist()
    ['encoder L0H0', '0.1255 [0.1232, 0.1279]']
    >>> written = bartviz.paper.latex(one, columns=["head", "mean", "n"], caption="Weight on the previous token.")
    """
    made = table.copy()
    for prefix in ("", "other_", "held_out_", "difference_"):
        ends = f"{prefix}low", f"{prefix}high"
        names = ["difference"] if prefix == "difference_" else [f"{prefix}{name}" for name in _VALUES]
        value = next((name for name in names if name in table), None)
        if value is None or not {*ends} <= {*table.columns}:
            continue
        numbers = (table[name].astype(float) for name in (value, *ends))
        made[value] = [with_interval(*one, digits=digits) for one in zip(*numbers, strict=True)]
        made = made.drop(columns=[*ends])
    if {"kind", "layer", "head"} <= {*made.columns}:
        names = [
            f"{kind} L{layer}H{head}"
            for kind, layer, head in zip(made["kind"], made["layer"], made["head"], strict=True)
        ]
        made = made.assign(head=names).drop(columns=["kind", "layer"])
        made.insert(0, "head", made.pop("head"))
    return made.reset_index(drop=True)


def heads(atlas: Atlas, kind: Kind, measures: Sequence[str], *, digits: int = 3) -> pd.DataFrame:
    """The heads of a kind by some measures, a line for each: its name, and its mean with the 95% interval for each.

    The last line is even attention. Raises SettingError for a kind or measure that the atlas lacks.

    >>> table = bartviz.paper.heads(bartviz.open_atlas("atlas"), "encoder", ["previous", "entropy"])
    >>> list(table.columns)
    ['head', 'previous', 'entropy']
    """
    import pandas as pd

    expect(atlas, Atlas, NEEDED)
    columns: dict[str, dict[str, str]] = {}
    for measure in measures:
        _kind, rows = rows_of(atlas, measure, kind)
        lines = zip(rows["layer"], rows["head"], rows["mean"], rows["low"], rows["high"], strict=True)
        column = {f"L{layer}H{head}": with_interval(*numbers, digits=digits) for layer, head, *numbers in lines}
        even = float(rows["even"].iloc[0])
        columns[measure] = column | {_EVEN: "" if math.isnan(even) else f"{even:.{digits}f}"}
    order = list(dict.fromkeys(name for column in columns.values() for name in column if name != _EVEN))
    whole = pd.DataFrame(columns).reindex([*order, _EVEN]).fillna("")
    return whole.reset_index(names="head")


def heads_caption(atlas: Atlas, kind: Kind, measures: Sequence[str]) -> str:
    """What the table of ``heads`` shows, of which model over which texts. Raises SettingError as ``heads``."""
    rows = rows_of(atlas, measures[0], kind)[1]
    return about(atlas, measures, kind, rows, _("Means over the texts with their 95% intervals."))


def latex(
    table: pd.DataFrame, *, columns: Sequence[str] | None = None, caption: str = "", label: str = "", digits: int = 3
) -> str:
    r"""A LaTeX ``table`` with ``\toprule`` and its kin (``\usepackage{booktabs}``), every text escaped.

    columns: those that are wanted, in their order; None for all. Columns of numbers are set to the right, whole numbers
    with thousands apart, others with ``digits`` decimals, or as a power of ten where these would be zeros; a
    missing value is a dash. caption: plain text; label: the
    key of ``\ref``. Raises SettingError for a column that the table lacks.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if columns is not None:
        known = [str(name) for name in table.columns]
        for name in columns:
            expect_word(name, known, "A column")
        table = table[list(columns)]
    series = [table[name] for name in table.columns]
    numbers = [is_numeric_dtype(column) and not is_bool_dtype(column) for column in series]
    rows = [" & ".join(escape(str(name)) for name in table.columns)]
    cells = [
        ["--" if missing else _cell(value, digits) for value, missing in zip(column, column.isna(), strict=True)]
        for column in series
    ]
    rows += [" & ".join(row) for row in zip(*cells, strict=True)]
    head, *body = (f"    {_begun(row)} \\\\" for row in rows)
    lines = [
        r"\begin{table}",
        r"  \centering",
        *([f"  \\caption{{{escape(caption)}}}"] if caption else []),
        *([f"  \\label{{{label}}}"] if label else []),
        f"  \\begin{{tabular}}{{{''.join('r' if number else 'l' for number in numbers)}}}",
        r"    \toprule",
        head,
        r"    \midrule",
        *body,
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _begun(row: str) -> str:
    r"""A row that follows ``\\``, which would take a bracket or a star at its beginning for its own argument."""
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def escape(text: str) -> str:
    """The text for LaTeX: its special characters as commands, white space as one space."""
    return "".join(_SIGNS.get(char, char) for char in " ".join(text.split()))


def _cell(value: Any, digits: int) -> str:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return escape(str(plain)) or "--"
    if plain and abs(plain) < 0.5 * 10.0**-digits:
        digit, power = f"{plain:.1e}".split("e")
        return f"${digit} \\times 10^{{{int(power)}}}$"
    shown = f"{plain:,}" if isinstance(plain, int) else f"{plain:,.{digits}f}"
    return shown.replace(",", "\\,").replace("-", "$-$")
