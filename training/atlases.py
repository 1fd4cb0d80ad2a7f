"""Make the atlases that the corpus page opens with: embedded models over the validation split, which none has seen.

``python -m training.atlases --corpus FOLDER [--only MODEL]``; about 500 kB for each model at most.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from bartviz.corpus import shipped
from bartviz.corpus.read import Columns
from bartviz.corpus.run import corpus
from training.corpus import folder, pairs, unique

SILENCED = 300  # texts on which each head is silenced


def main() -> None:
    """Measure every shipped atlas's model, and keep the tables without the shards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", help="folder of the corpus (default: BARTVIZ_CORPUS)")
    parser.add_argument("--only", choices=shipped.NAMES, help="measure one model")
    given = parser.parse_args()
    rows = pairs(folder(given.corpus), "valid")
    english = unique(row.en for row in rows)
    lines = {
        "bart-tiny-en-de": (["en\tde", *(f"{row.en}\t{row.de}" for row in rows)], Columns("en", target="de")),
        "bart-tiny-denoise": (["en", *english], Columns("en", target="en")),
        "bert-tiny-en": (["en", *english], Columns("en")),
    }
    for name in [given.only] if given.only else shipped.NAMES:
        texts, columns = lines[name]
        with tempfile.TemporaryDirectory() as made:
            file, out = Path(made, "tatoeba-valid.tsv"), Path(made, "atlas")
            file.write_text("\n".join(texts) + "\n", encoding="utf-8")
            atlas = corpus(file, name, out, columns=columns, silence=SILENCED)
            kept = shipped.FOLDER / name
            shutil.rmtree(kept, ignore_errors=True)
            about = {**atlas.description["corpus"], "source": shipped.SOURCE}
            replace(atlas, description={**atlas.description, "corpus": about}).save(kept)
        size = sum(file.stat().st_size for file in kept.iterdir())
        print(f"{name}: {atlas.description['texts']:,} texts, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
