"""Whether a feature can be deleted: ``python -m scripts.without quiz`` runs the quick tests of all others without it.

In a copy of this tree, the folders of the feature, its page and its line in the menu are removed, and nothing else.
What other rooms know of it must ask what is there. Of several features, what only they share is left over: a message of
theirs fails tests/language as one that nothing says. ``python -m scripts.without quiz tests/language tests/app`` runs
only these tests.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.layers import PAIRS
from scripts.node import JS

ROOT = Path(__file__).parent.parent
MENU = Path("bartviz/app/frame/page_list.py")
NEITHER = ("-m", "not browser and not slow and not thorough")


def copy(home: Path) -> None:
    """Copy to ``home`` every file of this tree that git does not ignore, and link what npm has installed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        if (ROOT / name).is_file():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, home / name)
    if (JS / "node_modules").is_dir():
        (home / JS.relative_to(ROOT) / "node_modules").symlink_to(JS / "node_modules")


def delete(home: Path, feature: str) -> None:
    """Remove a feature from a tree; raises a LookupError if the menu has no line for it alone."""
    menu = (home / MENU).read_text("utf-8").splitlines(keepends=True)
    for node in ast.walk(ast.parse("".join(menu))):
        match node:
            case ast.Call(func=ast.Name(id="Page"), args=[ast.Constant(value=word), *_]) if word == feature:
                lines = slice(node.lineno - 1, node.end_lineno)
                if "".join(menu[lines]).strip().endswith("),") and menu[node.lineno - 1].lstrip().startswith("Page("):
                    del menu[lines]
                    break
    else:
        raise LookupError(f"{MENU} has no line for {feature} alone")
    (home / MENU).write_text("".join(menu), "utf-8")
    (home / "pages" / f"{feature}.py").unlink()
    for folder in (f"bartviz/features/{feature}", f"tests/features/{feature}"):
        shutil.rmtree(home / folder)


def run(home: Path, *arguments: str) -> int:
    """Run pytest in that tree, with its modules and not with those that are installed."""
    code = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=home,
        env=os.environ | {"PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": ""},
        check=False,
    )
    return code.returncode


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("feature", help="a folder of bartviz/features; several are joined by commas")
    parser.add_argument("pytest", nargs="*", help="what pytest runs (all quick tests)")
    chosen, options = parser.parse_known_args()
    with TemporaryDirectory() as folder:
        home = Path(folder) / "bartviz"
        copy(home)
        features = chosen.feature.split(",")
        if needed := [f"{one} needs {other}" for one, other in PAIRS if other in features and one not in features]:
            parser.error(f"{', '.join(needed)}: name both, joined by a comma")
        for feature in features:
            delete(home, feature)
        return run(home, *NEITHER, *options, *chosen.pytest)


if __name__ == "__main__":
    sys.exit(_main())
