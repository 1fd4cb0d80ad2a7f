"""Imports run down the floors of rooms that ``scripts/layers.py`` lists."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import layers
from scripts.layers import APP_FLOORS, FLOORS, PACKAGE, ROOT, files, imports
from tests.support.process import printed

LIGHT = (
    "analysis/",
    "drawing/",
    "figures/",
    "browser/",
    "explorer/file.",
    "record/",
    "text/tokens.",
    "errors.",
    "families/",
    "serving/cache.",
)
OUTSIDE = {"bartviz", "pages", "scripts", "training", "benchmarks", "tests"}
HEAVY = {"torch", "transformers", "streamlit"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def floor_of(package: str, floors: tuple[tuple[str, ...], ...]) -> int:
    found = [number for number, packages in enumerate(floors) if package in packages]
    assert found, f"{package} has no floor: add it to scripts/layers.py"
    return found[0]


@pytest.mark.slow
def test_rooms_and_features_import_downward_and_no_two_of_them_each_other() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.layers"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"on {len(FLOORS)} floors" in done.stdout


@pytest.mark.slow
def test_what_is_not_in_the_package_imports_one_way_too() -> None:
    """Tools import the package, measurements and training the tools, tests all of them."""
    above = {"bartviz": set(), "scripts": {"bartviz"}, "training": {"bartviz", "scripts"}, "tests": {*OUTSIDE}}
    above["benchmarks"] = above["training"]
    found = {
        f"{name_of(path)} imports {name}"
        for top, allowed in above.items()
        for path in (ROOT / top).rglob("*.py")
        if "node_modules" not in path.parts
        for name in imports(path)
        if (other := name.split(".")[0]) in OUTSIDE and other not in {top, *allowed}
    }
    assert found == set()


def test_imports_of_every_kind_are_seen(tmp_path: Path) -> None:
    file = tmp_path / "parts.py"
    file.write_text(
        "from typing import TYPE_CHECKING\nfrom bartviz.text import labels\nif TYPE_CHECKING:\n"
        "    from bartviz.run.forward import capture\n\ndef late():\n    import bartviz.models.load\n"
        "    return import_module('bartviz.explorer.file'), 'bartviz.no.module', 'bartviz'\n"
    )
    ours = {"bartviz.text", "bartviz.text.labels", "bartviz.models.load", "bartviz.explorer.file"}
    typed = {"bartviz.run.forward", "bartviz.run.forward.capture"}
    assert {name for name in imports(file) if "bartviz" in name} == ours | typed
    assert {name for name in imports(file, typing=False) if "bartviz" in name} == ours


def test_a_file_of_a_feature_imports_what_its_name_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bartviz" / "features" / "spread"
    folder.mkdir(parents=True)
    for name in ("numbers", "figure", "page"):
        (folder / f"{name}.py").write_text("import plotly\nimport streamlit\n")
    (folder / "run_again.py").write_text("import torch\nfrom bartviz.features.heads import parts\n")
    (folder / "measured.py").write_text("from bartviz.features.spread import figure, numbers\n")
    monkeypatch.setattr(layers, "ROOT", tmp_path)
    monkeypatch.setattr(layers, "PACKAGE", tmp_path / "bartviz")
    home = "bartviz/features/spread"
    assert sorted(layers.too_heavy()) == [
        f"{home}/figure.py imports streamlit",
        f"{home}/measured.py imports bartviz.features.spread.figure",
        f"{home}/numbers.py imports plotly",
        f"{home}/numbers.py imports streamlit",
    ]
    assert layers.between_features() == {("spread", "heads")}


@pytest.mark.slow
def test_rooms_of_the_app_import_downward_too() -> None:
    home = PACKAGE / "app"
    for path in home.rglob("*.py"):
        room = path.relative_to(home).parts[0].removesuffix(".py")
        for name in imports(path):
            if name.startswith("bartviz.app.") and room != "__init__":
                target = name.split(".")[2]
                assert floor_of(target, APP_FLOORS) <= floor_of(room, APP_FLOORS), f"{name_of(path)} imports {name}"


@pytest.mark.slow
def test_streamlit_stays_in_the_app_and_in_pages() -> None:
    using = {path for path in files() if any(name.split(".")[0] == "streamlit" for name in imports(path))}
    assert using
    allowed = re.compile(r"bartviz/(app/.*|features/\w+/(page|parts)(_\w+)?\.py|visit\.py)|pages/.*")
    assert not [name_of(path) for path in using if not allowed.fullmatch(name_of(path))]


@pytest.mark.slow
def test_records_tables_and_figures_need_no_torch() -> None:
    parts = [path for path in files() if any(f"bartviz/{light}" in name_of(path) for light in LIGHT)]
    names = [".".join(part.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for part in parts]
    code = (
        f"import sys\nfor name in {names!r}:\n    __import__(name)\n    print(name, {set(HEAVY)!r} & set(sys.modules))"
    )
    assert printed(code).splitlines() == [f"{name} set()" for name in names]


@pytest.mark.thorough
@pytest.mark.slow
def test_tests_of_records_numbers_and_models_need_no_streamlit() -> None:
    below = {name for floor in FLOORS[: floor_of("experiments", FLOORS)] for name in floor} - {"browser"}
    folders = [f"tests/{name}" for name in sorted(below) if (ROOT / "tests" / name).is_dir()]
    assert {"tests/record", "tests/drawing"} <= set(folders)
    code = f"""
import sys, pytest
sys.modules["streamlit"] = None  # its import fails
sys.exit(pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", *{folders!r}]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_every_package_has_a_docstring() -> None:
    folders = {path.parent for path in files() if PACKAGE in path.parents}
    texts = {folder: (folder / "__init__.py").read_text("utf-8") for folder in folders}
    assert not [name_of(folder) for folder, text in texts.items() if not ast.get_docstring(ast.parse(text))]
