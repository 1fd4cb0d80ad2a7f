"""Imports run down the floors of packages that ``scripts/layers.py`` lists."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.layers import FLOORS, PACKAGE, ROOT, UI_FLOORS, files, imports
from tests.support.process import printed

LIGHT = ("analysis/", "figures/", "record/", "text/tokens.", "errors.", "families/", "serving/cache.")
HEAVY = {"torch", "transformers", "streamlit"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def floor_of(package: str, floors: tuple[tuple[str, ...], ...]) -> int:
    found = [number for number, packages in enumerate(floors) if package in packages]
    assert found, f"{package} has no floor: add it to scripts/layers.py"
    return found[0]


@pytest.mark.slow
def test_packages_import_downward_and_no_two_of_them_each_other() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.layers"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"on {len(FLOORS)} floors" in done.stdout


def test_there_are_few_packages_and_floors() -> None:
    assert len(FLOORS) <= 12
    assert sum(map(len, FLOORS)) <= 23


@pytest.mark.slow
def test_packages_of_the_ui_import_downward_too() -> None:
    home = PACKAGE / "ui"
    for path in home.rglob("*.py"):
        package = path.relative_to(home).parts[0].removesuffix(".py")
        for name in imports(path):
            if name.startswith("bartviz.ui.") and package != "__init__":
                target = name.split(".")[2]
                assert floor_of(target, UI_FLOORS) <= floor_of(package, UI_FLOORS), f"{name_of(path)} imports {name}"


@pytest.mark.slow
def test_streamlit_stays_in_the_pages() -> None:
    using = {path for path in files() if any(name.split(".")[0] == "streamlit" for name in imports(path))}
    assert using
    assert not [name_of(path) for path in using if PACKAGE / "ui" not in path.parents and path.parent.name != "pages"]


@pytest.mark.slow
def test_records_tables_and_figures_need_no_torch() -> None:
    parts = [path for path in files() if any(f"bartviz/{light}" in name_of(path) for light in LIGHT)]
    names = [".".join(part.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for part in parts]
    code = (
        f"import sys\nfor name in {names!r}:\n    __import__(name)\n    print(name, {set(HEAVY)!r} & set(sys.modules))"
    )
    assert printed(code).splitlines() == [f"{name} set()" for name in names]


def test_every_package_has_a_docstring() -> None:
    folders = {path.parent for path in files() if PACKAGE in path.parents}
    texts = {folder: (folder / "__init__.py").read_text("utf-8") for folder in folders}
    assert not [name_of(folder) for folder, text in texts.items() if not ast.get_docstring(ast.parse(text))]
