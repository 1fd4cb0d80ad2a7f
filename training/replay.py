"""A run of training.born as the file that the page How heads are born opens: ``python -m training.replay RUN``.

Every moment of the run is measured over the first 500 pairs of the validation split, which it has not seen. What was
measured already is kept in ``--work``, so that the same command goes on after a stop, or when the run has come further.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from bartviz.corpus import replay, shipped
from bartviz.corpus.run_replay import curves_of
from bartviz.corpus.run_series import series
from training.corpus import folder, pairs

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
    given = parser.parse_args()
    rows = pairs(folder(given.corpus), "valid")[: given.texts]
    series(
        [(row.en, row.de) for row in rows],
        sorted((given.run / "moments").iterdir()),
        given.work,
        examples=EXAMPLES,
        curves=curves_of(given.run / "curve.tsv", "loss", "BLEU"),
        resume=True,
    )
    made = replay.open_replay(given.work / replay.FILE)
    data = replace(made, about={**made.about, "source": shipped.SOURCE}).pack()
    if len(data) > MOST:
        raise SystemExit(f"The file would have {len(data):,} bytes; {MOST:,} may ship. Keep fewer examples.")
    given.out.write_bytes(data)
    print(f"{len(made.steps)} moments, {given.texts} texts, {len(data) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
