"""The pictures of the inputs page: their numbers are the analysis', labels are escaped, scales are shared."""

from __future__ import annotations

import numpy as np

from bartviz.analysis import inputs as analysis
from bartviz.analysis.inputs import Inputs
from bartviz.analysis.positions import shift as shift_of
from bartviz.analysis.positions import similarity, sinusoidal
from bartviz.features.inputs.figure import inputs, positions, relative, shift
from tests.support import stand_in


def made() -> Inputs:
    random, tokens = np.random.default_rng(0), stand_in.tokens(["<s>", " a", " 1999", " a"])
    parts = {"token": random.normal(size=(4, 8)), "position": random.normal(size=(4, 8))}
    whole = parts["token"] + parts["position"]
    return Inputs("m", "bart", "encoder", tokens, parts, 1.0, np.arange(2, 6), whole, whole / 2, whole, whole, None)


def test_every_line_has_the_lengths_of_its_part() -> None:
    one = made()
    drawn = inputs(one)
    assert [trace.name for trace in drawn.data] == ["token", "position", "sum", "after LayerNorm"]
    for trace in drawn.data:
        np.testing.assert_allclose(trace.y, analysis.norms(one)[trace.name])
    ranges = {drawn.layout[axis].range for axis in ("yaxis", "yaxis2", "yaxis3")}
    assert len(ranges) == 1
    assert drawn.layout.xaxis.ticktext == ("&lt;s&gt;", "a", "1999", "a")


def test_maps_are_cosines_on_one_scale() -> None:
    table = np.random.default_rng(1).normal(size=(10, 6))
    drawn = positions(table)
    np.testing.assert_allclose(drawn.data[0].z, similarity(table), atol=1e-6)
    np.testing.assert_allclose(drawn.data[1].z, similarity(sinusoidal(10, 6)), atol=1e-6)
    assert {(trace.zmin, trace.zmax) for trace in drawn.data} == {(-1, 1)}


def test_labels_of_one_map_do_not_cover_the_other() -> None:
    drawn = positions(np.random.default_rng(1).normal(size=(64, 6)))
    assert not drawn.layout.yaxis2.showticklabels
    assert drawn.layout.yaxis2.range == drawn.layout.yaxis.range


def test_lines_of_the_shift_are_its_errors() -> None:
    found = shift_of(np.random.default_rng(1).normal(size=(32, 6)))
    drawn = shift(found, dark=True)
    for trace, values in zip(drawn.data, (found.held, found.control, found.exact), strict=True):
        np.testing.assert_allclose(trace.y, values)


def test_one_line_of_bias_for_each_head() -> None:
    drawn = relative(np.arange(12.0).reshape(3, 2, 2), "encoder")
    assert [trace.y.tolist() for trace in drawn.data] == [[2, 1.5, 1], [6, 5.5, 5], [10, 9.5, 9]]
