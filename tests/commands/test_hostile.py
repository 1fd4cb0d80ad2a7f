"""What others have written, printed to a terminal: nothing in it is obeyed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from bartviz.commands.cli import main
from bartviz.commands.output import print_json, say, say_table
from bartviz.record.checks import Check
from tests.support import stand_in

HOSTILE = "\x1b[31mred\x1b]0;owned\x07\x9b2J\u202egnp\u2066\r\nnext\x08\x7f"
OBEYED = {*map(chr, range(32)), *map(chr, range(127, 160)), *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}


def obeyed(printed: str) -> set[str]:
    return (OBEYED - {"\n"}) & set(printed)


def test_a_line_shows_what_a_terminal_would_obey_and_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"  {HOSTILE}")
    say(HOSTILE, error=True)
    said = capsys.readouterr()
    for printed in said:
        assert not obeyed(printed)
        assert printed.count("\n") == 1
        assert "‹U+001B›[31mred" in printed
        assert "‹RLO›" in printed
    assert said.out.startswith("  ‹U+001B›")


def test_what_lays_out_a_line_and_honest_texts_stay(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["  0  Ich    87.3%   will 2%", "한국어 Größe 👩‍👩‍👧 नमस्ते", "", "   "]
    say_table("\n".join(lines))
    assert capsys.readouterr().out == "\n".join(lines) + "\n"


def test_json_has_the_same_text_without_the_signs(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": HOSTILE, "한": "👩‍👩‍👧\u2028"})
    printed = capsys.readouterr().out
    assert not obeyed(printed)
    assert json.loads(printed) == {"text": HOSTILE, "한": "👩‍👩‍👧\u2028"}
    assert "한" in printed


@pytest.mark.parametrize("command", ["align", "open"])
def test_the_name_of_a_failed_check_is_no_command(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = stand_in.record()
    failed = (Check(f"{HOSTILE} evil", 1.0, 0.5),)
    provenance = replace(record.provenance, checks=failed, settings=MappingProxyType({}))
    replace(record, provenance=provenance).save(tmp_path / "evil.safetensors")
    assert main([command, str(tmp_path / "evil.safetensors")]) == 2
    printed = capsys.readouterr().err
    assert not obeyed(printed)
    assert printed.count("\n") == 1


@pytest.mark.parametrize("arguments", [[HOSTILE], ["align", "--reading", HOSTILE, "x"], ["models", HOSTILE]])
def test_what_is_typed_wrong_is_repeated_visibly(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    printed = capsys.readouterr().err
    assert not obeyed(printed)
    assert printed.count("\n") == 1


@pytest.mark.slow
def test_the_texts_of_a_corpus_and_its_edges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, atlas = tmp_path / "texts.txt", tmp_path / "atlas"
    file.write_text(f"the {HOSTILE.splitlines()[0]} cat sees a dog\n\n{HOSTILE}\n", newline="")
    corpus = ["corpus", str(file), "--model", "bert-tiny-en", "--out", str(atlas), "--edges", "0.05"]
    assert main(corpus) == 0
    assert main(["find", str(atlas), "--limit", "500"]) == 0
    assert main(["find", str(atlas), "--limit", "500", "--json"]) == 0
    said = capsys.readouterr()
    assert "red" in said.out
    assert not obeyed(said.out + said.err)
