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
from pathlib import Path

import numpy as np
import sacrebleu
import torch
from transformers import BartForConditionalGeneration, BartTokenizer

from training import corpus, networks
from training.corpus import Pair
from training.loop import number_type

BEAMS = 4
CHUNK = 2048  # sentences that are sorted by length together
BATCH = 128
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
    given = tokenizer(list(texts), return_tensors="pt", padding=True)
    with torch.autocast("cpu", number_type(torch.device("cpu"))):
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
    parser.add_argument("--seed", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = BartTokenizer.from_pretrained(given.model)
    model = networks.opened(BartForConditionalGeneration, given.model).eval()
    references = corpus.references(corpus.pairs(corpus.folder(given.corpus), "train"))
    texts = list(references)
    order = np.random.default_rng(given.seed).permutation(len(texts))
    end = time.process_time() + 60 * given.minutes
    count = 0
    with gzip.open(given.out, "wt", encoding="utf-8") as file:
        for begin in range(0, len(order), CHUNK):
            chunk = sorted((texts[int(i)] for i in order[begin : begin + CHUNK]), key=len)
            for first in range(0, len(chunk), BATCH):
                part = chunk[first : first + BATCH]
                for text, hypotheses in zip(part, beams(model, tokenizer, part), strict=True):
                    found = likest(hypotheses, references[text])
                    if found is not None:
                        file.write(f"{text}\t{found}\n")
                    count += 1
            print(f"{count:,} of {len(texts):,} sentences", flush=True)
            if time.process_time() >= end:
                return


if __name__ == "__main__":
    main()
