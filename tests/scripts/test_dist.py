"""What is released: the archive builds the wheel, the wheel holds the package and the app, and both work from it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from packaging.requirements import Requirement

from scripts.serving import ROOT, free_port, health, running
from scripts.visitor import answered, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.thorough]
HERE = Path(np.__file__).parents[1]  # where the packages of the tests are installed
LIBRARY = """
from importlib.util import find_spec
from pathlib import Path
import bartviz
record = bartviz.open(Path(bartviz.__file__).parent / "embedded" / "records" / "start.safetensors")
figure = bartviz.figures.heads(record.cross, layer=2)
record.save("record.html")
print(record.sound, type(figure).__name__, [name for name in ("torch", "streamlit", "transformers") if find_spec(name)])
"""
PLACES = """
import bartviz
from bartviz.app.frame.app_folder import APP
from bartviz.app.frame.page_list import PAGES
print(bartviz.__file__, APP, *(page.file for page in PAGES), sep="\\n")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source archive, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    (command,) = re.findall(r"^\t\$\(BIN\)/python (-m build .*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    subprocess.run(
        [sys.executable, *command.split(), "--outdir", str(folder)], cwd=ROOT, check=True, capture_output=True
    )
    (archive,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return archive, wheel


@pytest.fixture(scope="module")
def environment(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment's programs, in which the wheel is installed and nothing else."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home)
    programs = home / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", str(built[1])], check=True)
    return programs


def test_the_wheel_holds_every_file_of_the_package_and_the_app_and_nothing_else(built: tuple[Path, Path]) -> None:
    app = [
        Path("app.py"),
        Path(".streamlit/config.toml"),
        *(path.relative_to(ROOT) for path in ROOT.glob("pages/*.py")),
    ]
    package = [path for path in (ROOT / "bartviz").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    wanted = {path.relative_to(ROOT).as_posix(): path for path in package}
    wanted |= {f"bartviz/site/{name}": ROOT / name for name in app}
    with ZipFile(built[1]) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
        assert packed == wanted.keys()
        assert [name for name, path in wanted.items() if wheel.read(name) != path.read_bytes()] == []
        about = {name.rpartition("/")[2] for name in wheel.namelist() if ".dist-info/" in name}
    assert {"METADATA", "RECORD", "LICENSE", "NOTICE", "entry_points.txt"} <= about


def test_the_source_archive_has_neither_tests_nor_caches(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = [Path(*Path(name).parts[1:]) for name in archive.getnames()]
    own = {"app.py", "bartviz", "pages", ".streamlit", "pyproject.toml", "README.md", "LICENSE"}
    assert {name.parts[0] for name in names} == own | {"PKG-INFO", ".gitignore"}
    assert [name for name in names if {"tests", "benchmarks", "training", "__pycache__"} & {*name.parts}] == []


def test_the_library_alone_opens_a_record_where_torch_and_streamlit_are_not_installed(
    environment: Path, tmp_path: Path
) -> None:
    link(needed(Requirement("bartviz")), tmp_path / "site-packages")
    out = run(environment, LIBRARY, tmp_path, PYTHONPATH=str(tmp_path / "site-packages"))
    assert out == "True Figure []\n"
    assert (tmp_path / "record.html").stat().st_size > 100_000


def test_the_app_is_served_from_the_wheel_where_nothing_else_is_installed_than_it_asks_for(
    environment: Path, tmp_path: Path
) -> None:
    (site,) = environment.parent.rglob("site-packages")
    link(needed(Requirement("bartviz[app]")), tmp_path / "site-packages")  # Streamlit goes by this name
    (site / "others.pth").write_text(str(tmp_path / "site-packages"), "utf-8")  # after the wheel's own folder
    absent = "from importlib.util import find_spec; print(find_spec('torch') is not None, find_spec('anywidget'))"
    assert run(environment, absent, tmp_path) == "True None\n"
    places = run(environment, PLACES, tmp_path).splitlines()
    assert len(places) > 15
    assert all(Path(place).is_relative_to(site) and Path(place).is_file() for place in places)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [str(environment / "bartviz"), "app", "--port", str(port)]
    with running(
        command,
        lambda: health(address) is not None,
        folder=tmp_path,
        environment={"HF_HUB_OFFLINE": "1"},
        without=["PYTHONPATH"],
    ):
        assert wait_for(answered(address, "I want to buy a car.")) > 0


def run(programs: Path, code: str, folder: Path, **variables: str) -> str:
    """What the code prints in the environment."""
    command = [str(programs / "python"), "-c", code]
    done = subprocess.run(command, cwd=folder, env=clean(**variables), capture_output=True, text=True, check=True)
    return done.stdout


def clean(**variables: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables


def needed(asked: Requirement, seen: set[str] | None = None) -> Iterator[str]:
    """What a package with these extras needs, and what that needs."""
    seen = set() if seen is None else seen
    for line in distribution(asked.name).requires or ():
        need = Requirement(line)
        wanted = need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *asked.extras))
        if wanted and str(need) not in seen:
            seen.add(str(need))
            if need.name != "bartviz":
                yield need.name
            yield from needed(need, seen)


def link(packages: Iterable[str], folder: Path) -> None:
    """A folder with these packages alone, of those that are installed for the tests."""
    folder.mkdir()
    for package in packages:
        for top in {file.parts[0] for file in distribution(package).files or () if file.parts[0] != ".."}:
            if not (folder / top).exists() and (HERE / top).exists() and top != "__pycache__":
                (folder / top).symlink_to(HERE / top)
