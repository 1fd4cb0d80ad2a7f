"""The table of settings in docs/deploy.md is what the code reads, with the same defaults."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

from bartviz.serving.limits import Limits

ROOT = Path(__file__).parent.parent
NAME = r"BARTVIZ_[A-Z_]*[A-Z]"


def documented() -> dict[str, str]:
    """Name -> default as written, "" without one."""
    rows = re.findall(rf"^\| `({NAME})`(?: \((\w+)\))? \|", (ROOT / "docs/deploy.md").read_text("utf-8"), re.M)
    return dict(rows)


def test_every_setting_is_documented_and_none_that_is_not() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "bartviz").rglob("*.py"))
    limits = {f"BARTVIZ_{name.upper()}" for name in asdict(Limits())}
    assert set(documented()) == set(re.findall(rf"[\"']({NAME})[\"']", code)) | limits


def test_the_defaults_are_those_of_the_code() -> None:
    defaults = {f"BARTVIZ_{name.upper()}": str(value) for name, value in asdict(Limits()).items()}
    assert {name: value for name, value in documented().items() if name in defaults} == defaults
