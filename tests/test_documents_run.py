"""What documents tell to type works: Python and notebooks run as they stand, commands run or name what exists."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bartviz.commands.cli import main
from bartviz.families.catalogue import EMBEDDED

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAIR = {"source": "I want to buy a car.", "target": "Ich will ein Auto kaufen."}
BLOCK = re.compile(r"^```(\{code-cell\}|\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SERVES = {"app", "open"}  # they would not end: only their options are tried
RECORD = EMBEDDED / "records" / "start.safetensors"


def blocks(path: Path, *languages: str) -> list[str]:
    return [text for language, text in BLOCK.findall(path.read_text("utf-8")) if language in languages]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


COMMANDS = [
    pytest.param(line.split("  #")[0].strip(), id=f"{named(path)}: {line}")
    for path in DOCUMENTS
    for block in blocks(path, "sh")
    for line in block.splitlines()
    if line.strip()
]
CODE = [path for path in DOCUMENTS if blocks(path, "python", "{code-cell}")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that documents name."""
    shutil.copy(RECORD, tmp_path / "car.safetensors")
    shutil.copy(RECORD, tmp_path / "other.safetensors")
    pairs = "en\tde\nI want to buy a car.\tIch will ein Auto kaufen.\nIt is late.\tEs ist spät.\n"
    (tmp_path / "pairs.tsv").write_text(pairs, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("path", CODE, ids=named)
def test_python_runs_from_top_to_bottom(path: Path, folder: Path) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    if "open_atlas" in path.read_text("utf-8"):
        options = ["--model", "bart-tiny-en-de", "--column", "en", "--target", "de", "--out", "atlas"]
        assert main(["corpus", "pairs.tsv", *options]) == 0
    shipped = EMBEDDED / "bart-tiny-en-de"
    network = AutoModelForSeq2SeqLM.from_pretrained(shipped, attn_implementation="eager")
    tokenizer = AutoTokenizer.from_pretrained(shipped)
    ids = {name: tokenizer(text, return_tensors="pt").input_ids for name, text in PAIR.items()}
    output = network(ids["source"], decoder_input_ids=ids["target"], output_attentions=True)
    tokens = {name: tokenizer.convert_ids_to_tokens(found[0]) for name, found in ids.items()}
    names = {"network": network, "tokenizer": tokenizer, "output": output, **tokens}  # "your own" of the README
    for text in blocks(path, "python", "{code-cell}"):
        exec(compile(text, path.name, "exec"), names)


def arguments(command: str) -> list[str]:
    """The words of a command without variables before it and what is piped into it."""
    words = shlex.split(command.rsplit(" | ", maxsplit=1)[-1])
    return words[next(index for index, word in enumerate(words) if "=" not in word or word.startswith("-")) :]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs_or_names_what_exists(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, *rest = arguments(command)
    if program == "make":
        assert re.search(rf"^{rest[0]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    elif program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        assert rest[0] == "install"
        assert {name for word in rest for name in re.findall(r"\[(\w+)\]", word)} <= set(extras)
    elif rest[0] in SERVES:
        with pytest.raises(SystemExit):
            main([rest[0], "--help"])
        assert {word for word in rest if word.startswith("--")} <= set(re.findall(r"--[a-z]+", capsys.readouterr().out))
    else:
        assert program == "bartviz"
        text = command.split(" | ", maxsplit=1)[0].removeprefix("echo ").strip('"') if " | " in command else None
        done = subprocess.run(
            [sys.executable, "-m", "bartviz", *rest],
            input=text,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
