"""Parallel files: line n of one is the translation of line n of the other, as in the corpora of machine translation.

Files may have any name, such as train.en and train.de, also as .gz. A pair that cannot be used comes out with its line
and the reason, so that what is written for each line stays parallel.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bartviz.corpus import read
from bartviz.corpus.read import Bad, Columns, Form, Line
from bartviz.errors import TextError
from bartviz.reading.rows import physical_lines


def lines(source: Path, target: Path, gold: Path | None = None, *, form: Form | None = None) -> Iterator[Line | Bad]:
    """The pairs of two files, and with ``gold`` the alignment of each in Pharaoh's format.

    Raises TextError for a file that cannot be read, or that has fewer lines than another.
    """
    form, named = form or Form(), {"text": source, "target": target} | ({} if gold is None else {"gold": gold})
    columns = Columns(**dict.fromkeys(named, "line"))
    counts = {path: sum(1 for _line in _lines(path, form)) for path in named.values()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{path.name} has {count:,} lines" for path, count in counts.items())
        raise TextError(f"{said}: parallel files have as many lines each.")
    for number, cells in enumerate(zip(*(_lines(path, form) for path in named.values()), strict=True)):
        wrong = next((cell for cell in cells if isinstance(cell, TextError)), None)
        texts = {part: str(cell).rstrip("\r\n") for part, cell in zip(named, cells, strict=True)}
        yield read.checked(number, source.name, number + 1, wrong or texts, columns, form)


def _lines(path: Path, form: Form) -> Iterator[str | TextError]:
    with read.opened(path), read.stream(path, form) as text:
        yield from (line for _number, line in physical_lines(text))
