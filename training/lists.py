"""The lists in `training/data`: names, places, words, sentences, all of them the project's own."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

FOLDER = Path(__file__).with_name("data")


@functools.cache
def lines(name: str) -> tuple[str, ...]:
    """Lines of a text file, without empty ones and comments."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))


def fields(line: str) -> tuple[str, ...]:
    """The parts of a line between bars."""
    return tuple(part.strip() for part in line.split("|"))


def two(line: str) -> tuple[str, str]:
    """`English | German`; one part stands for both."""
    en, *de = fields(line)
    return en, de[0] if de else en


@functools.cache
def sections(name: str) -> dict[str, tuple[str, ...]]:
    """Section -> its lines, of a text file where a line `[section]` begins each; lines before the first have none."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines(name):
        if line.startswith("["):
            current = found.setdefault(line.strip("[]"), [])
        else:
            current.append(line)
    return {section: tuple(rows) for section, rows in found.items()}


@functools.cache
def pairs(name: str) -> tuple[tuple[str, str], ...]:
    """A text file of `English | German` lines."""
    return tuple(two(line) for line in lines(name))


@functools.cache
def words(name: str, key: str) -> tuple[str, ...]:
    """A list of a TOML file: either a text of words, each taken once, or a list of lines."""
    value = tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))[key]
    return tuple(dict.fromkeys(value.split())) if isinstance(value, str) else tuple(value)
