"""The rooms of ``bartviz`` and the imports between them: ``python -m scripts.layers`` prints them floor by floor.

A room is a folder of ``bartviz``, or a module outside of any folder; ``pages`` are above them. Imports run down: a room
imports its own floor and those below, and no two rooms import each other. Every import counts: in a function, for the
type checker alone, and by a name in a string. ``make check`` fails otherwise.

The features are rooms of their own (``features/heads``). A feature imports no other one, but for the pairs in PAIRS,
and the name of a file says what it may import: ``page`` and ``parts`` the app and Streamlit, ``figure`` plotly, ``run``
torch, and all others nothing of these.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "bartviz"

# From the ground up.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("version", "arrays", "callbacks", "hooks", "language", "errors"),
    ("safety", "families", "lazy", "plugins"),
    ("text",),
    ("record", "reading"),
    ("tape", "patterns"),
    ("analysis",),
    ("models", "drawing"),
    ("run", "browser"),
    ("experiments", "attribution", "corpus", "serving", "explorer"),
    ("teaching",),
    ("app",),
    ("features",),
    ("figures", "visit"),
    ("commands", "pages", "__init__", "__main__"),
)
# The same within ``bartviz/app``.
APP_FLOORS: tuple[tuple[str, ...], ...] = (("streamlit_internals",), ("state",), ("components", "controls"), ("frame",))
# Which feature imports which other one, and why.
PAIRS: dict[tuple[str, str], str] = {
    ("parameters", "textbook"): "the parameters page shows the lines of the textbook that are about sizes"
}
# What the files of a feature may import, by the first word of their names.
HEIGHT = {"figure": 1, "run": 2, "parts": 3, "page": 4}  # within a feature imports run down, too
HEAVY = ("torch", "transformers", "plotly", "streamlit", "bartviz.app", "bartviz.drawing")
ALLOWED: dict[str, tuple[str, ...]] = {
    "page": ("plotly", "streamlit", "bartviz.app", "bartviz.drawing"),
    "parts": ("plotly", "streamlit", "bartviz.app", "bartviz.drawing"),
    "figure": ("plotly", "bartviz.drawing"),
    "run": ("torch", "transformers"),
    "chapter": ("torch", "transformers"),  # of the textbook: it runs small networks of its own
    "networks": ("torch", "transformers"),
}


def files() -> list[Path]:
    """Every module of the package, and the pages."""
    return sorted([*PACKAGE.rglob("*.py"), *(ROOT / "pages").glob("*.py")])


def room(path: Path) -> str:
    """The room of a file: the folder that it is in, or its module."""
    if path.parent == ROOT / "pages":
        return "pages"
    inside = path.relative_to(PACKAGE).parts
    return inside[0] if len(inside) > 1 else path.stem


def feature(path: Path) -> str | None:
    """The feature of a file."""
    inside = path.relative_to(PACKAGE).parts if PACKAGE in path.parents else ()
    return inside[1] if inside[:1] == ("features",) and len(inside) > 2 else None


@cache
def imports(path: Path, *, typing: bool = True) -> frozenset[str]:
    """Every module that a file imports: in functions too, by a name in a string, and for the type checker alone
    unless ``typing`` is false."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = set() if typing else {id(node) for part in ast.walk(tree) for node in _typing_only(part)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.level:
                raise ValueError(f"{path.name} imports relatively")
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and is_module(node.value):
            found.add(node.value)
    return frozenset(found)


def is_module(name: str) -> bool:
    """Whether a string is the name of a module of ours, or of something in one."""
    parts = name.split(".")
    if parts[0] != "bartviz" or len(parts) < 3 or not all(part.isidentifier() for part in parts):
        return False
    return any(
        (PACKAGE.joinpath(*parts[1:end]).with_suffix(".py")).is_file() or PACKAGE.joinpath(*parts[1:end]).is_dir()
        for end in (2, 3)
    )


def _typing_only(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        yield from ast.walk(node)


def rooms_of(path: Path) -> set[str]:
    """The rooms that a file imports, its own left out."""
    named = {name.split(".")[1] for name in imports(path) if name.startswith("bartviz.")}
    there = {name for name in named if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name).is_dir()}
    return there - {room(path)}


def arrows() -> Counter[tuple[str, str]]:
    """(room, room that it imports) -> in how many files."""
    return Counter((room(path), target) for path in files() for target in rooms_of(path))


def between_features() -> set[tuple[str, str]]:
    """(feature, other feature that it imports)."""
    found = set()
    for path in files():
        for name in imports(path) if feature(path) else ():
            parts = name.split(".")
            if parts[:2] == ["bartviz", "features"] and len(parts) > 2 and parts[2] != feature(path):
                found.add((str(feature(path)), parts[2]))
    return found


def too_heavy() -> list[str]:
    """The files of features that import what their names do not allow."""
    found = []
    for path in files():
        if own := feature(path):
            first = _first(path.relative_to(PACKAGE / "features").parts[1])
            forbidden = [one for one in HEAVY if one not in ALLOWED.get(first, ())]
            for name in sorted(imports(path)):
                above = name.removeprefix(f"bartviz.features.{own}.")
                upward = above != name and HEIGHT.get(_first(above), 0) > HEIGHT.get(first, 0)
                if upward or any(name == one or name.startswith(f"{one}.") for one in forbidden):
                    found.append(f"{path.relative_to(ROOT)} imports {name}")
    return found


def _first(name: str) -> str:
    """The first word of a module's name: "figure" of "figure_flow.py" and of "figure_flow.draw"."""
    return name.split(".", maxsplit=1)[0].split("_", maxsplit=1)[0]


def _main() -> int:
    found = arrows()
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    for number, names in reversed(list(enumerate(FLOORS))):
        print(f"{number:2}  {'  '.join(names)}")
    print(f"{len(floor)} rooms on {len(FLOORS)} floors, {len(found)} imports between them.")
    strangers = {name for arrow in found for name in arrow} - set(floor)
    upward = [f"{one} imports {other}" for one, other in found if not strangers and floor[other] > floor[one]]
    try:
        graph = TopologicalSorter({name: {b for a, b in found if a == name} for name, _ in found})
        graph.prepare()
        circle = ""
    except CycleError as error:
        circle = " > ".join(error.args[1])
    pairs = between_features()
    print(f"{len(list((PACKAGE / 'features').glob('*/__init__.py')))} features, {len(pairs)} imports between them.")
    unlisted = [f"the feature {a} imports the feature {b}" for a, b in sorted(pairs - set(PAIRS))]
    unused = [f"PAIRS names {a} > {b}, which does not import it" for a, b in sorted(set(PAIRS) - pairs)]
    missing = (f"{name} has no floor: add it to FLOORS" for name in sorted(strangers))
    wrong = [one for one in (*missing, *upward, circle, *unlisted, *unused, *too_heavy()) if one]
    for one in wrong:
        print(one, file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(_main())
