"""The packages of ``bartviz`` and the imports between them: ``python -m scripts.layers`` prints them floor by floor.

A package here is a folder of ``bartviz``, or a module outside of any folder; ``pages`` are above them. Imports run
down: a package imports its own floor and those below, and no two packages import each other. ``make check`` fails
otherwise.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "bartviz"

# From the ground up.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("version", "arrays", "language", "errors"),
    ("safety", "families"),
    ("text",),
    ("record",),
    ("tape", "analysis"),
    ("models", "figures"),
    ("run",),
    ("experiments", "corpus", "serving"),
    ("teaching",),
    ("ui",),
    ("commands", "pages", "__init__", "__main__"),
)
# The same within ``bartviz/ui``.
UI_FLOORS: tuple[tuple[str, ...], ...] = (("state",), ("components", "controls"), ("frame",), ("views",))


def files() -> list[Path]:
    """Every module of the package, and the pages."""
    return sorted([*PACKAGE.rglob("*.py"), *(ROOT / "pages").glob("*.py")])


def package(path: Path) -> str:
    """The package of a file: the folder that it is in, or its module."""
    if path.parent == ROOT / "pages":
        return "pages"
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
            if node.level:
                raise ValueError(f"{path.name} imports relatively")
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def packages_of(path: Path) -> set[str]:
    """The packages that a file imports, its own left out."""
    parts = (name.split(".") for name in imports(path) if name.startswith("bartviz."))
    named = {part[1] for part in parts}
    there = {name for name in named if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name).is_dir()}
    return there - {package(path)}


def arrows() -> Counter[tuple[str, str]]:
    """(package, package that it imports) -> in how many files."""
    return Counter((package(path), target) for path in files() for target in packages_of(path))


def _main() -> int:
    found = arrows()
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    for number, names in reversed(list(enumerate(FLOORS))):
        print(f"{number:2}  {'  '.join(names)}")
    print(f"{len(floor)} packages on {len(FLOORS)} floors, {len(found)} imports between them.")
    strangers = {name for arrow in found for name in arrow} - set(floor)
    upward = [f"{one} imports {other}" for one, other in found if not strangers and floor[other] > floor[one]]
    try:
        graph = TopologicalSorter({name: {b for a, b in found if a == name} for name, _ in found})
        graph.prepare()
        circle = ""
    except CycleError as error:
        circle = " > ".join(error.args[1])
    for wrong in (*(f"{name} has no floor: add it to FLOORS" for name in sorted(strangers)), *upward, circle):
        if wrong:
            print(wrong, file=sys.stderr)
    return bool(strangers or upward or circle)


if __name__ == "__main__":
    sys.exit(_main())
