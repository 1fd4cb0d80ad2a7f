"""A few texts at each moment of a training: their maps, and what the model writes by itself."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bartviz.corpus import read
from bartviz.corpus.read import Columns, Form, Line
from bartviz.corpus.replay import LONGEST, Bytes, Example, quantised
from bartviz.errors import SettingError
from bartviz.models.model import Model
from bartviz.run.forward import capture
from bartviz.run.generate import decode

COUNT = 3  # texts
SHORT = 60  # characters
SEARCHED = 1_000  # rows that are looked at for short ones
MOST_NEW = 40  # tokens of the model's own: before it has learned when to end it would go on

Pair = tuple[str, str | None]


class Seen(NamedTuple):
    """A text at one moment: what was written, and for each kind the labels and the weights (L, H, Q, K)."""

    written: str
    labels: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    maps: dict[str, Bytes]


def pairs(
    texts: str | Path | Sequence[str | tuple[str, str]],
    columns: Columns | Mapping[str, str] | None,
    form: Form | Mapping[str, Any] | None,
    model: Model,
) -> list[Pair]:
    """The texts of a corpus to keep, each with its given output: the first that are short."""
    given: list[Pair]
    if not isinstance(texts, str | Path):
        given = [(text, None) if isinstance(text, str) else text for text in texts]
    else:
        chosen = Columns(**columns) if isinstance(columns, Mapping) else columns or Columns()
        written = Form(**form) if isinstance(form, Mapping) else form
        rows = islice(read.lines(Path(texts), chosen, written), SEARCHED)
        given = [(row.text, row.target) for row in rows if isinstance(row, Line)]
    short = [pair for pair in given if 0 < len(pair[0]) <= SHORT and len(pair[1] or "") <= 2 * SHORT]
    return fitting(short[:COUNT], model)


def fitting(given: Sequence[str | tuple[str, str | None]], model: Model) -> list[Pair]:
    """Texts with the given outputs that the model takes: an encoder alone takes none."""
    told = [(one, None) if isinstance(one, str) else one for one in given]
    return [(text, target if model.info.kind == "encoder-decoder" else None) for text, target in told]


def seen(model: Model, text: str, target: str | None) -> Seen:
    """A text, and its given output, at this moment."""
    record = capture(model, text, target=target) if target else capture(model, text)
    written = ""
    if model.info.kind == "encoder-decoder":
        written = decode(model, text, max_new_tokens=MOST_NEW).target_text or ""
    labels: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    maps: dict[str, Bytes] = {}
    for kind in record.kinds:
        attention = record.attention(kind)
        rows = record.output if kind == "cross" and record.output is not None else attention.query
        labels[kind] = tuple(rows.labels), tuple(attention.key.labels)
        maps[kind] = quantised(np.stack([attention.layer(layer) for layer in range(attention.shape[0])]))
    return Seen(written[:LONGEST], labels, maps)


def joined(texts: Sequence[Pair], moments: Sequence[Sequence[Seen]]) -> list[Example]:
    """The texts at all moments."""
    found = []
    for place, (text, target) in enumerate(texts):
        each = [seen[place] for seen in moments]
        first = each[0]
        written = tuple(one.written for one in each) if target is not None else ()
        maps = {kind: np.stack([one.maps[kind] for one in each]) for kind in first.maps}
        found.append(Example(text, target, written, first.labels, maps))
    return found


def curves_of(file: str | Path, *columns: str) -> dict[str, list[tuple[float, float]]]:
    """Columns of a .tsv or .csv with a column ``step``, (step, value) each. Raises SettingError."""
    path = Path(file)
    if not columns:
        raise SettingError(f"Name the columns of {path.name} to show, such as: --curve {path.name} loss")
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))
        return {name: [(float(row["step"]), float(row[name])) for row in rows if row[name]] for name in columns}
    except (OSError, ValueError, TypeError, csv.Error, UnicodeError) as error:
        raise SettingError(f"{path.name} cannot be read as numbers in the columns step and {columns[0]}.") from error
    except KeyError as error:
        raise SettingError(f"{path.name} has no column {error.args[0]}.") from error
