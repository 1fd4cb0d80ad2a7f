"""What is imported is declared, what is declared is locked, and an outdated lock is reported."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts import lock

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", lock.EXACT, lock.LOCK)
APP = ("bartviz", "pages", "app.py")
OURS = ("bartviz", "pages", "app", "tests", "training", "benchmarks", "scripts")
PEERS = {"inseq", "captum", "attnview"}  # compared with ours where somebody has installed them


def python_files(*places: str) -> list[Path]:
    found = [
        file for place in places for file in ((ROOT / place).rglob("*.py") if "." not in place else [ROOT / place])
    ]
    return [file for file in found if "node_modules" not in file.parts]


def undeclared(files: list[Path], declared: set[str]) -> list[str]:
    """The modules that the files import and none of these packages has."""
    modules: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.split(".")[0])
    foreign = modules - sys.stdlib_module_names - set(OURS) - PEERS
    known = packages_distributions()
    assert foreign <= known.keys()
    # Several packages may have a part of one module, as protobuf and others of google.
    return sorted(module for module in foreign if declared.isdisjoint(map(canonicalize_name, known[module])))


def names(requirements: list[Requirement]) -> set[str]:
    return {canonicalize_name(one.name) for one in requirements}


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    (tmp_path / lock.LOCK).parent.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(file: Path, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, new, file.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
    assert count == 1
    file.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_the_app_imports_only_what_it_declares() -> None:
    app, _dev = lock.wanted(ROOT)
    assert undeclared(python_files(*APP), names(app)) == []


@pytest.mark.slow
def test_tests_and_tools_import_only_what_is_declared() -> None:
    app, dev = lock.wanted(ROOT)
    ours = python_files("tests", "training", "benchmarks", "scripts")
    assert undeclared(ours, names(app) | names(dev)) == []


@pytest.mark.slow
def test_the_lock_files_fit_pyproject() -> None:
    assert lock.faults() == []


def test_torch_has_a_version_and_no_hash_and_the_others_have_both() -> None:
    exact, locked = (lock.read((ROOT / name).read_text("utf-8")) for name in (lock.EXACT, lock.LOCK))
    assert [pin.exactly for pin in exact if pin.name == "torch"] == [("torch", "==2.13.0")]
    assert {pin.name for pin in exact} - {pin.name for pin in locked} == {"torch"}
    assert all(len(pin.requirement.specifier) == 1 and "--hash=sha256:" in pin.text for pin in locked)


@pytest.mark.parametrize("name", [lock.EXACT, lock.LOCK])
def test_no_file_names_an_index_or_a_folder(name: str) -> None:
    assert not re.search(r"://|^-|/tmp|--index|--find-links", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "pattern", "new", "said"),
    [
        ("pyproject.toml", r'"plotly>=7\.1,<8"', '"plotly>=8"', "plotly>=8 has 7.1.0"),
        ("pyproject.toml", r'    "Babel.*\n', "", "no longer asks for babel"),
        ("pyproject.toml", r'    "Babel', '    "nobody-has-this",\n    "Babel', "nobody-has-this has no version"),
        ("pyproject.toml", r'"pytest>=9.2,<10"', '"pytest>=10"', "pytest>=10 has 9.2.0"),
        (lock.EXACT, r"^starlette==.*", "starlette==1.0.0", "does not begin with the packages of"),
        (lock.EXACT, r"^starlette==.*\n", "", "does not begin with the packages of"),
        (lock.EXACT, r"^torch==.*", "torch==2.1.0", "torch<3,>=2.13 has 2.1.0"),
        (lock.EXACT, r"^plotly==", "nvidia-cublas==13.4.1.3\nplotly==", "nvidia-cublas belongs to a build of torch"),
        (lock.LOCK, r"^uvicorn==(\S+) \\\n(    --hash\S+( \\)?\n)+", r"uvicorn==\1\n", "uvicorn has no hash"),
        (lock.LOCK, r"^# For developers.*\n", "", "does not begin with the packages of"),
    ],
)
def test_an_outdated_lock_is_reported(copies: Path, file: str, pattern: str, new: str, said: str) -> None:
    assert lock.faults(copies) == []
    change(copies / file, pattern, new)
    assert any(said in fault for fault in lock.faults(copies)), lock.faults(copies)


@pytest.mark.parametrize("file", ["Makefile", "deploy/Containerfile"])
def test_the_app_is_installed_from_hashes_down_to_what_is_for_developers(file: str) -> None:
    """By the command that the file has, run here."""
    text = (ROOT / file).read_text(encoding="utf-8").replace("$$", "$")
    (command,) = re.findall(r"(sed '.+' \S*requirements\.lock) >", text)
    app = subprocess.run(
        command.replace("scripts/", "").replace("requirements.lock", lock.LOCK),
        shell=True, cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    exact = lock.read((ROOT / lock.EXACT).read_text("utf-8"))
    assert {pin.exactly for pin in lock.read(app)} == {pin.exactly for pin in exact if pin.name != "torch"}
    installs = [line for line in text.splitlines() if "pip install" in line and ".lock" in line]
    assert installs
    assert all("--require-hashes --no-deps" in line for line in installs)
