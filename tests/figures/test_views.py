"""Every view of the pages can be drawn from a notebook, and is the view of the page."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import bartviz
from bartviz import figures
from bartviz.analysis import inside
from bartviz.app.frame import app_folder
from bartviz.errors import SettingError
from bartviz.experiments.embeddings import inputs
from bartviz.experiments.output_layer import output_layer
from bartviz.experiments.residual import residual
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import loaded

TEXT = "the cat sat on the mat"
# The key of a chart of the pages -> the function of bartviz.figures that draws it, as the tests of each feature say; a
# key that is the name of its function is left out.
VIEWS: dict[str, str] = {}
for drawn in sorted((app_folder.ROOT / "tests" / "features").glob("*/drawn.py")):
    VIEWS |= getattr(import_module(f"tests.features.{drawn.parent.name}.drawn"), "CHARTS", {})
CHARTS = {"figure", "plotly_chart", "clickable", "one_map"}


PACKAGE = app_folder.ROOT / "bartviz"
FOLDERS = [PACKAGE / "app", *(file.parent for file in sorted(PACKAGE.glob("features/*/__init__.py")))]


def charts(folder: Path) -> set[str]:
    """The keys of all charts that a folder draws; of a key with places in it what stands before the first."""
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in CHARTS:
                given = [word.value for word in call.keywords if word.arg == "key"]
                said = given or [one for one in call.args[1:] if isinstance(one, ast.Constant | ast.JoinedStr)]
                found |= {name for one in said if (name := _begins(one))}
    return found


def _begins(key: ast.expr) -> str:
    if isinstance(key, ast.JoinedStr):
        key = key.values[0]
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_chart_of_a_page_has_its_function(folder: Path) -> None:
    views = {name: name for name in dir(figures)} | VIEWS
    missing = sorted(key for key in charts(folder) if views.get(key) not in dir(figures))
    assert not missing, (
        "No function of bartviz/figures/__init__.pyi has the name of this key of a chart, and no entry of CHARTS in "
        f"tests/features/{folder.name}/drawn.py says which one draws it: {missing}"
    )


def test_charts_are_found_and_drawn_by_functions() -> None:
    assert any(charts(folder) for folder in FOLDERS)
    assert set(VIEWS.values()) <= set(dir(figures))


def there(cases: Iterable[str]) -> list[str]:
    """The cases of figures whose features have not been deleted; a case begins with the name of its figure."""
    return [case for case in cases if case.split(",", maxsplit=1)[0] in dir(figures)]


@pytest.fixture(scope="module")
def model() -> Model:
    return loaded.model("bart")


@pytest.fixture(scope="module")
def made(model: Model) -> Record:
    return bartviz.capture(model, TEXT, max_new_tokens=5, values=True)


DRAWN: dict[str, Callable[[Model, Record], go.Figure]] = {
    "likeness": lambda model, record: figures.likeness(record.attention("encoder")),
    "score": lambda model, record: figures.score(record.attention("cross"), 1, 0, 2, by_size=True),
    "share": lambda model, record: figures.share(record.attention("cross"), 1, 0, 2),
    "scaling": lambda model, record: figures.scaling(record.attention("cross"), 1),
    "growth": lambda model, record: figures.growth(record.attention("encoder"), 1, layer=1),
    "activation": lambda model, record: figures.activation(record),
    "norms": lambda model, record: figures.norms(record),
    "positions": lambda model, record: figures.positions(inputs(model, record)),
    "shift": lambda model, record: figures.shift(inputs(model, record)),
    "bias": lambda model, record: figures.bias(bartviz.capture(loaded.model("t5"), TEXT).attention("encoder")),
    "pattern": lambda model, record: figures.pattern(record.attention("encoder"), "window", row=3, window=1),
    "moved": lambda model, record: figures.moved(bartviz.ablate(model, record, "encoder L0H0")),
    "output_layer": lambda model, record: figures.output_layer(output_layer(model, record, 2)),
    "residual": lambda model, record: figures.residual(residual(model, record, "decoder", 1, 2)),
    "quiet": lambda model, record: figures.quiet(bartviz.ablate_sweep(model, record), record),
    "gap": lambda model, record: figures.gap(record),
    "cost": lambda model, record: figures.cost("facebook/bart-base", view="decoding"),
    "sizes": lambda model, record: figures.sizes(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", there(DRAWN))
def test_a_view_is_drawn_from_a_notebook(name: str, model: Model, made: Record) -> None:
    figure = DRAWN[name](model, made)
    assert isinstance(figure, go.Figure)
    assert figure.data


@pytest.mark.skipif("score" not in dir(figures), reason="its feature has been deleted")
def test_the_score_is_that_of_the_model(made: Record) -> None:
    cross = made.attention("cross")
    one = inside.inside(cross, 1, 0, 2)
    strongest = int(np.argmax(cross.head(1, 0)[2]))
    assert figures.score(cross, 1, 0, 2) == figures.score(cross, 1, 0, 2, key=strongest)
    assert one.dots[strongest] == pytest.approx(cross.queries[1, 0, 2] @ cross.keys[1, 0, strongest], rel=1e-5)


REFUSED: dict[str, tuple[Callable[[Record], Any], str]] = {
    "bias": (lambda record: figures.bias(record.attention("encoder")), "choose a T5 model"),
    "score": (lambda record: figures.score(record.attention("cross"), 0, 0, key=99), "There is no key 99"),
    "pattern": (lambda record: figures.pattern(record.attention("encoder"), "x"), "no pattern of that name"),
    "pattern, of two texts": (
        lambda record: figures.pattern(record.attention("cross"), "window"),
        "encoder or decoder",
    ),
    "pattern, no row": (
        lambda record: figures.pattern(record.attention("encoder"), "window", row=99),
        "There is no row 99",
    ),
    "cost": (lambda record: figures.cost("bert-base-uncased", view="decoding"), "does not write"),
    "cost, no view": (lambda record: figures.cost("gpt2", view="x"), "operations, memory or decoding"),  # type: ignore[arg-type]
    "positions": (lambda record: figures.positions(record.encoder), "bartviz.experiments.embeddings.inputs"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", there(REFUSED))
def test_what_a_view_cannot_draw_is_refused_in_words(name: str, made: Record) -> None:
    draw, said = REFUSED[name]
    with pytest.raises(SettingError, match=said):
        draw(made)


NEED_VALUES: dict[str, Callable[[Record], Any]] = {
    "share": lambda record: figures.share(record.attention("encoder"), 0, 0),
    "contribution": lambda record: figures.contribution(record.attention("encoder"), 0, 0),
    "gap": lambda record: figures.gap(record, dark=True),
}


@pytest.mark.parametrize("name", there(NEED_VALUES))
def test_values_that_were_not_kept_are_asked_for(name: str, model: Model) -> None:
    record = bartviz.capture(model, TEXT, max_new_tokens=3)
    with pytest.raises(SettingError, match="values=True"):
        NEED_VALUES[name](record)
