"""The page of the training as a script: what the browser is given, and odd links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.features.born import parts
from tests.support import node
from tests.support.pages import App


def sent(page: AppTest) -> dict[str, Any]:
    """What the component was given."""
    assert not page.exception
    (part,) = [part for part in page.get("bidi_component") if part.proto.component_name == "bartviz.training"]
    found: dict[str, Any] = json.loads(part.proto.bytes)
    return found


def test_a_beginner_gets_the_usual_network_and_a_worker(app: App) -> None:
    found = sent(app("born", level="beginner"))
    assert found["settings"] == {"task": "reverse", **parts.Network()._asdict()}
    assert set(found["words"]) == set(parts.WORDS)
    assert set(found["worker"]) == {"address"}
    assert found["worker"]["address"].endswith(".js")


def test_another_seed_is_another_network_at_each_level(app: App) -> None:
    for level in ("beginner", "expert"):
        page = app("born", level=level)
        (button,) = [one for one in page.button if one.label == "New random numbers"]
        button.click().run()
        assert sent(page)["settings"]["seed"] == parts.Network().seed + 1


def test_the_address_chooses_task_and_network(app: App) -> None:
    query = {"task": "sort", "width": "64", "heads": "4", "layers": "2", "rate": "0.001", "mask": "false", "seed": "7"}
    network = parts.Network(width=64, heads=4, layers=2, rate=0.001, causal=False, seed=7)
    assert sent(app("born", **query))["settings"] == {"task": "sort", **network._asdict()}


@pytest.mark.parametrize(
    "query", [{"seed": "999"}, {"task": "nothing"}, {"width": "1000"}, {"heads": "3", "seed": "x"}]
)
def test_an_odd_link_gives_a_network_that_can_be_trained(app: App, query: dict[str, str]) -> None:
    settings = sent(app("born", **query))["settings"]
    assert settings["task"] in parts.TASKS
    assert settings["width"] % settings["heads"] == 0
    assert 1 <= settings["seed"] <= parts.SEEDS


def test_every_width_can_be_divided_by_every_number_of_heads() -> None:
    assert [(w, h) for w in parts.WIDTHS for h in parts.HEADS if int(w) % int(h)] == []


def test_scripts() -> None:
    for name in ("verdict", "weights"):
        node.run_tests(Path(__file__).with_name(f"{name}.test.mjs"))
