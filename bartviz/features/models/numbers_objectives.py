"""The training objective of each family, shown on one text: what the model reads and what it must predict.

The unit is the word, as in ``denoising``; the models themselves mask pieces. The same seed gives the same choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bartviz.analysis.denoising import Noised, sentence_permutation, sentences, text_infilling, token_masking, words
from bartviz.families.bart import BART
from bartviz.families.bert import BERT
from bartviz.families.gpt2 import GPT2
from bartviz.families.marian import MARIAN
from bartviz.families.pegasus import PEGASUS
from bartviz.families.registry import FAMILIES
from bartviz.families.t5 import T5
from bartviz.language import mark

TRIES = 50  # draws of the words that BART's example hides
BERT_RATE, T5_RATE, SPAN = 0.15, 0.15, 3  # shares of the words, and T5's mean span (Raffel et al. 2020, section 3.1.4)


@dataclass(frozen=True)
class Example:
    """``reads``: the model's input; ``starts``: the decoder's input, None without a decoder; ``predicts``: the text
    whose tokens count in the loss, empty if the text is too short. ``why`` is a message, to be filled with ``rate``,
    the share of the words that BERT chooses."""

    family: str
    reads: str
    starts: str | None
    predicts: str
    why: str

    @property
    def title(self) -> str:
        return FAMILIES[self.family].title


def objectives(text: str, *, seed: int = 0, translation: str | None = None) -> tuple[Example, ...]:
    """BERT, BART, T5, GPT-2, Pegasus and, with a translation, Marian, on ``text``; empty if it has no word."""
    if not words(text):
        return ()
    found = [_bert(text.lower(), seed), _bart(text, seed), _t5(text, seed), _gpt2(text), _pegasus(text)]
    if translation:
        why = mark("It predicts the translation of each sentence, and learns from parallel texts.")
        found.append(Example(MARIAN.name, text, f"<pad> {translation}", f"{translation} </s>", why))
    return tuple(found)


def _bert(text: str, seed: int) -> Example:
    """Of the chosen words 80% are masked, 10% replaced by others, 10% kept (Devlin et al. 2019, section 3.1)."""
    random = np.random.default_rng(seed)
    masked = token_masking(text, random, max(BERT_RATE, 1 / len(words(text))))
    clean = [word.text for word in masked.clean]
    lost = [word.origin[0] for word in masked.words if word.is_mask]
    seen: dict[int, str] = {}
    for place, draw in zip(lost, random.random(len(lost)), strict=True):
        other = clean[int(random.integers(len(clean)))]
        seen[place] = "[MASK]" if draw < 0.8 else other if draw < 0.9 else clean[place]
    reads = _joined(masked, [seen.get(index, word) for index, word in enumerate(clean)])
    predicts = " … ".join(clean[index] for index in lost)
    why = mark(
        "About {rate:.0%} of the words are chosen, and it is graded only on these: of every 10 chosen, 8 become "
        "[MASK], 1 becomes another word and 1 stays as it is."
    )
    return Example(BERT.name, f"[CLS] {reads} [SEP]", None, predicts, why)


def _bart(text: str, seed: int) -> Example:
    """Spans of words become masks. The last sign stays where it can, so that one sees where the text ends."""
    random = np.random.default_rng(seed)
    shuffled = sentence_permutation(text, random).text
    for _try in range(TRIES):
        noised = text_infilling(shuffled, random)
        if noised.text[-1:] == shuffled.rstrip()[-1:]:
            break
    why = mark(
        "It predicts the whole clean text, each word from those before it. A mask may stand for no word, one or "
        "several."
    )
    return Example(BART.name, f"<s> {noised.text} </s>", f"</s> <s> {text}", f"<s> {text} </s>", why)


def _t5(text: str, seed: int) -> Example:
    """Spans become numbered sentinels; the target has the words of each."""
    clean = words(text)
    spans = _spans(len(clean), np.random.default_rng(seed))
    read: list[str] = []
    predicts: list[str] = []
    last = 0
    for number, (start, stop) in enumerate(spans):
        sentinel = f"<extra_id_{number}>"
        read += [text[clean[last].start : clean[start - 1].end] if start > last else "", sentinel]
        predicts += [sentinel, text[clean[start].start : clean[stop - 1].end]]
        last = stop
    read.append(text[clean[last].start :] if last < len(clean) else "")
    target = " ".join([*predicts, f"<extra_id_{len(spans)}>"])
    why = mark("It predicts only the hidden words, each span after its sentinel: far fewer tokens than BART writes.")
    joined = " ".join(part for part in read if part)
    return Example(T5.name, f"{joined} </s>", f"<pad> {target}", f"{target} </s>", why)


def _gpt2(text: str) -> Example:
    rest = text[words(text)[0].end :].strip()
    return Example(
        GPT2.name,
        text,
        None,
        rest,
        mark("It predicts each next word from the words before it; in training, at every position at once."),
    )


def _pegasus(text: str) -> Example:
    """The sentence that shares most words with the others (F1 instead of ROUGE-1) is removed."""
    clean, spans = words(text), sentences(text)
    why = mark(
        "It predicts a whole sentence, the one that shares most words with the others. The text needs two or more."
    )
    if len(spans) < 2:
        return Example(PEGASUS.name, text, "<pad>", "", why)
    bags = [{word.text.lower() for word in clean[start:stop] if word.text[0].isalnum()} for start, stop in spans]
    scores = [_f1(bag, set().union(*bags[:index], *bags[index + 1 :])) for index, bag in enumerate(bags)]
    start, stop = spans[int(np.argmax(scores))]
    left, right = clean[start].start, clean[stop - 1].end
    taken = text[left:right]
    return Example(PEGASUS.name, f"{text[:left]}<mask_1>{text[right:]} </s>", f"<pad> {taken}", f"{taken} </s>", why)


def _f1(one: set[str], rest: set[str]) -> float:
    return 2 * len(one & rest) / (len(one) + len(rest)) if one or rest else 0.0


def _spans(count: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Spans of about SPAN words, T5_RATE of all words, at least one word, never adjacent."""
    budget = max(1, round(count * T5_RATE))
    number = max(1, round(budget / SPAN))
    lengths = [budget // number + (place < budget % number) for place in range(number)]
    free = count - budget  # words that stay, and at least one between two spans
    number = min(number, free + 1)
    starts = sorted(int(place) for place in random.choice(free + 1, size=number, replace=False))
    spans, before = [], 0
    for gap, length in zip(starts, lengths[:number], strict=True):
        spans.append((gap + before, gap + before + length))
        before += length
    return spans


def _joined(noised: Noised, seen: list[str]) -> str:
    """The text with these words instead of the clean ones and the same spaces."""
    return "".join(word.space + text for word, text in zip(noised.clean, seen, strict=True)).strip()
