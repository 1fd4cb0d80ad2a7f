"""What is tested for a pattern on the page: the texts of an atlas, and what is said of the heads that were found."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bartviz.analysis import sentence_words
from bartviz.corpus import receipt
from bartviz.corpus.read import Line
from bartviz.language import _, plural
from bartviz.record.attention import Head, Kind

if TYPE_CHECKING:
    import pandas as pd

    from bartviz.corpus.atlas import Atlas

MOST = 200
"""Texts of an atlas that are tested at most."""
COLUMNS = ("pattern", "head", "share", "low", "high", "even", "shuffled", "q", "found", "replicated")
Text = dict[str, str]


@dataclass(frozen=True, slots=True)
class Example:
    """A text in which a pattern applies: its fields, a kind of attention, and what it links, from and to."""

    fields: Mapping[str, str]
    kind: Kind
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Found:
    """The heads that were tested: pattern, model, texts, one row for each head, examples, and the receipt as a file."""

    content: Mapping[str, Any]
    examples: tuple[Example, ...]
    receipt: bytes


def texts_of(atlas: Atlas, rows: Sequence[object] = ()) -> list[Text]:
    """The texts that are tested: those measured here, else up to 200 of those that the atlas shows, by lot."""
    lines = [row for row in rows if isinstance(row, Line)]
    if lines:
        return [_fields({"text": line.text, "pair": line.pair, "target": line.target}) for line in lines]
    shown = atlas.examples.drop_duplicates(["file", "line"])[["text", "pair", "target"]]
    texts = [_fields(row) for row in shown.to_dict("records")]
    return sorted(texts, key=lambda text: hashlib.sha256(repr(text).encode("utf-8", "replace")).digest())[:MOST]


def _fields(row: Mapping[Any, object]) -> Text:
    return {str(name): value for name, value in row.items() if isinstance(value, str)}


def best(content: Mapping[str, Any]) -> Head | None:
    """The head that follows the pattern most, of those replicated if there are any; None where none was found."""
    rows = [row for row in content["table"] if row["found"]]
    rows = [row for row in rows if row["replicated"]] or rows
    return Head(rows[0]["kind"], rows[0]["layer"], rows[0]["head"]) if rows else None


def of_each(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a receipt holds of each of its patterns, by name."""
    names = receipt.patterns(content)
    return {
        name: {**content, "table": [row for row in content["table"] if row.get("pattern", name) == name]}
        for name in names
    }


def said(content: Mapping[str, Any]) -> str:
    """How many heads follow the pattern, and which most."""
    rows = content["table"]
    found, again = sum(row["found"] for row in rows), sum(row["replicated"] for row in rows)
    texts = int(content["texts"])
    if not found:
        return plural(
            "Of {heads} heads none follows this pattern in {count:,} text.",
            "Of {heads} heads none follows this pattern in {count:,} texts.",
            texts,
            heads=len(rows),
        )
    first = best(content)
    assert first is not None
    row = next(row for row in rows if (row["kind"], row["layer"], row["head"]) == (first.kind, first.layer, first.head))
    return _(
        "{found} of {heads} heads follow this pattern in half of the texts, {again} of them in the other half, too. "
        "Most of all {head}: {share:.2f} of its weight is on it (95% interval {low:.2f} to {high:.2f}; even attention "
        "{even:.2f}).",
        found=found,
        heads=len(rows),
        again=again,
        head=sentence_words.head(first.kind, first.layer, first.head),
        **{name: row[name] for name in ("share", "low", "high", "even")},
    )


def table(content: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each head, those found first."""
    import pandas as pd

    rows = pd.DataFrame(content["table"])
    names = [f"{row['kind']} L{row['layer']}H{row['head']}" for row in content["table"]]
    return rows.assign(head=names)[[name for name in COLUMNS if name in rows or name == "head"]]
