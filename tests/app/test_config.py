"""The configuration that ships: closed to the outside, in the colours of the figures."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from bartviz.drawing import theme
from bartviz.drawing.colors import PRIMARY
from bartviz.record.attention import KINDS
from bartviz.serving.limits import Limits

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    return tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))


def test_the_server_is_closed(config: dict[str, Any]) -> None:
    server = config["server"]
    assert server["address"] == "127.0.0.1"
    assert server["enableXsrfProtection"] is True
    assert server["enableCORS"] is True
    assert server["allowedHosts"] == ["127.0.0.1", "localhost"]
    assert server["fileWatcherType"] == "none"
    assert server["maxUploadSize"] == Limits().upload_mb
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"] == {"toolbarMode": "viewer", "showErrorDetails": "none", "showErrorLinks": False}
    assert config["runner"]["magicEnabled"] is False


def test_a_page_run_does_not_block_computing_threads(config: dict[str, Any]) -> None:
    assert config["runner"]["postScriptGC"] is False
    assert config["runner"]["fastReruns"] is False


@pytest.mark.parametrize(("name", "dark"), [("light", False), ("dark", True)])
def test_the_themes_are_those_of_the_figures(config: dict[str, Any], name: str, dark: bool) -> None:
    colors = config["theme"][name]
    assert colors["backgroundColor"] == theme.palette(dark).background
    assert colors["textColor"] == theme.palette(dark).ink
    assert colors["primaryColor"] == PRIMARY[dark]
    kinds = [theme.kind_color(kind, dark) for kind in KINDS]
    assert [colors[f"{color}Color"] for color in ("green", "orange", "violet")] == kinds
    assert colors["chartCategoricalColors"][: len(kinds)] == kinds
    assert len(colors["chartSequentialColors"]) == 10
    assert colors["chartSequentialColors"][0] == theme.scale("encoder", dark)[0][1]
    assert colors["chartSequentialColors"][-1] == theme.scale("encoder", dark)[-1][1]


def test_a_bare_theme_pins_nobody_to_light(config: dict[str, Any]) -> None:
    assert not {name for name in config["theme"] if name.endswith("Color")}
