"""Modules are joined into one file for the browser, or rejected."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from bartviz.browser.scripts import ScriptError, bundle
from tests.support import node

PACKAGE = Path(bundle.__code__.co_filename).parents[1]
SCRIPTS = {path for path in PACKAGE.rglob("*.js") if path.parent.name != "vendor"}
ENTRIES = sorted(path for path in SCRIPTS if "export default" in path.read_text("utf-8"))
ALONE = sorted(path for path in SCRIPTS if path.name in ("worker.js", "whole.js"))  # begin by themselves


def written(folder: Path, **modules: str) -> Path:
    """The modules as files; the first is the entry."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, "utf-8")
    return folder / f"{next(iter(modules))}.js"


def test_each_module_comes_once_and_after_those_that_it_imports(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        entry='import { twice } from "./twice.js";\nimport { ONE } from "./one.js";\n\nexport default twice(ONE);\n',
        twice='import {\n  add,\n} from "./add.js";\n\nexport const twice = (n) => add(n, n);\n',
        add='import { ONE } from "./one.js";\n\nexport function add(a, b) {\n  return (a + b) * ONE;\n}\n',
        one="export const ONE = 1; // export\n",
    )
    assert bundle(entry) == (
        "const ONE = 1; // export\n\nfunction add(a, b) {\n  return (a + b) * ONE;\n}\n\n"
        "const twice = (n) => add(n, n);\n\nexport default twice(ONE);\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        'import { one as two } from "./one.js";',
        'import one from "./one.js";',
        'import * as one from "./one.js";',
        'import "./one.js";',
        'import { one } from "package";',
        'export { one } from "./one.js";',
        'export * from "./one.js";',
    ],
)
def test_an_import_that_cannot_be_joined_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ScriptError, match=r"entry\.js"):
        bundle(written(tmp_path, entry=f"{line}\n", one="export const one = 1;\n"))


def test_two_modules_with_one_name_are_refused_and_a_name_within_a_function_is_not(tmp_path: Path) -> None:
    entry = 'import { one } from "./one.js";\n\nexport function f() {\n  const size = one;\n  return size;\n}\n'
    assert bundle(written(tmp_path, entry=entry, one="const size = 1;\nexport const one = size;\n"))
    clash = f"{entry}\nconst [a, size] = [1, 2];\n"
    with pytest.raises(ScriptError, match=r"both declare size"):
        bundle(written(tmp_path, entry=clash, one="const size = 1;\nexport const one = size;\n"))


def test_modules_that_import_each_other_are_refused(tmp_path: Path) -> None:
    one = 'import { b } from "./two.js";\n\nexport const a = () => b;\n'
    two = 'import { a } from "./one.js";\n\nexport const b = () => a;\n'
    with pytest.raises(ScriptError, match=r"import each other: .*one\.js"):
        bundle(written(tmp_path, one=one, two=two))


def test_a_name_that_is_not_exported_and_a_second_default_are_refused(tmp_path: Path) -> None:
    entry = 'import { one } from "./one.js";\n'
    with pytest.raises(ScriptError, match=r"entry\.js imports one, which one\.js does not export"):
        bundle(written(tmp_path, entry=entry, one="const one = 1;\n"))
    with pytest.raises(ScriptError, match="default export"):
        bundle(written(tmp_path, entry=entry, one="export const one = 1;\nexport default one;\n"))


def test_every_script_belongs_to_a_component() -> None:
    reached: set[Path] = set()
    ahead = [*ENTRIES, *ALONE]
    while ahead:
        path = ahead.pop()
        reached.add(path)
        targets = re.findall(r'^(?:import|\}).* from "(\.[^"]+)";', path.read_text("utf-8"), re.MULTILINE)
        ahead += [found for target in targets if (found := (path.parent / target).resolve()) not in reached]
    assert reached == SCRIPTS


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: path.stem)
def test_the_joined_script_is_a_module_with_a_default_export_alone(entry: Path, tmp_path: Path) -> None:
    (tmp_path / "joined.mjs").write_text(bundle(entry), "utf-8")
    code = "const { default: f, ...rest } = await import('./joined.mjs'); console.log(typeof f, Object.keys(rest))"
    run = [node.find_node(), "--input-type=module", "--eval", code]
    out = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert out.stdout == "function []\n"
