"""Hatched grey over the cells that a mask hides: never a colour of the scale, never white as zero."""

from __future__ import annotations

import numpy as np

from bartviz.arrays import Bools, Floats
from bartviz.drawing import theme
from bartviz.drawing.cells import Part


def hatching(masked: Bools, dark: bool = False) -> Part:
    """A trace that hatches the True cells of ``masked`` (Q, K): one path on the visible axes (x2, y2), above all."""
    x, y = outlines(masked)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "masked",
        "x": x,
        "y": y,
        "xaxis": "x2",
        "yaxis": "y2",
        "line": {"width": 0, "simplify": False},
        "fill": "toself",
        "fillcolor": theme.palette(dark).masked,
        "fillpattern": pattern(dark),
        "hoverinfo": "skip",
        "showlegend": False,
    }


def pattern(dark: bool = False) -> Part:
    """The hatching, for a trace's fillpattern or a marker's pattern."""
    colors = theme.palette(dark)
    return {"shape": "/", "size": 7, "solidity": 0.18, "fgcolor": colors.hatch, "bgcolor": colors.masked}


def outlines(masked: Bools) -> tuple[Floats, Floats]:
    """x and y, each (6 * rectangles,) float32, of rectangles that cover exactly the True cells of ``masked`` (Q, K).

    Five corners and a NaN each. A run of cells in a row is one rectangle; equal runs in rows below it are joined.
    """
    boxes = _boxes(_runs(masked))
    if not boxes:
        return np.empty(0, np.float32), np.empty(0, np.float32)
    left, right, top, bottom = np.array(boxes, np.float32).T - np.float32(0.5)  # (rectangles,) each
    gap = np.full(len(boxes), np.nan, np.float32)
    x = np.stack([left, right, right, left, left, gap], axis=1).ravel()
    y = np.stack([top, top, bottom, bottom, top, gap], axis=1).ravel()
    return x, y


def _runs(masked: Bools) -> list[set[tuple[int, int]]]:
    """For each row the (start, end) of its runs of True cells, end excluded."""
    padded = np.zeros((masked.shape[0], masked.shape[1] + 2), np.int8)
    padded[:, 1:-1] = masked
    steps = np.diff(padded, axis=1)  # (Q, K + 1): 1 where a run begins, -1 where it has ended
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    runs: list[set[tuple[int, int]]] = [set() for _ in masked]
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        runs[row].add((start, end))
    return runs


def _boxes(runs: list[set[tuple[int, int]]]) -> list[tuple[int, int, int, int]]:
    """(left, right, top, bottom) of the runs, equal runs of neighbouring rows joined; ends excluded."""
    boxes: list[tuple[int, int, int, int]] = []
    begun: dict[tuple[int, int], int] = {}
    for row, here in enumerate([*runs, set[tuple[int, int]]()]):
        ended = [run for run in begun if run not in here]
        boxes.extend((*run, begun.pop(run), row) for run in ended)
        for run in here:
            begun.setdefault(run, row)
    return boxes
