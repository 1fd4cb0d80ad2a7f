"""A receipt, computed again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bartviz.callbacks import silent
from bartviz.corpus import receipt
from bartviz.corpus.find_heads import FUNCTION, Texts, find_heads
from bartviz.corpus.found_heads import FoundHeads
from bartviz.corpus.read import Columns, Form
from bartviz.corpus.workers import Report
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.models.load import load
from bartviz.models.model import Model

CLOSE = 1e-6  # how far numbers may differ that are equal
_KEY = ("kind", "layer", "head", "pattern")


@dataclass(frozen=True)
class HeadsVerified:
    """A receipt that was computed again: the ``differences``, empty where all is equal; true if there are none."""

    differences: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.differences


def verify_heads(
    path: str | PathLike[str],
    texts: Texts | None = None,
    model: str | Model | None = None,
    *,
    device: str = "cpu",
    workers: int = 1,
    ray: str | None = None,
    report: Report = silent,
) -> HeadsVerified:
    """Compute the heads of a receipt again and compare every number, to 1e-6.

    texts: what was measured; by default the corpus of the name in the receipt, beside it or in this folder.
    model: by default the one of that name. Another model is a difference, and then nothing is computed.
    device, workers, ray, report: as for ``bartviz.find_heads``.
    Raises SettingError for a receipt that was altered, or one of a function, which no receipt can hold.

    >>> texts = ["I want to buy a car.", "The old man sleeps.", "We see a dog.", "She reads two books."]
    >>> bartviz.find_heads(model, texts, "from any to previous token", kinds=["encoder"]).save("receipt.json")
    >>> bool(bartviz.verify_heads("receipt.json", texts, model))
    True
    """
    file = Path(path)
    known = receipt.read(file)
    if any(pattern.startswith(FUNCTION) for pattern in receipt.patterns(known).values()):
        raise SettingError(later("The receipt is of a function, which is not in it: only patterns are verified."))
    name = known["corpus"]["name"]
    if texts is None:
        texts = next((place for place in (file.parent / name, Path(name)) if place.exists()), None)
    if texts is None:
        raise SettingError(later("The corpus {name} is not beside the receipt, nor here: name it.", name=name))
    model = known["model"]["name"] if model is None else model
    loaded = load(model, device=device) if isinstance(model, str) else model
    if loaded.info.fingerprint != known["model"]["fingerprint"]:
        return HeadsVerified(("the model has other weights or settings",))
    settings, corpus = known["settings"], known["corpus"]
    several = workers > 1 or ray is not None
    again = find_heads(
        model if several else loaded,
        texts,
        known["pattern"],
        seed=settings["seed"],
        columns=Columns(**corpus.get("columns", {})),
        form=Form(**corpus["form"]) if "form" in corpus else None,
        paragraphs=corpus.get("paragraphs", False),
        kinds=settings["kinds"],
        rate=settings["rate"],
        least=settings["least"],
        silence="silence" in settings,
        device=device if several else "cpu",
        workers=workers,
        ray=ray,
        report=report,
    )
    return HeadsVerified(tuple(_differences(known, again)))


def _differences(known: Mapping[str, Any], again: FoundHeads) -> list[str]:
    found = []
    if known["corpus"]["digest"] != again.corpus["digest"]:
        found.append("the corpus has other texts")
    for name, count in (("texts", again.texts), ("repeated", again.repeated), ("left_out", len(again.bad))):
        if known[name] != count:
            found.append(f"{name}: {count:,} instead of {known[name]:,}")
    rows = {tuple(row.get(name) for name in _KEY): row for row in again.rows()}
    told = {tuple(row.get(name) for name in _KEY): row for row in known["table"]}
    if rows.keys() != told.keys():
        return [*found, "other heads were tried"]
    for key, row in told.items():
        for name, value in row.items():
            if not _equal(value, rows[key].get(name)):
                head = f"{key[0]} L{key[1]}H{key[2]}{'' if key[3] is None else f', {key[3]}'}"
                found.append(f"{head}, {name}: {rows[key].get(name)} instead of {value}")
    return found


def _equal(one: object, other: object) -> bool:
    if isinstance(one, bool) or not isinstance(one, int | float) or not isinstance(other, int | float):
        return one == other or (one is None and isinstance(other, float) and math.isnan(other))
    return abs(one - other) <= CLOSE
