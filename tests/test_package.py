"""The public names: there, lazy, and callable whatever was imported before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bartviz

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", [name for name in bartviz.__all__ if name not in {"__version__", "figures"}])
def test_a_public_name_is_a_documented_function(name: str) -> None:
    function = getattr(bartviz, name)
    assert callable(function)
    assert function.__doc__


def test_the_package_alone_imports_nothing_heavy() -> None:
    heavy = {"torch", "transformers", "streamlit", "plotly", "pandas", "numpy"}
    code = f"import sys, bartviz; print(sorted({heavy!r} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = bartviz.nothing_like_this


def test_what_is_installed_holds_the_app_and_every_file_of_the_package(tmp_path: Path) -> None:
    build = [sys.executable, "setup.py", "-q", "egg_info", "-e", str(tmp_path), "build_py", "-d", str(tmp_path / "lib")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    packed = {path.relative_to(tmp_path / "lib") for path in (tmp_path / "lib").rglob("*") if path.is_file()}
    here = [path.relative_to(ROOT) for path in (ROOT / "bartviz").rglob("*") if path.is_file()]
    app = [
        Path("app.py"),
        Path(".streamlit/config.toml"),
        *(path.relative_to(ROOT) for path in ROOT.glob("pages/*.py")),
    ]
    wanted = {path for path in here if "__pycache__" not in path.parts} | {Path("bartviz/site", path) for path in app}
    assert packed == wanted
    code = (
        "from bartviz.ui.frame.place import APP\n"
        "from bartviz.ui.frame.sitemap import PAGES\n"
        "print(APP, *(page.file for page in PAGES))"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "lib", capture_output=True, text=True, check=True)
    assert all(Path(name).is_relative_to(tmp_path / "lib" / "bartviz") for name in out.stdout.split())
    assert all(Path(name).is_file() for name in out.stdout.split())


def test_the_readme_gives_both_commands_and_real_code() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make run" in text
    assert "make test" in text
    code = text.split("```python")[1].split("```")[0]
    compile(code, "README", "exec")
    for name in bartviz.__all__:
        if name not in {"__version__", "capture_batch"}:
            assert f"bartviz.{name}" in code
