"""Pre-train the small BERT: masked words, and whether the second sentence follows from the first.

python -m training.bert --corpus FOLDER --out FOLDER [--minutes 40] [--start FOLDER]
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertTokenizer

from bartviz.analysis.denoising import Word, sentences, words
from training import corpus, networks
from training.batches import Deck, Example, by_length, forever, pad
from training.checkpoint import Metrics
from training.loop import Settings, arguments, train
from training.vocabulary import POSITIONS, train_bert
from training.withhold import withhold

CHUNK = 8000
PAD, CLS, SEP, MASK, FIRST_WORD = 0, 2, 3, 4, 5
IGNORED = -100
SHARE = 0.15  # of the tokens is to be predicted: of these 80% become [MASK], 10% another word, 10% stay
PAIRS = 0.35  # share of texts that are sentence pairs; half of them do not belong together
SHARING = 0.2  # share of texts that are two sentences with a word in common, which is masked in the second
LEAST_LETTERS = 2  # of a word in common, one more at least
COMMON = 1000  # sentences that such a word stands in, at most: "money" is one, "could" is not
MOST = 60  # pairs of one word, about


class Masking:
    """Texts and sentence pairs, English, uncased."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.single, self.follow = material(settings.corpus, "train")
        self.sharing = sharing(self.single)
        folder = settings.start or settings.out  # the run that is continued has its tokenizer in the latter
        texts = self.single + [text for pair in self.follow for text in pair]
        known = (folder / "tokenizer.json").is_file()
        self.tokenizer = BertTokenizer.from_pretrained(folder) if known else train_bert(texts)
        self.model = networks.bert(len(self.tokenizer))
        if settings.start is not None:
            self.model.load_state_dict(networks.tensors(settings.start), strict=False)

    def batches(self, rng: Generator) -> Iterator[list[Example]]:
        """Endless batches of (ids, segments, labels, [next])."""
        one, two, three = Deck(self.single, rng), Deck(self.follow, rng), Deck(self.sharing, rng)

        def chunk(rng: Generator) -> list[Example]:
            texts = [self.single[i] for i in one.draw(int(CHUNK * (1 - PAIRS - SHARING)))]
            rows = [example(ids, [], IGNORED, rng) for ids in encode(self.tokenizer, texts)]
            couples = [self.follow[i] for i in two.draw(int(CHUNK * PAIRS))]
            rows += in_pairs(self.tokenizer, couples, rng)
            return rows + with_shared(self.tokenizer, [self.sharing[i] for i in three.draw(int(CHUNK * SHARING))], rng)

        return forever(chunk, self.settings.tokens, rng)

    def loss(self, batch: list[Example], dtype: torch.dtype, device: torch.device) -> Tensor:
        """Both losses added, as BERT does; `dtype` is left to autocast, the masked rows being few."""
        logits, labels, order, follows = forward(self.model, batch, device)
        loss = cross_entropy(logits.float(), labels)
        if (follows != IGNORED).any():
            loss = loss + 0.5 * cross_entropy(order.float(), follows)
        return loss

    def checks(self) -> list[Callable[[], Metrics]]:
        """Masked-token and next-sentence accuracy on the validation split."""
        return [self.check]

    def check(self) -> Metrics:
        """The same masks every time."""
        return check(self.model, self.tokenizer, self.settings.corpus)

    def export(self, out: Path) -> None:
        """Write the folder that ships."""
        networks.export(self.model, self.tokenizer, out, int8=self.settings.int8)
        withhold(out)


def material(folder: Path, split: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Single texts, and pairs of sentences that belong together: neighbours in a tale or a row, or paraphrases."""
    rows = corpus.pairs(folder, split)
    single = corpus.unique(row.en for row in rows)
    paragraphs = corpus.tales(folder, held_out=split != "train")
    follow = [two for paragraph in paragraphs for two in itertools.pairwise(paragraph)]
    follow += [halves for text in single if (halves := split_in_two(text))]
    follow += corpus.paraphrases(rows)
    return single + [s for p in paragraphs for s in p] * (split == "train"), follow


def split_in_two(text: str) -> tuple[str, str] | None:
    """A text of two sentences as a pair."""
    found = sentences(text)
    if len(found) != 2:
        return None
    cut = words(text)[found[1][0]].start
    return text[:cut].strip(), text[cut:].strip()


@dataclass(frozen=True)
class Shared:
    """Two texts with a word in common; the second is cut around it."""

    first: str
    before: str
    word: str
    after: str


def sharing(texts: Sequence[str]) -> list[Shared]:
    """Pairs of texts that share a word: what is masked in the second is found in the first."""
    having: dict[str, dict[int, Word]] = defaultdict(dict)
    for i, text in enumerate(texts):
        for word in words(text):
            if len(word.text) > LEAST_LETTERS:
                having[word.text.lower()][i] = word
    return [
        Shared(texts[a], texts[b][: found[b].start], found[b].text, texts[b][found[b].end :])
        for found in having.values()
        if 1 < len(found) <= COMMON
        for a, b in itertools.pairwise(list(found)[:: -(-len(found) // MOST)])
    ]


def example(first: list[int], second: list[int], follows: int, rng: Generator, hide: Sequence[int] = ()) -> Example:
    """Ids with masks, segments, labels at the masked places, and whether the second sentence follows (0) or not (1).

    The tokens of the second sentence at the places `hide` are masked in any case.
    """
    ids = [CLS, *first, SEP, *second, *([SEP] if second else [])]
    segments = [0] * (len(first) + 2) + [1] * (len(ids) - len(first) - 2)
    labels = [IGNORED] * len(ids)
    places = [i for i, token in enumerate(ids) if token not in (CLS, SEP)]
    count = max(1, round(len(places) * SHARE + float(rng.uniform(-0.5, 0.5)))) if places else 0
    hidden = [len(first) + 2 + place for place in hide]
    for place in hidden:
        labels[place], ids[place] = ids[place], MASK
    places = [place for place in places if place not in hidden]
    count = max(count - len(hidden), 0)
    for place in rng.choice(places, min(count, len(places)), replace=False) if places else ():
        labels[place] = ids[place]
        draw = rng.random()
        ids[place] = (
            MASK if draw < 0.8 else int(rng.integers(FIRST_WORD, networks.WORDPIECES)) if draw < 0.9 else ids[place]
        )
    return ids, segments, labels, [follows]


def encode(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, without special tokens, cut so that two texts fit the positions."""
    found: list[list[int]] = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    return [ids[: POSITIONS // 2 - 2] for ids in found]


def in_pairs(tokenizer: Any, couples: Sequence[tuple[str, str]], rng: Generator) -> list[Example]:
    """Sentence pairs; every second one gets a second sentence from elsewhere."""
    first, second = encode(tokenizer, [a for a, _ in couples]), encode(tokenizer, [b for _, b in couples])
    other = [second[int(i)] for i in rng.permutation(len(second))]
    return [
        example(a, o, 1, rng) if rng.random() < 0.5 else example(a, b, 0, rng)
        for a, b, o in zip(first, second, other, strict=True)
    ]


def with_shared(tokenizer: Any, couples: Sequence[Shared], rng: Generator) -> list[Example]:
    """Sentence pairs with the word that they share masked in the second; whether it follows is not asked."""
    parts = [
        encode(tokenizer, [getattr(couple, name) for couple in couples])
        for name in ("first", "before", "word", "after")
    ]
    return [
        example(first, [*before, *word, *after], IGNORED, rng, range(len(before), len(before) + len(word)))
        for first, before, word, after in zip(*parts, strict=True)
        if len(before) + len(word) + len(after) <= POSITIONS // 2 - 2
    ]


def forward(model: Any, batch: Sequence[Example], device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Logits and labels at the masked rows (N, V) and (N,), and of the next-sentence head (B, 2) and (B,)."""
    ids, segments, labels = (pad([e[i] for e in batch], fill, device) for i, fill in ((0, PAD), (1, 0), (2, IGNORED)))
    output = model.bert(ids, attention_mask=ids.ne(PAD).long(), token_type_ids=segments)
    masked = labels.ne(IGNORED)  # (B, S)
    logits = model.cls.predictions(output.last_hidden_state[masked])
    follows = torch.tensor([e[3][0] for e in batch], device=device)
    return logits, labels[masked], model.cls.seq_relationship(output.pooler_output), follows


def check(model: Any, tokenizer: Any, folder: Path) -> Metrics:
    """Masked-token and next-sentence accuracy on the validation split; the masks are the same every time."""
    rng = np.random.default_rng(3)
    single, follow = material(folder, "valid")
    rows = [example(ids, [], IGNORED, rng) for ids in encode(tokenizer, single)]
    loss, masked, _ = score(model, rows)
    _, pairs, following = score(model, in_pairs(tokenizer, follow, rng))
    return {"loss": loss, "masked": masked, "masked in pairs": pairs, "next sentence": following}


@torch.no_grad()
def score(model: Any, rows: Sequence[Example]) -> tuple[float, float, float]:
    """Masked-token loss (nats) and accuracy, and next-sentence accuracy (0 without pairs)."""
    nats = right = count = followed = asked = 0.0
    device = next(model.parameters()).device
    for batch in by_length(rows, 6000, np.random.default_rng(0)):
        logits, labels, order, follows = forward(model, batch, device)
        nats += float(cross_entropy(logits, labels, reduction="sum"))
        right += float((logits.argmax(1) == labels).sum())
        count += len(labels)
        known = follows != IGNORED
        followed += float((order.argmax(1) == follows)[known].sum())
        asked += float(known.sum())
    return nats / count, right / count, followed / max(1.0, asked)


def main() -> None:
    """Read the command line and train."""
    parser = arguments(__doc__ or "", minutes=40.0, tokens=4500)
    parser.add_argument("--start", type=Path, help="folder of a small BERT to go on from")
    given = vars(parser.parse_args())
    train(Masking, Settings(**given | {"corpus": corpus.folder(given["corpus"])}))


if __name__ == "__main__":
    main()
