"""The command ``heads``, as somebody types it: a receipt is written, verified, and refused where it was altered."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.commands.cli import main
from bartviz.commands.corpus import Shown
from bartviz.corpus import receipt
from bartviz.corpus.workers import Progress
from bartviz.errors import SettingError
from bartviz.version import versions
from tests.support.process import printed

WORDS = ["we", "buy", "a", "red", "car", "and", "the", "cat", "sleeps", "in", "this", "old", "house", "garden"]
PATTERN = "from any to previous token"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A receipt beside its corpus."""
    folder, generator = tmp_path_factory.mktemp("heads"), np.random.default_rng(0)
    lines = [" ".join(generator.permutation(WORDS)[: generator.integers(4, 9)]) for _ in range(60)]
    (folder / "texts.txt").write_text("\n".join(lines), "utf-8")
    out, texts = folder / "receipt.json", str(folder / "texts.txt")
    assert main(["heads", texts, "--model", "bert-tiny-en", "--pattern", PATTERN, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def silenced(written: Path) -> Path:
    """A receipt with the effects of heads, of the same corpus."""
    out, texts = written.with_name("silenced.json"), str(written.parent / "texts.txt")
    arguments = ["heads", texts, "--model", "bert-tiny-en", "--pattern", "from any to special", "--silence"]
    assert main([*arguments, "--size", "16", "--out", str(out)]) == 0
    assert not out.with_name("silenced.json.parts").exists()
    return out


def test_a_receipt_has_what_is_needed_to_repeat_it(written: Path) -> None:
    known = receipt.read(written)
    assert known["pattern"] == PATTERN
    assert known["model"]["fingerprint"] == bartviz.load("bert-tiny-en").info.fingerprint
    assert known["corpus"]["name"] == "texts.txt"
    assert known["settings"]["seed"] == 0
    assert known["versions"] == versions()
    assert known["texts"] == 60
    assert any(row["replicated"] for row in known["table"])


def test_a_receipt_is_verified(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["heads", "--verify", str(written)]) == 0
    assert "equal" in capsys.readouterr().out
    assert main(["heads", "--verify", str(written), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"receipt": str(written), "equal": True, "differences": []}


def test_effects_are_in_the_receipt_and_verified(silenced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = receipt.read(silenced)
    assert known["settings"]["silence"] == "masked words"
    found = [row for row in known["table"] if row["found"]]
    assert found
    assert all((row["effect"] is not None) == row["found"] for row in known["table"])
    assert bartviz.verify_heads(silenced)
    table = known["table"]
    table[0]["effect"] += 2e-6
    receipt.write(silenced.with_name("other.json"), {name: known[name] for name in known if name != "bartviz receipt"})
    assert main(["heads", "--verify", str(silenced.with_name("other.json"))]) == 1
    assert ", effect: " in capsys.readouterr().out


def test_several_patterns_have_one_receipt(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, others = written.with_name("several.json"), (PATTERN, "from any to special")
    command = ["heads", str(written.parent / "texts.txt"), "--model", "bert-tiny-en", "--size", "16"]
    command += [argument for pattern in others for argument in ("--pattern", pattern)]
    assert main([*command, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert all(f"pattern  {pattern}\n" in said for pattern in others)
    known = receipt.read(out)
    assert (known["bartviz receipt"], receipt.read(written)["bartviz receipt"]) == (2, 1)
    assert known["pattern"] == {pattern: pattern for pattern in others}
    assert f" of {len(known['table'])} heads for 2 patterns, " in said
    assert len(known["table"]) == 2 * len(receipt.read(written)["table"])
    assert main(["heads", "--verify", str(out)]) == 0
    known["table"][0]["share"] += 1
    receipt.write(written.with_name("sealed.json"), {name: known[name] for name in known if name != "bartviz receipt"})
    assert main(["heads", "--verify", str(written.with_name("sealed.json"))]) == 1
    assert f", {known['table'][0]['pattern']}, share: " in capsys.readouterr().out
    altered = out.read_bytes().replace(b"from any to special", b"from any to first")
    with pytest.raises(SettingError, match="altered or damaged"):
        receipt.opened("several.json", altered)


@pytest.mark.slow
@pytest.mark.usefixtures("ready_workers")
def test_two_workers_find_the_same_numbers(silenced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["heads", "--verify", str(silenced), "--workers", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["equal"]


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: bartviz[ray]")
def test_workers_of_ray_find_the_same_numbers(silenced: Path) -> None:
    assert printed(
        "import bartviz\nif __name__ == '__main__':\n"
        f"    print(bartviz.verify_heads({str(silenced)!r}, ray='local', workers=2).differences)"
    ).endswith("()\n")


def test_the_same_command_goes_on_after_ctrl_c(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, shown = tmp_path / "receipt.json", Shown.report

    def interrupted(self: Shown, progress: Progress) -> None:
        shown(self, progress)
        raise KeyboardInterrupt

    command = ["heads", str(written.parent / "texts.txt"), "--model", "bert-tiny-en", "--pattern", PATTERN]
    monkeypatch.setattr(Shown, "report", interrupted)
    assert main([*command, "--size", "40", "--out", str(out)]) == 130
    said = capsys.readouterr().err
    assert "Stopped after 40 of 60 rows. Repeat the command to continue." in said
    assert main([*command, "--size", "40"]) == 130
    assert "With --out JSON a run is kept" in capsys.readouterr().err
    monkeypatch.undo()
    assert main([*command, "--size", "40", "--out", str(out)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["receipt.json"]
    assert receipt.read(out)["table"][0] == pytest.approx(receipt.read(written)["table"][0], abs=1e-6)


def test_the_table_is_printed_as_one_asks(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["heads", str(written.parent / "texts.txt"), "--model", "bert-tiny-en", "--pattern", PATTERN]
    assert main([*command, "--format", "csv", "--columns", "kind,layer,head,share"]) == 0
    csv = capsys.readouterr().out.splitlines()
    known = receipt.read(written)["table"]
    assert csv[0] == "kind,layer,head,share"
    assert len(csv) == 1 + len(known)
    assert float(csv[1].split(",")[3]) == pytest.approx(known[0]["share"], abs=1e-6)
    assert main([*command, "--format", "latex"]) == 0
    latex = capsys.readouterr().out
    assert r"\toprule" in latex
    assert latex.count("encoder L") == sum(row["found"] for row in known)
    assert main([*command, "--format", "json", "--columns", "head,q"]) == 0
    assert set(json.loads(capsys.readouterr().out)["table"][0]) == {"head", "q"}
    assert main([*command, "--columns", "effect"]) == 2
    assert "no column 'effect': choose kind" in capsys.readouterr().err


def test_what_differs_is_named(written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers that somebody sealed anew, another corpus, another model."""
    known = receipt.read(written)
    table = known["table"]
    table[0]["share"] += 2e-6
    table[1]["found"] = not table[1]["found"]
    sealed = tmp_path / "sealed.json"
    receipt.write(sealed, {name: value for name, value in known.items() if name != "bartviz receipt"})
    corpus = written.parent / "texts.txt"
    assert main(["heads", str(corpus), "--verify", str(sealed)]) == 1
    out = capsys.readouterr().out
    assert out.count("differs") == 2
    assert f"{table[0]['kind']} L{table[0]['layer']}H{table[0]['head']}, share" in out
    other = tmp_path / "texts.txt"
    other.write_text(corpus.read_text("utf-8").replace("car", "cat"), "utf-8")
    assert main(["heads", str(other), "--verify", str(written)]) == 1
    out = capsys.readouterr().out
    assert "the corpus has other texts" in out
    assert out.count("differs  ") == 20
    assert main(["heads", str(other), "--verify", str(written), "--json"]) == 1
    whole = json.loads(capsys.readouterr().out)["differences"]
    assert f"and {len(whole) - 20:,} more: --json has all" in out
    assert main(["heads", "--verify", str(written), "--model", "bart-tiny-en-de"]) == 1
    assert "the model has other weights" in capsys.readouterr().out


def change(name: str, value: Any, part: str | None = None) -> Callable[[dict[str, Any]], object]:
    return lambda whole: (whole if part is None else whole[part]).__setitem__(name, value)


def row(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda whole: whole["table"][0].__setitem__(name, value)


ALTERED: dict[str, Callable[[dict[str, Any]], object]] = {
    "pattern": change("pattern", "from any to next token"),
    "format": change("bartviz receipt", 2),
    "texts": change("texts", 61),
    "repeated": change("repeated", 1),
    "left out": change("left_out", 1),
    "digest": change("digest", "0" * 64),
    "field": change("note", "mine"),
    "seed": change("seed", 1, "settings"),
    "rate": change("rate", 0.5, "settings"),
    "least": change("least", 0.1, "settings"),
    "kinds": change("kinds", [], "settings"),
    "model": change("name", "other", "model"),
    "fingerprint": change("fingerprint", "0", "model"),
    "corpus": change("digest", "0", "corpus"),
    "version": change("torch", "1", "versions"),
    "share": row("share", 1.0),
    "found": row("found", None),
    "p": row("p", 2.0),
    "head": row("head", 99),
    "row": lambda whole: whole["table"].pop(),
    "order": lambda whole: whole["table"].reverse(),
    "missing": lambda whole: whole.pop("versions"),
}
BYTES: dict[str, Callable[[bytes], bytes]] = {
    "space": lambda data: data + b" ",
    "shorter": lambda data: data[:-20],
    "twice": lambda data: data.replace(b'"texts": 60', b'"texts": 60, "texts": 60'),
    "empty": lambda _data: b"",
    "list": lambda _data: b"[]",
}


@pytest.mark.parametrize("name", [*ALTERED, *BYTES])
def test_an_altered_receipt_is_refused(name: str, written: Path, tmp_path: Path) -> None:
    data = written.read_bytes()
    if name in BYTES:
        altered = BYTES[name](data)
    else:
        whole = json.loads(data)
        ALTERED[name](whole)
        altered = f"{json.dumps(whole, indent=1, sort_keys=True)}\n".encode()
    assert altered != data
    (tmp_path / "receipt.json").write_bytes(altered)
    with pytest.raises(SettingError, match="altered or damaged"):
        receipt.read(tmp_path / "receipt.json")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["heads"], "FILE is missing"),
        (["heads", "x.txt", "--model", "bert-tiny-en", "--pattern", "from verbb to any"], "Character 6"),
        (["heads", "--verify", "nowhere.json"], "cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_receipt_of_a_function_cannot_be_verified(tmp_path: Path) -> None:
    texts = ["we buy a red car", "the cat sleeps here", "this old house"]
    model = bartviz.load("bert-tiny-en")
    found = bartviz.find_heads(model, texts, lambda record, kind: np.eye(len(record.attention(kind).query)))
    found.save(tmp_path / "receipt.json")
    with pytest.raises(SettingError, match="of a function"):
        bartviz.verify_heads(tmp_path / "receipt.json", texts, model)
