"""Plugins: an example package is installed and used in processes of its own; a broken one is named, with what it raised
and how to switch it off."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest

import bartviz
from bartviz import plugins
from bartviz.analysis import own_measures, pattern_masks
from bartviz.analysis.attribution_methods import METHODS, OwnMethod
from bartviz.attribution.attribute import COMPUTED
from bartviz.errors import SettingError
from bartviz.families.registry import FAMILIES
from bartviz.plugins import GROUPS, Extended, Group, Plugin
from tests.support import loaded
from tests.support.example_plugin import bartviz_example

ROOT = Path(__file__).parent.parent
EXAMPLE = Path(__file__).parent / "support" / "example_plugin"
USED = """
import json, sys
import numpy as np, torch
from transformers import BertGenerationConfig, BertGenerationEncoder
import bartviz
from bartviz.families.registry import FAMILIES
from bartviz.analysis.attribution_methods import METHODS
from tests.support import networks

out = {"last": [list(FAMILIES)[-1], list(METHODS)[-1]]}
torch.manual_seed(0)
words = networks.FAMILIES["bert"].tokenizer()
sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
network = BertGenerationEncoder(BertGenerationConfig(vocab_size=len(words), max_position_embeddings=64, **sizes)).eval()
model = bartviz.wrap(network, words)
record = bartviz.capture(model, "the cat sat on the mat")
record.save(sys.argv[1] + "/record.safetensors")
out["family"] = [model.info.family, bartviz.open(sys.argv[1] + "/record.safetensors").model.family]
weights = record.encoder.layer(0)
offset = np.arange(weights.shape[2]) - np.arange(weights.shape[1])[:, None]
expected = (weights * offset).sum(axis=-1).mean(axis=1)
out["measure"] = bool(np.allclose(bartviz.measures(record).values["lean"][0], expected, atol=1e-5))
out["length"] = len(record.source)
out["patterns"] = [int(bartviz.pattern_mask(record, "encoder", name).sum()) for name in ("opening", "neighbours")]
bart = bartviz.load("bart-tiny-en-de")
found = bartviz.attribute(bart, "It is late.", method="last layer")
out["method"] = [found.method.source, bool(np.allclose(found.values.sum(axis=1), 1, atol=1e-5))]
found.save(sys.argv[1] + "/why.json")
print(json.dumps(out))
"""
TYPED = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from bartviz.commands.cli import main

def said(words):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), err.getvalue()

if __name__ == "__main__":
    print(json.dumps([said(words) for words in json.loads(sys.argv[1])]))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example package, installed by pip without a network."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    options = ("--no-index", "--no-build-isolation", "--no-deps", "--disable-pip-version-check", "--quiet")
    target = folder / "site"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def ran(site: Path, *arguments: str, off: bool = False, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Python with the package installed."""
    path = os.pathsep.join((str(site), str(ROOT)))
    settings = {**os.environ, "PYTHONPATH": path} | ({plugins.SETTING: "off"} if off else {})
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=settings, cwd=cwd)


class Said(NamedTuple):
    """What became of a command that was typed."""

    status: int
    out: str
    err: str


def typed(site: Path, *commands: list[str], off: bool = False, cwd: Path) -> list[Said]:
    """These commands of bartviz, one after the other in one process with the package installed."""
    done = ran(site, "-c", TYPED, json.dumps(commands), off=off, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return [Said(*said) for said in json.loads(done.stdout)]


@pytest.mark.slow
def test_an_installed_package_adds_a_measure_patterns_a_method_and_a_family(installed: Path, tmp_path: Path) -> None:
    done = ran(installed, "-c", USED, str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    length = found.pop("length")
    assert found == {
        "last": ["bert-generation", "last layer"],
        "family": ["bert-generation", "bert-generation"],
        "measure": True,
        "patterns": [length, 2 * (length - 1)],
        "method": ["this example", True],
    }
    assert bartviz.open_attribution(tmp_path / "why.json").method.name == "last layer"  # without the package


@pytest.mark.slow
def test_its_commands_have_them_too_and_off_leaves_them_out(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("It is late.\nWe sleep.\nA man reads a book.\nThe dog is old.\n", "utf-8")
    run = ["corpus", "texts.txt", "--model", "bert-tiny-en", "--size", "2", "--out", "with"]
    rest = [
        ["heads", "texts.txt", "--model", "bert-tiny-en", "--pattern", "opening", "--json"],
        ["attribute", "It is late.", "--method", "last-layer", "--json"],
    ]
    atlas, heads, why = typed(installed, [*run, "--workers", "2"], *rest, cwd=tmp_path)
    assert (atlas.status, heads.status, why.status) == (0, 0, 0), (atlas, heads, why)
    rows = bartviz.open_atlas(tmp_path / "with").heads.query("measure == 'lean'")
    assert rows["n"].eq(4).all()
    assert (rows["low"] < rows["mean"]).all()
    assert json.loads(heads.out)["pattern"] == "from any to first"
    assert json.loads(why.out)["method"] == "last layer"
    heads, why = typed(installed, *rest, off=True, cwd=tmp_path)  # no measure: as below, in this process
    assert (heads.status, why.status) == (2, 2), (heads, why)
    assert "opening" in heads.err
    assert "last-layer" in why.err


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, list[metadata.EntryPoint]]]:
    """The entry points that are found, by group, in place of those of installed packages."""
    found: dict[str, list[metadata.EntryPoint]] = {}
    monkeypatch.setattr(metadata, "entry_points", lambda group: found.get(group, []))
    forget()
    yield found
    monkeypatch.undo()
    forget()


def forget() -> None:
    plugins._loaded.cache_clear()
    for table in (FAMILIES, METHODS, COMPUTED):
        vars(table).pop("_accepted", None)


def entry(group: Group, name: str, leads_to: str) -> metadata.EntryPoint:
    return metadata.EntryPoint(name, leads_to, f"bartviz.{group}")


MODULE = "tests.support.example_plugin.bartviz_example"


@pytest.mark.parametrize("group", GROUPS)
def test_a_plugin_that_cannot_be_loaded_is_named_with_what_it_raised(
    group: Group, entries: dict[str, list[metadata.EntryPoint]], monkeypatch: pytest.MonkeyPatch
) -> None:
    entries[f"bartviz.{group}"] = [entry(group, "broken", "tests.not_there:thing")]

    def used() -> object:
        known: dict[Group, Any] = {
            "measures": lambda: own_measures.with_plugins({}),
            "patterns": lambda: pattern_masks.known("broken"),
            "families": lambda: FAMILIES["broken"],
            "methods": lambda: METHODS["broken"],
        }
        return known[group]()

    with pytest.raises(SettingError, match=rf"broken \(bartviz.{group}, tests.not_there:thing\).*it raised Mod.*=off"):
        used()
    assert FAMILIES["bert"].title == "BERT"  # what is built in needs no plugin
    assert METHODS["rollout"].sums == "together"
    monkeypatch.setenv(plugins.SETTING, "off")
    if group == "measures":
        assert used() == {}
        return
    with pytest.raises((KeyError, SettingError)) as error:
        used()
    assert "broken (" not in str(error.value)


@pytest.mark.parametrize(
    ("group", "name", "leads_to", "reason"),
    [
        ("measures", "entropy", f"{MODULE}:lean", "There is a measure 'entropy' already"),
        ("measures", "mine", f"{MODULE}:OPENING", "is no function, but str"),
        ("patterns", "mine", f"{MODULE}:BERT_GENERATION", "neither a pattern as text nor a function"),
        ("patterns", "mine", f"{MODULE}:__name__", "cannot be used: "),
        ("families", "mine", f"{MODULE}:BERT_GENERATION", "its family is of the type bert-generation"),
        ("families", "mine", f"{MODULE}:lean", "it is no Family, but function"),
        ("methods", "mine", f"{MODULE}:lean", "it is no OwnMethod"),
    ],
)
def test_what_is_none_of_its_kind_is_refused(
    group: Group, name: str, leads_to: str, reason: str, entries: dict[str, list[metadata.EntryPoint]]
) -> None:
    entries[f"bartviz.{group}"] = [entry(group, name, leads_to)]
    with pytest.raises(SettingError, match=rf"The plugin {name} .*{reason}.*{plugins.SETTING}=off"):
        _all = [own_measures.with_plugins({}), list(FAMILIES), list(METHODS), pattern_masks.known("mine")]


def test_two_packages_of_the_same_name_are_refused(entries: dict[str, list[metadata.EntryPoint]]) -> None:
    entries["bartviz.measures"] = [entry("measures", "lean", f"{MODULE}:lean")] * 2
    with pytest.raises(SettingError, match="has one of the same name"):
        plugins.found("measures")


def test_a_setting_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugins.SETTING, "some")
    with pytest.raises(SettingError, match="BARTVIZ_PLUGINS is on or off: some is neither"):
        plugins.found("measures")


def test_each_group_is_loaded_once_and_only_when_it_is_asked_for(
    entries: dict[str, list[metadata.EntryPoint]], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def look(group: str) -> list[metadata.EntryPoint]:
        looked.append(group)
        return []

    monkeypatch.setattr(metadata, "entry_points", look)
    assert FAMILIES["bert"] is FAMILIES.get("bert")
    assert "rollout" in METHODS
    assert looked == []
    assert list(FAMILIES) == list(FAMILIES)
    assert looked == ["bartviz.families"]


def failing(question: object) -> object:
    raise ZeroDivisionError("no head")


def misshapen(question: object) -> object:
    return np.zeros((1, 2))


@pytest.mark.parametrize(
    ("compute", "reason"),
    [(failing, "it raised ZeroDivisionError: no head"), (misshapen, r"it gave an array of shape \(1, 2\), but finite")],
)
def test_a_method_that_fails_names_its_package(compute: Any, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    about = bartviz_example.LAST_LAYER.about
    plugin = Plugin("methods", "last-layer", "bartviz-example 1.0", "x:y", OwnMethod(about, compute))
    monkeypatch.setattr(plugins, "found", lambda group: {"last-layer": plugin} if group == "methods" else {})
    forget()
    try:
        with pytest.raises(SettingError, match=f"of the package bartviz-example 1.0 cannot be used: {reason}"):
            bartviz.attribute(loaded.model("bart"), "the cat sat", method="last layer")
    finally:
        forget()


def test_a_measure_that_fails_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(weights: Any, tokens: Any) -> Any:
        raise ZeroDivisionError("no key")

    plugin = Plugin("measures", "mine", "bartviz-example 1.0", "x:y", fails)
    monkeypatch.setattr(plugins, "found", lambda group: {"mine": plugin} if group == "measures" else {})
    record = bartviz.capture(loaded.model("bert"), "the cat sat")
    with pytest.raises(SettingError, match=r"'mine' of the package bartviz-example 1.0 .*off.* raised Zero.*layer 0"):
        bartviz.measures(record)
    with pytest.raises(SettingError, match=r"'mine' of the package bartviz-example 1.0 .*The text: "):
        bartviz.corpus(["the cat sat"], loaded.model("bert"))


def test_what_is_built_in_comes_first() -> None:
    table: Extended[int] = Extended({"one": 1}, "measures", lambda plugin: (plugin.name, 2))
    assert list(table) == ["one"]
    assert len(table) == 1
    assert table.get("two") is None


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    said = tomllib.loads(page.split("```toml\n")[1].split("```")[0])
    there = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))
    assert said["project"]["entry-points"] == there["project"]["entry-points"]
    assert set(there["project"]["entry-points"]) == {f"bartviz.{group}" for group in get_args(Group)}
    module = (EXAMPLE / "bartviz_example.py").read_text("utf-8")
    shown = page.split("```python\n")[1:]
    parts = [part for block in shown[:4] for part in block.split("```")[0].strip().split("\n\n\n")]
    assert len(parts) == 7
    for part in parts:
        assert part.strip() in module, part
