"""The smaller figures of the page pitfalls, for notebooks: each from a record's attention or a model's name.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import plotly.graph_objects as go

from bartviz.analysis.ablation import Sweep
from bartviz.analysis.measures import of_record
from bartviz.drawing.arguments import RECORD, expect
from bartviz.errors import SettingError
from bartviz.features.pitfalls import figure as pitfalls
from bartviz.features.pitfalls import numbers as analysis
from bartviz.features.pitfalls import numbers_experiment_findings as experiment_findings
from bartviz.record.record import Record


def quiet(sweep: Sweep, record: Record, *, dark: bool = False) -> go.Figure:
    """The sharpness of every head and the effect of silencing it. ``sweep`` is a result of ``bartviz.ablate_sweep``.

    >>> sweep = bartviz.ablate_sweep(model, record, kinds="cross")
    >>> figure = bartviz.figures.quiet(sweep, record)
    """
    expect(sweep, Sweep, "the result of bartviz.ablate_sweep, followed by the record")
    expect(record, Record, RECORD)
    return pitfalls.sharp_and_silent(
        experiment_findings.quiet(sweep, {kind: of_record(record, kind) for kind in sweep.kinds}), dark=dark
    )


def gap(record: Record, *, dark: bool = False) -> go.Figure:
    """The row whose weights and contributions differ most. Needs values. Raises SettingError.

    >>> figure = bartviz.figures.gap(record)
    """
    expect(record, Record, RECORD)
    found = analysis.gap(record)
    if found is None:
        raise SettingError("No row of this record shows this. Run a longer text, with values=True.")
    labels = record.attention(found.head.kind).key.labels
    return pitfalls.weights_and_contributions(found, labels, dark=dark)
