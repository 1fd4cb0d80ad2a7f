"""The picture of the output layer: its numbers are the analysis', labels are escaped."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.errors import SettingError
from bartviz.figures import output_layer
from tests.analysis.test_output_layer import small


@pytest.mark.parametrize("dark", [False, True])
def test_strips_and_bars_are_products_logits_and_probabilities(dark: bool) -> None:
    one = small()
    traces = {trace.name: trace for trace in output_layer(one, dark=dark).data}
    np.testing.assert_allclose(traces["state"].z, [[3, 4]])
    np.testing.assert_allclose(traces["products"].z, [[6, 0], [0, 4]])
    np.testing.assert_allclose(traces["logit"].x, [6, 5])
    np.testing.assert_allclose(traces["probability"].x, [*one.probabilities, one.rest / one.total])


def test_the_last_line_is_all_other_tokens_and_labels_are_escaped() -> None:
    axis = output_layer(small()).layout.yaxis
    assert axis.ticktext == ("Ich", "&lt;b&gt;", "1 others")


def test_something_else_is_refused() -> None:
    with pytest.raises(SettingError, match=r"experiments\.output_layer"):
        output_layer(None)  # type: ignore[arg-type]
