"""What shells are given to complete the commands."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from bartviz.commands.cli import main
from bartviz.commands.completion import SHELLS


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    for word in ("capture", "export", "completion", "picture", "overview", "no-caption"):
        assert word in out


def test_bash_completes_a_command_and_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    main(["completion", "bash"])
    script = capsys.readouterr().out
    for line, wanted in (("bartviz exp", "export"), ("bartviz export --pic", "--picture"), ("bartviz mod", "models")):
        words = line.split()
        ask = (
            f"{script}\nCOMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'\n"
            '_shtab_bartviz bartviz "${COMP_WORDS[-1]}"; echo "${COMPREPLY[@]}"'
        )
        answer = subprocess.run([bash, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
        assert wanted in answer, line


def test_without_the_package_completion_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install '.[app]'" in capsys.readouterr().err
