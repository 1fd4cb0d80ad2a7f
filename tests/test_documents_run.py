"""What documents tell to type works: Python and notebooks run as they stand, commands run or name what exists."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

import bartviz
from bartviz.commands.app import check_settings
from bartviz.commands.cli import main
from bartviz.families.catalogue import EMBEDDED
from bartviz.models.model import Model
from tests.support import networks, trained

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS += sorted((ROOT / "benchmarks" / "notes").glob("*.md"))
FLAGS = re.MULTILINE | re.DOTALL
BLOCK = re.compile(r"^```(\{code-cell\}|\w+)\n(.*?)^```", FLAGS)
TYPED = ("make", "pip", "python", "bartviz", "echo", ".venv/bin/python", "$")  # how a command begins
SERVES = {"app", "open", "serve"}  # they would not end: only their options are tried
PAIRS = (
    "en\tde\tgold\n"
    "I want to buy a car.\tIch will ein Auto kaufen.\t0-0 1-1 3-4 4-2 5-3 6-5\n"
    "It is late.\tEs ist spät.\t0-0 1-1 2-2 3-3\n"
)
RECORD = EMBEDDED / "records" / "start.safetensors"


def blocks(path: Path, *languages: str) -> list[str]:
    return [text for language, text in BLOCK.findall(path.read_text("utf-8")) if language in languages]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


COMMANDS = {  # command -> the first document that has it: a second one tells nothing new
    line.split("  #")[0].strip(): named(path)
    for path in reversed(DOCUMENTS)
    for block in blocks(path, "sh")
    for line in block.splitlines()
    if line.strip()
}
CASES = [  # with workers, a command has processes of its own: what they do is shown in tests/corpus
    pytest.param(command, id=f"{path}: {command}", marks=[pytest.mark.thorough] if "--workers" in command else ())
    for command, path in COMMANDS.items()
]
CODE = [path for path in DOCUMENTS if blocks(path, "python", "{code-cell}")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that documents name."""
    shutil.copy(RECORD, tmp_path / "car.safetensors")
    shutil.copy(RECORD, tmp_path / "other.safetensors")
    (tmp_path / "pairs.tsv").write_text(PAIRS, "utf-8")
    (tmp_path / "texts.txt").write_text("I want to buy a car.\n" + "The old man sleeps.\n" * 5, "utf-8")
    (tmp_path / "train.en").write_text("It is late .\n", "utf-8")
    (tmp_path / "train.de").write_text("Es ist spät .\n", "utf-8")
    (tmp_path / "my_heads.py").write_text("def lean(weights, tokens):\n    return weights[:, 0, 0]\n", "utf-8")
    (tmp_path / "models").mkdir()
    networks.save("gpt2", tmp_path / "gpt2")
    trained.checkpoints(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def talker() -> Model:
    """A decoder-only model with a chat template."""
    network, tokenizer = networks.build("gpt2", spread=0.3)
    tokenizer.chat_template = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant] "
    return bartviz.wrap(network, tokenizer)


def theirs() -> dict[str, object]:
    """What a reader of the documents has already: a network, its tokenizer, an output with its weights and tokens, and
    a model for chats."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = EMBEDDED / "bart-tiny-en-de"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForSeq2SeqLM.from_pretrained(folder, attn_implementation="eager").eval()
    encoded = tokenizer("It is late.", return_tensors="pt")
    given = torch.tensor([[network.config.decoder_start_token_id, *tokenizer("Es ist").input_ids]])
    with torch.no_grad():
        output = network(**encoded, decoder_input_ids=given, output_attentions=True)
    source, target = (tokenizer.convert_ids_to_tokens(ids[0].tolist()) for ids in (encoded.input_ids, given))
    return {"network": network, "tokenizer": tokenizer, "output": output, "source": source, "target": target} | {
        "talker": talker()
    }


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Copies the atlas of the pairs, with its single edges, to the working directory, and again as another one; it is
    made once."""
    home = tmp_path_factory.mktemp("pairs")

    @cache
    def made() -> Path:
        (home / "pairs.tsv").write_text(PAIRS, "utf-8")
        options = ["--model", "bart-tiny-en-de", "--column", "en", "--target", "de", "--edges", "0.2"]
        assert main(["corpus", str(home / "pairs.tsv"), "--out", str(home / "atlas"), *options]) == 0
        return home / "atlas"

    def copied() -> Path:
        shutil.copytree(made(), "other")
        return Path(shutil.copytree(made(), "atlas"))

    return copied


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("path", CODE, ids=named)
@pytest.mark.usefixtures("folder")
def test_python_runs_from_top_to_bottom(path: Path, edges: Callable[[], Path]) -> None:
    names = theirs()
    if "open_atlas" in path.read_text("utf-8"):
        edges()
    for text in blocks(path, "python", "{code-cell}"):
        exec(compile(text, path.name, "exec"), names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_what_is_to_be_typed_is_marked_as_such(path: Path) -> None:
    """A block without a language is run by nobody."""
    rest = re.sub(r"^```[^\n]+\n.*?^```$", "", path.read_text("utf-8"), flags=FLAGS)
    unmarked = re.findall(r"^```\n(.*?)^```$", rest, FLAGS)
    assert not [block for block in unmarked if block.startswith(TYPED)]


def arguments(command: str) -> tuple[dict[str, str], list[str]]:
    """The variables before a command, and its words without what is piped into it."""
    words = shlex.split(command.rsplit(" | ", maxsplit=1)[-1])
    first = next(index for index, word in enumerate(words) if "=" not in word or word.startswith("-"))
    return dict(word.split("=", 1) for word in words[:first]), words[first:]


@pytest.mark.slow
@pytest.mark.parametrize("command", CASES)
@pytest.mark.usefixtures("folder")
def test_a_command_runs_or_names_what_exists(
    command: str, edges: Callable[[], Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    variables, (program, *rest) = arguments(command)
    if program == "make":
        assert re.search(rf"^{rest[0]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    elif program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        assert rest[0] == "install"
        assert {name for word in rest for name in re.findall(r"\[(\w+)\]", word)} <= set(extras)
    elif program.endswith("python"):
        assert rest[0] == "-m"
        assert find_spec(rest[1]) is not None
        assert all((ROOT / word.split("::")[0]).exists() for word in rest[2:] if word.startswith("tests"))
    elif rest[0] in SERVES or "--ray" in rest:  # they would not end, or need a cluster: settings and options are tried
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        if "BARTVIZ_COMPUTE" not in variables:  # which needs a package of its own
            check_settings()
        with pytest.raises(SystemExit):
            main([rest[0], "--help"])
        assert {word for word in rest if word.startswith("--")} <= set(re.findall(r"--[a-z]+", capsys.readouterr().out))
    else:
        assert program == "bartviz"
        if rest[0] in {"find", "passport"} or "atlas" in rest[1:2]:
            edges()
        if "series" in rest[1:2]:
            bartviz.series([("It is late.", "Es ist spät.")], [*Path("run").iterdir()], "series")
        text = command.split(" | ", maxsplit=1)[0].removeprefix("echo ").strip('"') if " | " in command else None
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((text or "").encode()), encoding="utf-8"))
        assert main(rest) == 0
