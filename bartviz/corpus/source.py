"""Where the rows of a corpus come from: files, or texts in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from bartviz.corpus import read
from bartviz.corpus.read import Bad, Columns, Form, Line
from bartviz.corpus.text_values import digest_of
from bartviz.errors import TextError
from bartviz.families.family import ModelKind

Texts: TypeAlias = Iterable[str | tuple[str, str]]
NAME = "texts"  # of a corpus in memory


@dataclass(frozen=True)
class Source:
    """A corpus by name, the digest of all that is in it, and its rows, which can be read again and again."""

    name: str
    digest: str
    rows: Callable[[], Iterator[Line | Bad]]


def of_files(path: Path, columns: Columns, form: Form | None, *, paragraphs: bool) -> Source:
    """The files of a path. Raises what ``read.lines`` raises."""
    read.check(path, columns, form)
    rows = partial(read.lines, path, columns, form, paragraphs=paragraphs)
    return Source(path.name.encode("utf-8", "replace").decode(), read.digest(path), rows)


def without_repeats(source: Source) -> Source:
    """The rows of a source, but a text with its second sentence and its given output only the first time."""

    def rows() -> Iterator[Line | Bad]:
        seen: set[int] = set()
        for row in source.rows():
            if isinstance(row, Line):
                known = digest_of(row)
                if known in seen:
                    continue
                seen.add(known)
            yield row

    return replace(source, rows=rows)


def of_texts(texts: Texts, kind: ModelKind) -> Source:
    """Texts in memory; of a pair the second one is the output of an encoder-decoder, or the second sentence of an
    encoder. Raises TextError for what is neither, or a second text for a decoder-only model."""
    second: Literal["pair", "target"] = "target" if kind == "encoder-decoder" else "pair"
    given = [(text, None) if isinstance(text, str) else text for text in texts]
    for number, one in enumerate(given, start=1):
        if not (isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[0], str)):
            raise TextError(f"Text {number:,} is neither a str nor a pair of them.")
        if one[1] is not None and (kind == "decoder" or not isinstance(one[1], str)):
            raise TextError(
                f"Text {number:,} has a second one: a model with a decoder alone reads one text."
                if kind == "decoder"
                else f"Text {number:,} is neither a str nor a pair of them."
            )
    rows = [read.row(number, NAME, text, **{second: other}) for number, (text, other) in enumerate(given)]
    digest = hashlib.sha256(json.dumps(given).encode()).hexdigest()[:32]
    return Source(NAME, digest, lambda: iter(rows))
