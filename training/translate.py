"""Fine-tune the denoiser to translate English to German.

python -m training.translate --corpus FOLDER --out FOLDER --start FOLDER_OF_DENOISE [--minutes 75 --workers 2]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import sacrebleu
import torch
from numpy.random import Generator
from transformers import BartForConditionalGeneration, BartTokenizer

from training import corpus, networks, sequence
from training.batches import Deck, Example, forever
from training.checkpoint import Metrics
from training.loop import Settings, arguments, train

CHUNK = 8000  # pairs drawn, sorted and cut into batches together
NO_END = 0.15  # share of pairs that lose the final mark on both sides, so that input without a full stop works
SMOOTHING = 0.1


class Translating:
    """Source: English. Target: German."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        start = settings.start
        if start is None:
            raise SystemExit("name the folder of the denoiser with --start")
        self.tokenizer = BartTokenizer.from_pretrained(start)
        self.model = BartForConditionalGeneration.from_pretrained(start, attn_implementation="eager")
        self.model.generation_config = networks.generation()
        self.rows = corpus.pairs(settings.corpus, "train")

    def batches(self, rng: Generator) -> Iterator[list[Example]]:
        """Endless batches of (English, German)."""
        deck = Deck(self.rows, rng)

        def chunk(rng: Generator) -> list[Example]:
            rows = [self.rows[i] for i in deck.draw(CHUNK)]
            short = rng.random(len(rows)) < NO_END
            en, de = zip(
                *(without_end(row) if cut else (row.en, row.de) for row, cut in zip(rows, short, strict=True)),
                strict=True,
            )
            return list(zip(sequence.encode(self.tokenizer, en), sequence.encode(self.tokenizer, de), strict=True))

        return forever(chunk, self.settings.tokens, rng)

    def loss(self, batch: list[Example], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Smoothed: a sentence has several translations."""
        return sequence.loss(self.model, batch, device, SMOOTHING, dtype)

    def checks(self) -> list[Callable[[], Metrics]]:
        """BLEU and chrF of greedy translations, and loss, on the validation split."""
        return [self.bleu, self.perplexity]

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

    def export(self, out: Path) -> None:
        """Write the folder that ships."""
        networks.export(self.model, self.tokenizer, out)


def without_end(row: corpus.Pair) -> tuple[str, str]:
    """Both sides without their final mark, where it is the same."""
    same = row.en[-1:] == row.de[-1:] and row.en[-1:] in ".!?"
    return (row.en[:-1], row.de[:-1]) if same else (row.en, row.de)


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
    given = vars(parser.parse_args())
    train(Translating, Settings(**given | {"corpus": corpus.folder(given["corpus"])}))


if __name__ == "__main__":
    main()
