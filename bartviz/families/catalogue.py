"""The models of the catalogue, by name, with their real configurations: no download, no torch.

The embedded models come first; each is listed once its folder ships. Facts of the hub models are in catalogue.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from bartviz.families import config as configs
from bartviz.families.family import ModelKind
from bartviz.families.registry import FAMILIES

EMBEDDED = Path(__file__).parents[1] / "embedded"
_FACTS = Path(__file__).with_name("catalogue.json")


@dataclass(frozen=True)
class Entry:
    """One model. ``title`` and ``note`` help a newcomer choose; a hub model's title ends in its size in float32.

    ``family`` is transformers' model_type; ``config`` holds transformers' own keys, model_type included; ``licence``
    is that of the weights, None where it is not stated here. ``objective``: what it was first trained to do, None for
    that of its family; ``fine_tuned``: what after that.
    """

    name: str
    title: str
    family: str
    kind: ModelKind
    source: Literal["embedded", "hub"]
    config: Mapping[str, Any]
    note: str
    licence: str | None
    objective: str | None = None
    fine_tuned: str | None = None


def entry(name: str) -> Entry | None:
    """The catalogue's entry of that name, or None."""
    return _BY_NAME.get(name)


def _entries() -> Iterator[Entry]:
    facts = json.loads(_FACTS.read_text(encoding="utf-8"))
    for name, fact in facts["embedded"].items():
        if (EMBEDDED / name / "config.json").is_file():
            yield _entry(name, "embedded", configs.read(EMBEDDED / name), fact)
    for name, fact in facts["hub"].items():
        yield _entry(name, "hub", fact["config"], fact)


def _entry(name: str, source: Literal["embedded", "hub"], config: dict[str, Any], fact: dict[str, Any]) -> Entry:
    family = config["model_type"]
    return Entry(
        name=name,
        title=fact["title"],
        family=family,
        kind=FAMILIES[family].kind,
        source=source,
        config=MappingProxyType(config),
        note=fact["note"],
        licence=fact["licence"],
        objective=fact.get("objective"),
        fine_tuned=fact.get("fine_tuned"),
    )


CATALOGUE: tuple[Entry, ...] = tuple(_entries())
_BY_NAME = {known.name: known for known in CATALOGUE}
