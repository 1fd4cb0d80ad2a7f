"""Translations of the training sentences by a trained translator, for a translator to be trained on.

python -m training.teacher --corpus FOLDER --model FOLDER --out FILE.tsv.gz [--minutes 20]

Of four beams the one that is most like a translation of the corpus is kept (sequence-level interpolation: Kim and Rush
2016, section 3.3). Such targets are more alike than those of many people, and a greedy decoder learns them better.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import sacrebleu
import torch
from transformers import BartForConditionalGeneration, BartTokenizer

from training import corpus, networks
from training.corpus import Pair
from training.loop import number_type

BEAMS = 4
CHUNK = 8192  # sentences that are sorted by length together
BATCH, LARGE = 128, 512  # sentences, on the processor and on another device
LONGEST = 60  # tokens of a translation
LEAST = 55.0  # chrF of a translation that is kept: below it most are wrong


def read(path: Path) -> list[Pair]:
    """The pairs that `main` wrote."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [Pair(*line.rstrip("\n").split("\t")) for line in file]


def likest(hypotheses: Sequence[str], references: Sequence[str]) -> str | None:
    """The hypothesis with the highest chrF against any of the references, the first of equals; None if that is low."""
    scores = [sacrebleu.sentence_chrf(text, list(references)).score for text in hypotheses]
    best = max(scores)
    return hypotheses[scores.index(best)] if best >= LEAST else None


@torch.no_grad()
def beams(model: BartForConditionalGeneration, tokenizer: BartTokenizer, texts: Sequence[str]) -> list[list[str]]:
    """All beams of each text, best first."""
    given = tokenizer(list(texts), return_tensors="pt", padding=True).to(model.device)
    with torch.autocast(model.device.type, number_type(model.device)):
        ids = model.generate(**given, num_beams=BEAMS, num_return_sequences=BEAMS, max_length=LONGEST, do_sample=False)
    found = tokenizer.batch_decode(ids, skip_special_tokens=True)
    return [found[i : i + BEAMS] for i in range(0, len(found), BEAMS)]


def main() -> None:
    """Read the command line and write the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", help="folder of the corpus (default: BARTVIZ_CORPUS)")
    parser.add_argument("--model", type=Path, required=True, help="folder of the translator")
    parser.add_argument("--out", type=Path, required=True, help="file to write, .tsv.gz")
    parser.add_argument("--minutes", type=float, default=20.0, help="time after which to stop")
    parser.add_argument("--processes", type=int, default=1, help="that compare beams with the corpus")
    parser.add_argument("--seed", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = BartTokenizer.from_pretrained(given.model)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = networks.opened(BartForConditionalGeneration, given.model).eval().to(device)
    size = BATCH if device == "cpu" else LARGE
    references = corpus.references(corpus.pairs(corpus.folder(given.corpus), "train"))
    texts = list(references)
    order = np.random.default_rng(given.seed).permutation(len(texts))
    end = time.process_time() + 60 * given.minutes
    count = 0
    with gzip.open(given.out, "wt", encoding="utf-8") as file, get_context("spawn").Pool(given.processes) as pool:
        for begin in range(0, len(order), CHUNK):
            chunk = sorted((texts[int(i)] for i in order[begin : begin + CHUNK]), key=len)
            parts = [chunk[first : first + size] for first in range(0, len(chunk), size)]
            hypotheses = [found for part in parts for found in beams(model, tokenizer, part)]
            best = pool.starmap(
                likest, [(found, references[text]) for found, text in zip(hypotheses, chunk, strict=True)]
            )
            file.writelines(f"{text}\t{found}\n" for text, found in zip(chunk, best, strict=True) if found is not None)
            count += len(chunk)
            print(f"{count:,} of {len(texts):,} sentences", flush=True)
            if time.process_time() >= end:
                return


if __name__ == "__main__":
    main()
