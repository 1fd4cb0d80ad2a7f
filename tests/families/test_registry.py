"""A family is defined in one place: all other code uses its ``Family``, never its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import transformers

from bartviz.families import registry
from bartviz.families.catalogue import CATALOGUE, Entry
from bartviz.families.family import Family
from bartviz.families.registry import FAMILIES
from scripts.layers import PACKAGE, ROOT, files
from tests.support import networks

# Names of models on the hub and of other tools that are spelt like a family.
MODEL_NAMES = {("bartviz/analysis/article_models.py", "gpt2"), ("bartviz/commands/align_corpus.py", "marian")}


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Line and value of every string of a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def named(path: Path, source: str) -> list[str]:
    """The places of a file where a family is named."""
    name = str(path.relative_to(ROOT))
    found = [(line, text) for line, text in strings(source) if text in FAMILIES and (name, text) not in MODEL_NAMES]
    return [f'{name}:{line}: "{text}"' for line, text in found]


@pytest.mark.slow
def test_no_family_is_named_outside_its_file() -> None:
    outside = [path for path in (*files(), ROOT / "app.py") if not path.is_relative_to(PACKAGE / "families")]
    assert outside
    assert not [place for path in outside for place in named(path, path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("source", ['kind == "t5"', 'x = {"mbart": 1}', 'f("a", family in ("marian", "no"))'])
def test_a_name_is_seen_wherever_it_is(source: str) -> None:
    assert len(named(PACKAGE / "run" / "prepare.py", source)) == 1


def test_the_names_of_models_are_still_there() -> None:
    for name, text in MODEL_NAMES:
        assert text in {value for _, value in strings((ROOT / name).read_text(encoding="utf-8"))}


def test_every_family_of_the_folder_is_known_under_its_file_and_has_a_network_to_test_with() -> None:
    modules = {path.stem for path in Path(registry.__file__).parent.glob("*.py")}
    named = {name.replace("-", "_") for name in FAMILIES}
    assert modules - {"__init__"} - registry.OTHERS == named
    assert {recipe.family.name for recipe in networks.FAMILIES.values()} == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_classes_are_those_of_transformers(family: Family) -> None:
    assert set(family.classes) <= set(family.variants)
    for name in family.variants:
        assert getattr(transformers, name).config_class.model_type == family.name
    gated = family.gated
    assert gated is None or (gated.name, gated.kind, gated.keys) == (family.name, family.kind, family.keys)


DOCUMENTED = (ROOT / "docs" / "families.md").read_text(encoding="utf-8")
LISTED = {
    name.split(" (")[0].strip()
    for line in DOCUMENTED.splitlines()
    if "coders |" in line
    for name in line.split("|")[2].split(",")
}
NOT_DESCRIBED = {name.strip() for name in re.split(r"[-:,(.]\s", DOCUMENTED.partition("## What does not work")[2])}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_the_documentation_lists_a_family_and_says_it_is_described(family: Family) -> None:
    first, *others = family.title.split(", ")
    assert first in LISTED, "docs/families.md has no such family in its table"
    assert first not in NOT_DESCRIBED, "docs/families.md says that it is not described"
    assert all(f"{first} ({other} too)" in DOCUMENTED for other in others)


def test_the_documentation_lists_nothing_else() -> None:
    assert len(LISTED) == len(FAMILIES)  # a family of two names is one
    assert "BLOOM" in NOT_DESCRIBED


@pytest.mark.parametrize("entry", [one for one in CATALOGUE if one.kind == "encoder-decoder"], ids=lambda one: one.name)
def test_the_first_token_of_a_decoder_is_the_one_that_published_models_have(entry: Entry) -> None:
    config = transformers.AutoConfig.for_model(**{"model_type": entry.family, **entry.config})
    ends = {"pad": config.pad_token_id, "end": config.eos_token_id}
    assert config.decoder_start_token_id == ends[str(FAMILIES[entry.family].start)]
