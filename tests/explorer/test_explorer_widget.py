"""The explorer as a widget: what it shows can be read, watched and set, and nothing that the record does not have."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.errors import SettingError
from tests.support import stand_in


def test_what_is_shown_is_known_and_its_weights_are_those_of_the_record() -> None:
    record = stand_in.record(layers=3, heads=4)
    shown = bartviz.explore(record)
    assert shown.kind == "cross"
    shown.layer, shown.head = 1, 2
    assert record.cross is not None
    np.testing.assert_array_equal(shown.weights, record.cross.head(1, 2))


def test_a_change_is_heard() -> None:
    shown = bartviz.explore(stand_in.record())
    heard: list[tuple[str, Any]] = []
    shown.observe(lambda change: heard.append((change["name"], change["new"])), ["kind", "layer", "head", "row"])
    shown.kind = "encoder"
    shown.row = 2
    assert heard == [("kind", "encoder"), ("row", 2)]


def test_another_kind_with_fewer_layers_keeps_within_them() -> None:
    def even(layers: int, heads: int, rows: int, columns: int) -> np.ndarray[Any, Any]:
        return np.full((layers, heads, rows, columns), 1 / columns, np.float32)

    record = bartviz.from_attentions(
        encoder=even(6, 8, 9, 9),
        decoder=np.tril(np.ones((2, 3, 4, 4), np.float32)) / np.arange(1, 5, dtype=np.float32)[:, None],
        cross=even(2, 3, 4, 9),
        encoder_tokens=list("abcdefghi"),
        decoder_tokens=list("abcd"),
    )
    shown = bartviz.explore(record)
    shown.kind, shown.layer, shown.row = "encoder", 5, 8
    shown.kind = "cross"
    assert (shown.layer, shown.head, shown.row) == (1, 0, 3)


@pytest.mark.parametrize(("name", "value"), [("kind", "sideways"), ("layer", 3), ("head", -1), ("row", 99)])
def test_what_the_record_does_not_have_is_refused(name: str, value: object) -> None:
    shown = bartviz.explore(stand_in.record())
    before = getattr(shown, name)
    with pytest.raises(SettingError, match="choose"):
        setattr(shown, name, value)
    assert getattr(shown, name) == before


def test_only_a_record_is_explored() -> None:
    with pytest.raises(SettingError, match="is expected, not a str"):
        bartviz.explore("car.safetensors")  # type: ignore[arg-type]


def test_a_saved_notebook_keeps_a_picture_that_needs_no_kernel() -> None:
    record = stand_in.record()
    bundle = bartviz.explore(record)._repr_mimebundle_()
    assert bundle is not None
    assert bundle[0]["text/html"] == record._repr_html_()
    assert "application/vnd.jupyter.widget-view+json" in bundle[0]


def test_without_the_package_it_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['anywidget'] = None; import bartviz; bartviz.explore(1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "bartviz.explore needs anywidget" in done.stderr
    assert "pip install '.[notebook]'" in done.stderr
