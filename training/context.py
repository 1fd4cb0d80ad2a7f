"""Does a sentence change what a BERT guesses in the next one? Pairs whose second sentence lacks a word of the first.

They are the project's own (`data/context.txt`) and for measuring only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from training import lists

FILE = "context.txt"
GAP = "____"


@dataclass(frozen=True)
class Case:
    """Two sentences, the second with a gap, and the word that fills it."""

    first: str
    second: str
    word: str


@dataclass(frozen=True)
class Guess:
    """The likeliest token for the gap without the first sentence and with it, and the word's probabilities."""

    alone: str
    together: str
    before: float
    after: float


def cases() -> list[Case]:
    """All pairs, in the order of the file."""
    return [case(line) for line in lists.lines(FILE)]


def case(line: str) -> Case:
    """The pair of a line. Raises ValueError if it is none."""
    parts = lists.fields(line)
    if len(parts) != 3 or parts[1].count(GAP) != 1 or parts[2] not in parts[0]:
        raise ValueError(f"Not a pair with a gap, and a word of the first sentence: {line}")
    return Case(*parts)


def guess(model: Any, tokenizer: Any, pair: Case) -> Guess:
    """What the model guesses. Raises ValueError if the word is not one token."""
    wanted = tokenizer(pair.word, add_special_tokens=False)["input_ids"]
    if len(wanted) != 1:
        raise ValueError(f"The word “{pair.word}” is not one token.")
    second = pair.second.replace(GAP, tokenizer.mask_token)
    alone, together = (_shares(model, tokenizer, texts) for texts in ([second], [pair.first, second]))
    names = [tokenizer.convert_ids_to_tokens(int(shares.argmax())) for shares in (alone, together)]
    return Guess(names[0], names[1], float(alone[wanted[0]]), float(together[wanted[0]]))


def counts(found: Sequence[tuple[Case, Guess]]) -> dict[str, int]:
    """How many gaps are filled rightly: without the first sentence, with it, and with it where not without it."""
    alone = [guess.alone == pair.word for pair, guess in found]
    together = [guess.together == pair.word for pair, guess in found]
    return {
        "right without the first sentence": sum(alone),
        "right with it": sum(together),
        "right with it, wrong without": sum(b and not a for a, b in zip(alone, together, strict=True)),
        "the word more probable with it": sum(guess.after > guess.before for _, guess in found),
    }


def _shares(model: Any, tokenizer: Any, texts: list[str]) -> torch.Tensor:
    """(V,) the probabilities of the masked token."""
    encoded = tokenizer(*texts, return_tensors="pt")
    with torch.no_grad():
        logits = model(**encoded).prediction_logits[0]
    return torch.softmax(logits[encoded["input_ids"][0] == tokenizer.mask_token_id][0], -1)
