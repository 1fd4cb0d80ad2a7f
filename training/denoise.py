"""Pre-train the small BART on the five noise functions of `bartviz.analysis.denoising`.

python -m training.denoise --corpus FOLDER --out FOLDER [--minutes 60 --workers 2] [--start FOLDER]
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from transformers import BartTokenizer

from bartviz.analysis.denoising import NOISE, Noised, sentences, words
from training import corpus, networks, sequence
from training.batches import Deck, Example, forever
from training.checkpoint import Metrics
from training.loop import Settings, arguments, train
from training.vocabulary import train_bart
from training.withhold import withhold

CHUNK = 6000  # documents drawn, sorted and cut into batches together
SHARES = (0.78, 0.10, 0.12)  # single sentences, groups of unrelated sentences, coherent passages
FOR_ONE = {"text infilling": 0.6, "token masking": 0.2, "token deletion": 0.17, "document rotation": 0.03}
FOR_MANY = {
    "sentence permutation": 0.6,
    "text infilling": 0.1,
    "token masking": 0.1,
    "token deletion": 0.1,
    "document rotation": 0.1,
}
COMMON = 90  # words of each language that count as common
MOST_DRAWS = 5  # of corruptions that take too many common words
NO_END = 0.15  # share of single sentences that lose their last mark, so that input without a full stop works


class Documents:
    """Clean texts to draw from: sentences of both languages, groups of them, and passages that have an order.

    `common` are the words that stand in every other sentence, as articles and pronouns do.
    """

    def __init__(self, folder: Path, split: str) -> None:
        rows = corpus.pairs(folder, split)
        self.languages = [corpus.unique(row.en for row in rows), corpus.unique(row.de for row in rows)]
        self.single = [text for texts in self.languages for text in texts]
        self.common = frozenset().union(*(commonest(texts, COMMON) for texts in self.languages))
        coherent = [text for text in self.single if len(sentences(text)) > 1]
        self.coherent = corpus.passages(corpus.tales(folder, held_out=split != "train")) + coherent

    def group(self, rng: Generator, count: int) -> str:
        """A few unrelated sentences of one language."""
        texts = self.languages[int(rng.integers(2))]
        return " ".join(texts[int(i)] for i in rng.integers(0, len(texts), count))


class Denoising:
    """Source: a corrupted text. Target: the clean text."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.documents = Documents(settings.corpus, "train")
        folder = settings.start or settings.out  # the run that is continued has its tokenizer in the latter
        known = (folder / "tokenizer.json").is_file()
        self.tokenizer = BartTokenizer.from_pretrained(folder) if known else train_bart(self.documents.single)
        self.model = networks.bart(len(self.tokenizer), settings.hidden or networks.HIDDEN)
        if settings.start is not None:
            networks.begin_with(self.model, networks.tensors(settings.start))
        self.decks: list[Deck] = []

    def batches(self, rng: Generator) -> Iterator[list[Example]]:
        """Endless batches of (corrupted, clean)."""
        self.decks = [Deck(self.documents.single, rng), Deck(self.documents.coherent, rng)]
        return forever(self.chunk, self.settings.tokens, rng)

    def chunk(self, rng: Generator) -> list[Example]:
        """Draw documents, corrupt each with one function at about its default rate, and tokenize both."""
        one, many, ordered = (int(CHUNK * share) for share in SHARES)
        single = [without_end(self.documents.single[i], rng) for i in self.decks[0].draw(one)]
        groups = [self.documents.group(rng, int(rng.integers(2, 5))) for _ in range(many)]
        coherent = [self.documents.coherent[i] for i in self.decks[1].draw(ordered)]
        common = self.documents.common
        noised = [corrupt(text, FOR_ONE, rng, common) for text in single]
        noised += [corrupt(text, FOR_MANY, rng, common) for text in groups + coherent]
        return examples(self.tokenizer, noised, single + groups + coherent)

    def loss(self, batch: list[Example], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """No label smoothing here."""
        return sequence.loss(self.model, batch, device, 0.0, dtype)

    def checks(self) -> list[Callable[[], Metrics]]:
        """Loss and token accuracy per noise function on the validation split."""
        return [functools.partial(self.check, name) for name in NOISE]

    def check(self, name: str) -> Metrics:
        """One noise function on 400 validation texts."""
        sets = validation(self.settings.corpus, self.tokenizer, name, 400)
        loss, accuracy = sequence.score(self.model, sets)
        return {f"{name} loss": loss, name: accuracy}

    def export(self, out: Path) -> None:
        """Write the folder that ships."""
        networks.export(self.model, self.tokenizer, out, int8=self.settings.int8)
        withhold(out)


def without_end(text: str, rng: Generator) -> str:
    """Sometimes the text without its final mark."""
    return text[:-1] if rng.random() < NO_END and text[-1:] in ".!?" and len(text) > 3 else text


def corrupt(text: str, choices: dict[str, float], rng: Generator, common: AbstractSet[str] = frozenset()) -> str:
    """Corrupt with a function drawn by its share, at 0.5 to 1.5 times its default rate.

    Of what is masked or deleted, about half is `common` words and half others, though common words are more in number:
    a corruption is drawn again with a probability that grows with the share of common words it takes.
    """
    name = list(choices)[int(rng.choice(len(choices), p=list(choices.values())))]
    noise = NOISE[name]
    rate = (noise.rate or 0.0) * float(rng.uniform(0.5, 1.5))
    noised = noise(text, rng, rate)
    for _ in range(MOST_DRAWS):
        if rng.random() < kept(noised, common):
            break
        noised = noise(text, rng, rate)
    return noised.text


def kept(noised: Noised, common: AbstractSet[str]) -> float:
    """Probability to keep a corruption: 1 if what it takes is not common, less the more of it is."""
    every = [word.text.lower() in common for word in noised.clean]
    taken = [every[i] for i in noised.lost]
    if not taken or not any(every) or all(every):
        return 1.0
    odds = min(1.0, (len(every) - sum(every)) / sum(every))
    return 1.0 - (1.0 - odds) * sum(taken) / len(taken)


def commonest(texts: Iterable[str], count: int) -> frozenset[str]:
    """The most frequent words and marks of the texts, in small letters."""
    counts = Counter(word.text.lower() for text in texts for word in words(text))
    return frozenset(word for word, _ in counts.most_common(count))


def examples(tokenizer: Any, noised: Sequence[str], clean: Sequence[str]) -> list[Example]:
    """Token ids of corrupted and clean texts."""
    return list(zip(sequence.encode(tokenizer, noised), sequence.encode(tokenizer, clean), strict=True))


@functools.lru_cache(maxsize=16)
def _validation_texts(folder: Path, name: str, count: int) -> tuple[str, ...]:
    """Validation texts for a noise function: pairs and triples of sentences for permutation, single sentences else."""
    rng = np.random.default_rng(5)
    documents = Documents(folder, "valid")
    if name == "sentence permutation":
        texts = [documents.group(rng, int(rng.integers(2, 4))) for _ in range(count // 2)]
        pool = documents.coherent
    else:
        texts, pool = [], documents.single
    texts += [pool[int(i)] for i in rng.choice(len(pool), min(count - len(texts), len(pool)), replace=False)]
    return tuple(texts)


def validation(folder: Path, tokenizer: Any, name: str, count: int) -> list[Example]:
    """Examples of one noise function on the validation split, the same every time."""
    texts = _validation_texts(folder, name, count)
    rng = np.random.default_rng(7)
    return examples(tokenizer, [NOISE[name](text, rng).text for text in texts], texts)


def main() -> None:
    """Read the command line and train."""
    parser = arguments(__doc__ or "", minutes=60.0, workers=2)
    parser.add_argument("--start", type=Path, help="folder of a model to train on from")
    parser.add_argument("--hidden", type=int, help="width of the feed-forward parts, at least that of the start")
    given = vars(parser.parse_args())
    train(Denoising, Settings(**given | {"corpus": corpus.folder(given["corpus"])}))


if __name__ == "__main__":
    main()
