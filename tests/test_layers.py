"""Imports run one way: pages -> ui -> figures -> analysis -> record, and ui -> capture -> models -> tape -> record."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "bartviz"

# The floors of the house, from the ground up. A module may import from its own floor and from those below.
FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"errors", "version", "language", "place", "particles", "retold", "families"}),
    frozenset({"logs", "hosts", "foreign", "memory"}),
    frozenset({"tokens", "valid", "arrays"}),
    frozenset(
        {
            "arrays",
            "tokens",
            "attention",
            "candidates",
            "beam_tree",
            "labels",
            "texts",
            "files",
            "pieces",
            "waiting",
            "gate",
            "cache",
        }
    ),
    frozenset({"checks", "store", "record"}),
    frozenset({"configs", "catalogue", "encoders", "describe", "tokenize", "export", "analysis"}),
    frozenset({"figures", "tape"}),
    frozenset(
        {"blobs", "hub", "listings", "transfer", "weights", "checkpoint", "folders", "vocabulary", "building", "built"}
    ),
    frozenset({"models", "loading"}),
    frozenset({"shapes", "quick"}),
    frozenset({"assemble", "steps", "rules", "runs", "stepping", "beams", "sampling", "following", "writing"}),
    frozenset({"forward", "generation", "branching"}),
    frozenset(
        {"replay", "ablation", "edits", "embeddings", "repair", "claims", "untrained", "suggestions", "verification"}
    ),
    frozenset({"ui", "aligning", "serve", "cli", "__init__", "__main__"}),
)
LIGHT = ("analysis", "figures", "attention", "record", "store", "errors", "catalogue", "configs", "families", "cache")
HEAVY = frozenset({"torch", "transformers", "streamlit"})


def files() -> list[Path]:
    return sorted([*PACKAGE.rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"])


def home(path: Path) -> str:
    """The room of a file: its module, or the folder that it is in."""
    inside = path.relative_to(PACKAGE).parts
    return inside[0] if len(inside) > 1 else path.stem


def imports(path: Path) -> set[str]:
    """Every module that a file imports, in functions too, but not those that only the type checker reads."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.unparse(test.test)
        for node in ast.walk(test)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path.name} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def floor(room: str) -> int:
    for number, rooms in enumerate(FLOORS):
        if room in rooms:
            return number
    pytest.fail(f"{room} has no floor: add it to FLOORS")


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_imports_upward(path: Path) -> None:
    room = home(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "bartviz" or len(parts) < 2:
            continue
        target = parts[1]
        if not ((PACKAGE / f"{target}.py").exists() or (PACKAGE / target).is_dir()):
            continue  # a name of the package itself
        assert floor(target) <= floor(room), f"{room} imports {target}"


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_streamlit_stays_in_the_pages(path: Path) -> None:
    allowed = path.parent == ROOT or path.parent.name == "pages" or (PACKAGE / "ui") in path.parents
    uses = any(name.split(".")[0] == "streamlit" for name in imports(path))
    assert allowed or not uses


@pytest.mark.parametrize("room", LIGHT)
def test_records_tables_and_figures_need_no_torch(room: str) -> None:
    parts = sorted((PACKAGE / room).rglob("*.py")) if (PACKAGE / room).is_dir() else [PACKAGE / f"{room}.py"]
    names = [".".join(part.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for part in parts]
    code = f"import sys\nfor name in {names!r}: __import__(name)\nprint(sorted({set(HEAVY)!r} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_a_page_reads_like_a_sentence(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 100


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_is_a_room_not_a_hall(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
