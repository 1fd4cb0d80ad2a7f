"""Tables for LaTeX: escaped, with the rules of booktabs."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from bartviz.analysis import compare
from bartviz.analysis import measures as analysis
from bartviz.analysis.parameter_totals import sublayer
from bartviz.analysis.parameters import Model, from_table
from bartviz.analysis.parameters import parameters as every_matrix
from bartviz.figures.checks import RECORD, expect
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
} | {sign: f"\\{sign}" for sign in "{}$&#_%"}  # fmt: skip


def measures(record: Record, kind: Kind) -> pd.DataFrame:
    """One line for each head of a kind: its measures, named with their units. Raises SettingError."""
    expect(record, Record, RECORD)
    whole = compare.with_units(compare.table(analysis.of_record(record, kind)))
    return whole.drop(columns=["layer", "number"])


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

    Columns of numbers are set to the right, whole numbers with thousands apart, others with so many ``digits``; what is
    missing is a dash. caption: plain text; label: the key of ``\ref``.
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
    head, *body = (f"    {row} \\\\" for row in rows)
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


def escape(text: str) -> str:
    """The text for LaTeX: its special characters as commands, white space as one space."""
    return "".join(_SIGNS.get(sign, sign) for sign in " ".join(text.split()))


def _cell(value: Any, digits: int) -> str:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return escape(str(plain))
    shown = f"{plain:,}" if isinstance(plain, int) else f"{plain:,.{digits}f}"
    return shown.replace(",", "\\,").replace("-", "$-$")
