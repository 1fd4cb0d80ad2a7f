"""docs/patterns.md: its examples are read, its grammar is the module's, and it has every class and step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bartviz.analysis.head_measures import MEASURES
from bartviz.errors import PatternError
from bartviz.patterns import grammar
from bartviz.patterns.grammar import parse
from bartviz.patterns.named import NAMED
from bartviz.patterns.nodes import CLASSES

TEXT = (Path(__file__).parents[2] / "docs" / "patterns.md").read_text("utf-8")
EXAMPLES = [line for block in re.findall(r"^```pattern\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_are_read(text: str) -> None:
    assert parse(text).kinds(("encoder", "decoder", "cross"))


def test_every_class_and_step_is_documented_and_read() -> None:
    cells = [
        cell
        for line in re.findall(r"^\| (`.*?) \|", TEXT.partition("## Roles")[0], re.M)
        for cell in re.findall(r"`([^`]+)`", line)
    ]
    assert len(EXAMPLES) > 15
    assert set(CLASSES) <= set(cells)
    for cell in cells:
        assert parse(f"from any to {cell}").clauses


def test_the_roles_are_those_with_a_name() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| `(from .*?)` \|", TEXT.partition("## Roles")[2], re.M))
    assert told == NAMED
    for name, pattern in NAMED.items():
        assert parse(name) == parse(pattern) == MEASURES[name].compute.pattern  # type: ignore[union-attr]
        assert set(parse(name).kinds(("encoder", "decoder", "cross"))) >= set(MEASURES[name].kinds)


def test_the_grammar_is_that_of_the_module() -> None:
    lines = re.findall(r"^ {4}(\w+ +=.*)$", grammar.__doc__ or "", re.M)
    assert [" ".join(line.split()) for line in lines] == [
        " ".join(line.split()) for line in re.findall(r"^(?:pattern|clause|tokens|target|path) +=.*$", TEXT, re.M)
    ]


def test_the_error_is_quoted_as_it_is() -> None:
    said, quoted = re.findall(r"`(from verbb to any)` gives\n\*(.*?)\*", TEXT)[0]
    with pytest.raises(PatternError, match=re.escape(quoted)):
        parse(said)
