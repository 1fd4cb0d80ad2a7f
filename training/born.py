"""The translator from random weights to what ships, in one run that can be stopped at any moment, and looked at later.

python -m training.born --corpus FOLDER --out FOLDER --steps 36000 [--taught FILE]
python -m training.born --corpus FOLDER --out FOLDER --measure

On a fast device that is there for some minutes, with examples made by other processes and batches of its size:

python -m training.born --corpus FOLDER --out FOLDER --minutes 8 --tokens 16000 --warm 400 --processes 12 --later

The same command goes on with a run that was stopped or killed (`training.steps`). OUT/moments has the model at 16
moments on a log scale of steps, OUT/curve.tsv what was measured, then or by the second command. At first half of the
rows are texts of either language with gaps to fill, fewer and fewer until a third of the run: a network that repairs
sentences learns to translate sooner. A gap says which of the two is asked for.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from transformers import BartTokenizer

from bartviz.families.catalogue import EMBEDDED
from training import corpus, denoise, networks, teacher
from training.batches import Example
from training.loop import Settings, read_curve, write_curve
from training.mix import Mix
from training.pieces import Pieces
from training.steps import Steps
from training.translate import CHUNK, Translating, translated
from training.vocabulary import POSITIONS

STEPS = 36_000
REPAIRED = 0.5  # share of rows that are texts with gaps, at the beginning
TRANSLATED = 0.33  # share of the run after which there are none
TAUGHT = 0.33  # share of the run after which there are rows of a teacher
GAPS = {"text infilling": 0.7, "token masking": 0.3}
GAP = "<mask>"


class Born(Translating):
    """Source: English, or a text with gaps. Target: German, or the whole text. The network begins at random."""

    chunk_tokens = 200_000  # 8,000 rows; somewhat more where there are texts with gaps

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tokenizer = tokenizer()
        self.model = networks.bart(len(self.tokenizer), settings.hidden or networks.HIDDEN)
        self.model.generation_config = networks.generation()

    def shown(self) -> Callable[[], Shown]:
        """What makes what the network is shown."""
        return functools.partial(Shown, self.settings)


class Shown:
    """Rows to translate and texts to repair, in chunks."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.tokenizer = tokenizer()
        self.pieces = Pieces(self.tokenizer, POSITIONS)
        self.documents = denoise.Documents(settings.corpus, "train")
        self.mix = Mix(corpus.pairs(settings.corpus, "train"), np.random.default_rng(settings.seed))

    def chunk(self, index: int, share: float) -> list[Example]:
        """Rows to translate and texts to repair, the same for the same number and share."""
        rng = np.random.default_rng([self.settings.seed, index])
        if share >= TAUGHT:
            self.mix.taught = self.taught_german
        rows = self.mix.numbered(index, CHUNK, rng)
        repaired = REPAIRED * max(0.0, 1.0 - share / TRANSLATED)
        shown = translated(self.tokenizer, self.pieces, rows, rng)
        return shown + self.with_gaps(round(len(rows) * repaired / (1.0 - repaired)), rng)

    def with_gaps(self, count: int, rng: Generator) -> list[Example]:
        """(Text with gaps, whole text), of at most `count` texts: one without a gap would be one to translate."""
        single = self.documents.single
        texts = [single[int(i)] for i in rng.integers(0, len(single), count)]
        noised = [denoise.corrupt(text, GAPS, rng, self.documents.common) for text in texts]
        kept = [i for i, text in enumerate(noised) if GAP in text]
        return denoise.examples(self.tokenizer, [noised[i] for i in kept], [texts[i] for i in kept])

    @functools.cached_property
    def taught_german(self) -> dict[str, str]:
        """The teacher's German, read when the run comes to it: the teacher may still be at work when it begins."""
        taught = self.settings.extra.get("taught")
        return {} if taught is None else {pair.en: pair.de for pair in teacher.read(taught)}


def tokenizer() -> Any:
    """That of the translator that ships: words stay in the pieces that they had."""
    return BartTokenizer.from_pretrained(EMBEDDED / "bart-tiny-en-de")


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", help="folder of the corpus (default: BARTVIZ_CORPUS)")
    parser.add_argument("--out", type=Path, required=True, help="folder for the state, the moments and the curve")
    parser.add_argument("--taught", type=Path, help="file of training.teacher: its German for half of those rows")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--minutes", type=float, help="instead of steps: as many as a fast device does by the clock")
    parser.add_argument("--tokens", type=int, default=2000, help="of a step, padding counted")
    parser.add_argument("--peak", type=float, default=1e-3, help="the highest learning rate")
    parser.add_argument("--warm", type=float, default=200, help="steps of rising learning rate")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--hidden", type=int, help="width of the feed-forward parts")
    parser.add_argument("--int8", action="store_true", help="write matrices as int8 rows, half of float16's size")
    parser.add_argument("--later", action="store_true", help="measure nothing on the way")
    parser.add_argument("--measure", action="store_true", help="measure the moments of a run that did not")
    parser.add_argument("--processes", type=int, default=0, help="that make what is shown (default: between the steps)")
    parser.add_argument("--seed", type=int, default=36)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    settings = Settings(
        corpus=corpus.folder(given.corpus),
        out=given.out,
        minutes=given.minutes or float("inf"),
        steps=0 if given.minutes else given.steps,
        seed=given.seed,
        processes=given.processes,
        measured=not given.later,
        peak=given.peak,
        warm=given.warm,
        tokens=given.tokens,
        cool=0.5,
        dropout=given.dropout,
        dropout_from=0.1,
        hidden=given.hidden,
        int8=given.int8,
        extra={"taught": given.taught},
    )
    if given.measure:
        measure_moments(settings)
    else:
        Steps(Born(settings), settings).run()


def measure_moments(settings: Settings) -> None:
    """Write what was not measured on the way into the rows of OUT/curve.tsv."""
    rows = read_curve(settings.out / "curve.tsv")
    for row in rows:
        start = settings.out / f"moments/{int(row['step']):06d}"
        task = Translating(replace(settings, start=start))
        task.model.eval()
        for check in task.checks():
            row.update(check())
        print("  ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
        write_curve(rows, settings.out / "curve.tsv")


if __name__ == "__main__":
    main()
