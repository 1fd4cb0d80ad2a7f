"""Tables for LaTeX: escaped, with the rules of booktabs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bartviz.analysis import compare
from bartviz.analysis import measures as analysis
from bartviz.analysis.head_measures import MEASURES
from bartviz.analysis.parameter_totals import sublayer
from bartviz.analysis.parameters import Model, from_table
from bartviz.analysis.parameters import parameters as every_matrix
from bartviz.drawing.arguments import RECORD, expect
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
} | {char: f"\\{char}" for char in "{}$&#_%"}  # fmt: skip


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
    measured = analysis.of_record(record, kind)
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
    """The units of measures in words: "entropy: bits; previous, next: share of weight"."""
    by_unit: dict[str, list[str]] = {}
    for name in columns:
        by_unit.setdefault(MEASURES[name].unit, []).append(name)
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


def latex(table: pd.DataFrame, *, caption: str = "", label: str = "", digits: int = 3) -> str:
    r"""A LaTeX ``table`` with ``\toprule`` and its kin (``\usepackage{booktabs}``), every text escaped.

    Columns of numbers are set to the right, whole numbers with thousands apart, others with ``digits`` decimals; a
    missing value is a dash. caption: plain text; label: the key of ``\ref``.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    columns = [table[name] for name in table.columns]
    numbers = [is_numeric_dtype(column) and not is_bool_dtype(column) for column in columns]
    rows = [" & ".join(escape(str(name)) for name in table.columns)]
    cells = [
        ["--" if missing else _cell(value, digits) for value, missing in zip(column, column.isna(), strict=True)]
        for column in columns
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
        return escape(str(plain))
    shown = f"{plain:,}" if isinstance(plain, int) else f"{plain:,.{digits}f}"
    return shown.replace(",", "\\,").replace("-", "$-$")
