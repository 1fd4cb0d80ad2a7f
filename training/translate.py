"""Fine-tune the denoiser to translate English to German.

python -m training.translate --corpus FOLDER --out FOLDER --start FOLDER_OF_DENOISE [--minutes 75 --workers 2]

With `--start` a translator and `--keep 0.7` it is trained on without forgetting (see `training.loss`).
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sacrebleu
import torch
from numpy.random import Generator
from transformers import BartForConditionalGeneration, BartTokenizer

from training import corpus, everyday, names_check, networks, sequence, teacher
from training.batches import Example, forever
from training.checkpoint import Metrics
from training.corpus import Pair
from training.loop import Settings, arguments, train
from training.mix import Mix, typed
from training.pieces import Pieces
from training.vocabulary import POSITIONS

CHUNK = 8000  # pairs drawn, sorted and cut into batches together
DROPPED = 0.3  # share of texts whose English is cut into other pieces than usual
DROP = 0.1  # of the merges of two pieces there
SMOOTHING = 0.1


class Translating:
    """Source: English. Target: German."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        start = settings.start
        if start is None:
            raise SystemExit("name the folder of the denoiser with --start")
        self.tokenizer = BartTokenizer.from_pretrained(start)
        self.model = networks.opened(BartForConditionalGeneration, start)
        self.model.final_logits_bias.zero_()  # the denoiser withholds words; a translator writes what it is given
        self.model.generation_config = networks.generation()
        self.keep = float(settings.extra.get("keep") or 0.0)
        self.before = copy.deepcopy(self.model).eval().requires_grad_(False) if self.keep else None

    def batches(self, rng: Generator) -> Iterator[list[Example]]:
        """Endless batches of (English, German)."""
        taught = self.settings.extra.get("taught")
        known = [] if taught is None else teacher.read(taught)
        mix = Mix(corpus.pairs(self.settings.corpus, "train"), rng, known)
        pieces = Pieces(self.tokenizer, POSITIONS)

        def chunk(rng: Generator) -> list[Example]:
            return translated(self.tokenizer, pieces, mix.draw(CHUNK), rng, usual=self.before is not None)

        return forever(chunk, self.settings.tokens, rng)

    def loss(self, batch: list[Example], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Smoothed: a sentence has several translations."""
        if self.before is not None:
            self.before.to(device)
        return sequence.loss(self.model, batch, device, SMOOTHING, dtype, self.before, self.keep)

    def checks(self) -> list[Callable[[], Metrics]]:
        """BLEU and chrF of greedy translations, and loss, on the validation split; and the project's own lists."""
        return [self.bleu, self.perplexity, self.own_lists]

    def bleu(self) -> Metrics:
        """Greedy, every sixth validation sentence."""
        known = corpus.references(corpus.pairs(self.settings.corpus, "valid"))
        texts = list(known)[::6]
        return bleu_chrf(sequence.translate(self.model, self.tokenizer, texts), [known[text] for text in texts])

    def perplexity(self) -> Metrics:
        """Mean cross-entropy and accuracy, teacher-forced."""
        rows = corpus.pairs(self.settings.corpus, "valid")
        sides = [sequence.encode(self.tokenizer, [getattr(row, name) for row in rows]) for name in ("en", "de")]
        loss, accuracy = sequence.score(self.model, list(zip(*sides, strict=True)))
        return {"loss": loss, "accuracy": accuracy}

    def own_lists(self) -> Metrics:
        """Share of sentences in which names and numbers arrive, and of everyday sentences that are right."""
        translate = functools.partial(sequence.translate, self.model, self.tokenizer)
        counts = everyday.by_kind(everyday.cases(), translate)
        two, count = counts.pop(everyday.TWO)
        single = sum(good for good, _ in counts.values()) / sum(many for _, many in counts.values())
        names = names_check.share(names_check.cases(), translate)[0]
        return {"names": names, "everyday": single, everyday.TWO: two / count}

    def export(self, out: Path) -> None:
        """Write the folder that ships."""
        networks.export(self.model, self.tokenizer, out, int8=self.settings.int8)


def translated(
    tokenizer: Any, pieces: Pieces, rows: Sequence[Pair], rng: Generator, usual: bool = False
) -> list[Example]:
    """(English, German), some English typed without capitals, some words in other pieces each time.

    With `usual` also the English in its usual capitals and pieces.
    """
    rows = [rows[int(i)] for i in rng.permutation(len(rows))]
    texts = [typed(row.en, rng) for row in rows]
    cut = int(len(rows) * DROPPED)
    source = pieces.encode(texts[:cut], DROP, rng) + sequence.encode(tokenizer, texts[cut:])
    sides = [source, sequence.encode(tokenizer, [row.de for row in rows])]
    if usual:
        sides.append(sequence.encode(tokenizer, [row.en for row in rows]))
    return list(zip(*sides, strict=True))


def bleu_chrf(found: list[str], references: list[list[str]]) -> Metrics:
    """Corpus BLEU and chrF with every reference of each sentence."""
    longest = max(map(len, references))
    streams = [[known[i] if i < len(known) else None for known in references] for i in range(longest)]
    return {
        "BLEU": sacrebleu.corpus_bleu(found, streams).score,
        "chrF": sacrebleu.corpus_chrf(found, [[text or "" for text in stream] for stream in streams]).score,
    }


def main() -> None:
    """Read the command line and train."""
    parser = arguments(__doc__ or "", minutes=75.0, workers=2, dropout=0.1)
    parser.add_argument("--start", type=Path, required=True, help="folder of the trained denoiser")
    parser.add_argument("--taught", type=Path, help="file of training.teacher: its German for half of those rows")
    parser.add_argument("--keep", type=float, default=0.0, help="share of the start's own distribution that is kept")
    given = vars(parser.parse_args())
    extra = {"taught": given.pop("taught"), "keep": given.pop("keep")}
    train(Translating, Settings(**given | {"corpus": corpus.folder(given["corpus"]), "extra": extra}))


if __name__ == "__main__":
    main()
