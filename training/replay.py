"""A run of training.born as the file that the page How heads are born opens: ``python -m training.replay RUN``.

Every moment of the run is measured over the first 500 pairs of the validation split, which it has not seen, and over
the pairs aligned by hand. What was measured already is kept in ``--work``, so that the same command goes on after a
stop, or when the run has come further. A run that has not come to its end says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bartviz
from bartviz.analysis.aligners import READINGS
from bartviz.corpus import replay, shipped
from bartviz.corpus.run_replay import curves_of
from bartviz.corpus.run_series import series
from training import born, measure
from training.corpus import folder, pairs

NAME = "bart-tiny-en-de"
TEXTS = 500
MOST = 3_000_000  # bytes of what ships
EXAMPLES = (
    ("I want to buy a car.", "Ich will ein Auto kaufen."),
    ("The old man sleeps.", "Der alte Mann schläft."),
    ("Tom is looking for a job.", "Tom sucht einen Arbeitsplatz."),
    ("Yesterday we read a good book.", "Gestern haben wir ein gutes Buch gelesen."),
)


def main() -> None:
    """Measure every moment of the run, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="folder of the run: moments and curve.tsv")
    parser.add_argument("--corpus", help="folder of the corpus (default: BARTVIZ_CORPUS)")
    parser.add_argument("--out", type=Path, default=replay.SHIPPED, help="the file (default: the one that ships)")
    parser.add_argument("--work", type=Path, required=True, help="folder of the series; a new one, or that of this run")
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--steps", type=int, default=born.STEPS, help="of the whole training")
    given = parser.parse_args()
    corpus = folder(given.corpus)
    rows = pairs(corpus, "valid")[: given.texts]
    moments = sorted((given.run / "moments").iterdir())
    series(
        [(row.en, row.de) for row in rows],
        moments,
        given.work,
        examples=EXAMPLES,
        curves={**curves_of(given.run / "curve.tsv", "BLEU", "loss"), "AER": error_rates(moments, corpus)},
        resume=True,
    )
    made = replay.open_replay(given.work / replay.FILE)
    about: dict[str, Any] = {**made.about, "model": NAME, "source": shipped.SOURCE}
    if made.steps[-1] < given.steps:
        about["whole"] = given.steps
    data = replace(made, about=about).pack()
    if len(data) > MOST:
        raise SystemExit(f"The file would have {len(data):,} bytes; {MOST:,} may ship. Keep fewer examples.")
    given.out.write_bytes(data)
    print(f"{len(made.steps)} moments, {given.texts} texts, {len(data) / 1e6:.2f} MB")


def error_rates(moments: Sequence[Path], corpus: Path) -> list[tuple[int, float]]:
    """The lowest alignment error rate of a head at each moment, its rows labelled in the way that suits it better."""
    found = []
    for path in moments:
        model = bartviz.load(path)
        rates = [measure.alignments(model, corpus, reading).head.min() for reading in READINGS]
        found.append((int(path.name), float(min(rates))))
    return found


if __name__ == "__main__":
    main()
