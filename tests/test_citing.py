"""What docs/citing.md says is what CITATION.cff and the package say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import bartviz
from bartviz.commands import cite
from bartviz.commands.cli import main
from bartviz.corpus import shipped
from bartviz.families.catalogue import EMBEDDED
from bartviz.version import __version__, versions

ROOT = Path(__file__).parent.parent


def test_the_bibtex_entry_is_the_citation_file() -> None:
    cited = dict(re.findall(r'^(\w+): "?(.*?)"?$', (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    written = (ROOT / "docs" / "citing.md").read_text("utf-8")
    entry = dict(re.findall(r"^  (\w+)\s*= \{+(.*?)\}+,?$", written, re.MULTILINE))
    assert {name: entry[name] for name in ("title", "version", "license")} == {
        name: cited[name] for name in ("title", "version", "license")
    }
    assert entry["version"] == __version__
    assert f"name: {entry['author']}" in (ROOT / "CITATION.cff").read_text("utf-8")


FIELD = re.compile(r"^  (\w+)\s*= \{+(.*?)\}+,?$", re.MULTILINE)


def test_the_command_prints_that_entry_with_what_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite"]) == 0
    out = capsys.readouterr().out
    written = dict(FIELD.findall((ROOT / "docs" / "citing.md").read_text("utf-8")))
    said = dict(FIELD.findall(out))
    assert out.startswith("@software{bartviz,\n")
    assert out.endswith("}\n")
    assert {name: said[name] for name in written} == written
    assert all(f"{name} {value}" in said["note"] for name, value in versions().items() if name != "bartviz")


def test_of_a_result_it_names_what_made_it(capsys: pytest.CaptureFixture[str]) -> None:
    file = EMBEDDED / "records" / "start.safetensors"
    record, atlas = bartviz.open(file), shipped.FOLDER / "bert-tiny-en"
    assert main(["cite", str(file)]) == 0
    note = dict(FIELD.findall(capsys.readouterr().out))["note"]
    assert note.endswith(f"model {record.model.name}, fingerprint {record.model.fingerprint}")
    assert f"torch {record.provenance.versions['torch']}" in note
    assert main(["cite", str(atlas), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["model"]["name"] == "bert-tiny-en"
    assert (said["title"], said["license"]) == (cite.TITLE, cite.LICENSE)
    assert main(["cite", "nothing.safetensors"]) == 2


def test_signs_of_a_name_that_latex_obeys_are_escaped() -> None:
    lines = cite.entry({"bartviz": "9"}, {"name": "my_model{50%}", "fingerprint": "ab"})
    assert lines[-2] == "  note    = {model my\\_model\\{50\\%\\}, fingerprint ab},"
    assert lines[3] == "  version = {9},"
