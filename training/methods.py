"""Judge every method of attribution by every operator for the models that ship, over sentences that none has seen, and
write what docs/attributions.md says of it.

``python -m training.methods --corpus FOLDER --out FOLDER [--texts 1000] [--workers 2] [--only MODEL]`` measures, again
and again after a stop, and then writes ``docs/attributions.csv`` and the section; ``--write`` writes these alone, of
what is there.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd

from bartviz.analysis.verdicts import ALIKE, BETTER, WORSE
from bartviz.corpus import shipped
from bartviz.corpus.why import CSV, HALVES, why
from bartviz.corpus.workers import Progress
from bartviz.language.percentages import percent
from training.corpus import folder, pairs, unique

DOCS = Path(__file__).parents[1] / "docs"
TABLE, PAGE = DOCS / "attributions.csv", DOCS / "attributions.md"
SENTENCES = "held-out.txt"
BEGIN, END = "<!-- made by training.methods -->", "<!-- end -->"
COLUMNS = [
    *("model", "method", "operator", "measure", "texts", "value", "random", "better by", "low", "high", "rank", "rate"),
    *("verdict", *HALVES),
]
DIGITS = 5
MARKS = {BETTER: "", ALIKE: " ≈", WORSE: " ▼"}


def sentences(corpus: Path) -> list[str]:
    """The English sentences of the validation split in a random order, always the same; the file has them by length."""
    found = unique(row.en for row in pairs(corpus, "valid"))
    random.Random(0).shuffle(found)
    return found


def together(out: Path) -> pd.DataFrame:
    """The tables of the models that are measured, one below the other."""
    tables = {name: pd.read_csv(out / name / CSV) for name in shipped.NAMES if (out / name / CSV).is_file()}
    return pd.concat([table.assign(model=name) for name, table in tables.items()])[COLUMNS]


def measured(file: Path, name: str, out: Path, texts: int, workers: int) -> str:
    """Judge the methods for one model, and say how many texts there are, and which are not among them."""

    def report(progress: Progress) -> None:
        print(f"{name}: {progress.rows:,} of {progress.all:,}", flush=True)

    found = why(file, name, out / name, texts=texts, workers=workers, resume=True, report=report)
    return f"{found.texts:,} texts, left out {dict(found.reasons)}, refused {dict(found.refused)}"


def section(table: pd.DataFrame) -> str:
    """What the page says: for each model a sentence and a table of methods by operators."""
    return "\n\n".join(_of_model(str(name), lines) for name, lines in table.groupby("model", sort=False)) + "\n"


def _of_model(name: str, lines: pd.DataFrame) -> str:
    counts = {verdict: int((lines.verdict == verdict).sum()) for verdict in MARKS}
    one, other = (lines[half] for half in HALVES)
    opposite = int((((one == BETTER) & (other == WORSE)) | ((one == WORSE) & (other == BETTER))).sum())
    area = lines[lines.measure == "area"]
    first, second, *_, last = area.groupby("method")["better by"].mean().sort_values(ascending=False).index
    operators = list(dict.fromkeys(area.operator))
    rows = [
        f"| {method} | {' | '.join(map(_cell, some.to_dict('records')))} |"
        for method, some in area.groupby("method", sort=False)
    ]
    return "\n".join(
        [
            f"**{name}**, {lines.texts.max():,} texts. Of {len(lines)} lines {counts[BETTER]} are better than chance,",
            f"{counts[ALIKE]} not told apart and {counts[WORSE]} worse; both halves of the texts have the same verdict",
            f"in {percent(float((one == other).mean()))}, and opposite ones in {opposite} of the lines. In the",
            f"mean over operators {first} is first, {second} second and {last} last.",
            "",
            f"| method | {' | '.join(operators)} |",
            "|---|" + "---:|" * len(operators),
            *rows,
        ]
    )


def _cell(line: dict[Hashable, Any]) -> str:
    """How much better than random orders, with half of its interval, and a mark for the verdict."""
    half = (line["high"] - line["low"]) / 2
    return f"{line['better by']:+.3f} ± {half:.3f}{MARKS[line['verdict']]}"


def write(table: pd.DataFrame) -> None:
    """The table beside the page, and the section in it."""
    table.round(DIGITS).to_csv(TABLE, index=False)
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{section(pd.read_csv(TABLE))}\n{END}{after}", "utf-8")


def main() -> None:
    """Measure what is not there yet, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", help="folder of the corpus (default: BARTVIZ_CORPUS)")
    parser.add_argument("--out", type=Path, required=True, help="folder of the sentences and of each model's run")
    parser.add_argument("--texts", type=int, default=1000, help="how many of the sentences (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--only", choices=shipped.NAMES, help="measure one model")
    parser.add_argument("--write", action="store_true", help="write the table of what is measured")
    given = parser.parse_args()
    if not given.write:
        given.out.mkdir(parents=True, exist_ok=True)
        file = given.out / SENTENCES
        file.write_text("\n".join(sentences(folder(given.corpus))) + "\n", "utf-8")
        for name in [given.only] if given.only else shipped.NAMES:
            print(f"{name}: {measured(file, name, given.out, given.texts, given.workers)}", flush=True)
    if given.write or not given.only:
        write(together(given.out))


if __name__ == "__main__":
    main()
