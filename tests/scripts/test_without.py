"""A feature is its folders, its page and a line in the menu: without them, the tests of the rest pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import node, without

ROOT = Path(__file__).parents[2]
# The tests that are most likely to notice, the shortest first.
NOTICE = ("tests/test_documents.py", "tests/app/frame/test_page.py", "tests/app/frame/test_related_links.py")
ALSO = ("tests/test_layers.py", "tests/language", "tests/teaching", "tests/figures", "tests/features/start")


@pytest.mark.some("quiz-first")
@pytest.mark.slow
@pytest.mark.parametrize("tests", [NOTICE, ALSO], ids=["first", "also"])
@pytest.mark.parametrize("feature", ["quiz", "alignment", "corpus"])
def test_the_rest_works_without(feature: str, tests: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.without", feature, "-q", *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_a_feature_goes_with_its_page_and_its_line_in_the_menu_and_nothing_else(tmp_path: Path) -> None:
    menu = (
        'DOORS = (\n    Page("start"),\n    Page(\n        "quiz",\n        run=False,\n    ),\n    Page("masks"),\n)\n'
    )
    for name in ("bartviz/app/frame/page_list.py", "pages/quiz.py", "pages/masks.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(menu)
    for name in ("bartviz/features/quiz", "tests/features/quiz", "bartviz/features/masks"):
        (tmp_path / name).mkdir(parents=True)
    without.delete(tmp_path, "quiz")
    left = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if not any(file.glob("*"))}
    assert left == {"bartviz/app/frame/page_list.py", "pages/masks.py", "bartviz/features/masks", "tests/features"}
    assert (tmp_path / without.MENU).read_text() == 'DOORS = (\n    Page("start"),\n    Page("masks"),\n)\n'


def test_a_copy_has_the_files_of_the_tree_and_what_npm_has_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, home = tmp_path / "tree", tmp_path / "home"
    installed = Path("scripts/js/node_modules/axe-core/axe.min.js")
    for name in (Path("app.py"), Path("scripts/js/package.json"), installed):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(str(name))
    (tree / ".gitignore").write_text("node_modules/\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tree, check=True)
    monkeypatch.setattr(without, "ROOT", tree)
    monkeypatch.setattr(without, "JS", tree / node.JS.relative_to(ROOT))
    without.copy(home)
    assert (home / "app.py").read_text() == "app.py"
    assert (home / installed).read_text() == str(installed)
    assert (home / "scripts/js/node_modules").is_symlink()


def test_the_start_page_cannot_go(tmp_path: Path) -> None:
    (tmp_path / without.MENU).parent.mkdir(parents=True)
    (tmp_path / without.MENU).write_text((ROOT / without.MENU).read_text("utf-8"))
    with pytest.raises(LookupError, match="no line for start alone"):
        without.delete(tmp_path, "start")
