"""Tokens that are like another one: by their embeddings, whole words of the same language first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Literal

import torch
from torch import Tensor

from bartviz.families.catalogue import EMBEDDED
from bartviz.models.model import Model
from bartviz.text import tokenize
from bartviz.text.labels import CONTINUES
from bartviz.text.tokens import Tokens

LOOKED_AT = 600  # most similar tokens considered
FEW = 3  # with fewer words among the candidates (another language, a rare word), pieces are offered too
Listed = Literal["en", "de"]
LANGUAGES: tuple[Listed, ...] = ("en", "de")
Found = tuple[int, float, str]  # token, probability or similarity, and which of the two
Named = tuple[int, str, float, str]  # the same with its label at a place


@cache
def words(language: Listed | None = None) -> frozenset[str]:
    """English or German words, or both, spelled as in the training texts of the embedded models."""
    if language is None:
        return frozenset().union(*map(words, LANGUAGES))
    return frozenset((EMBEDDED / "words" / f"{language}.txt").read_text(encoding="utf-8").split())


def language(tokens: Tokens) -> Listed | None:
    """The language of a text, by its words that only one of the two lists has; None if both have equally many."""
    labels = {label for place, label in enumerate(tokens.labels) if is_whole(tokens, place)}
    counts = [len(labels & words(one) - words(other)) for one, other in (LANGUAGES, LANGUAGES[::-1])]
    return None if counts[0] == counts[1] else LANGUAGES[counts[1] > counts[0]]


def is_whole(tokens: Tokens, position: int) -> bool:
    """Whether a token is a whole word."""
    word = tokens.words[position]
    return word is not None and sum(other == word for other in tokens.words) == 1


@torch.inference_mode()
def alike(model: Model, own: int) -> list[Found]:
    """The tokens with the most similar input embeddings: id, cosine, "likeness", most similar first.

    From each embedding the mean of all is subtracted: it is in every one, and in those of rare tokens, which training
    has hardly moved, there is little else, so that they would be like everything (Mu and Viswanath 2018).
    """
    table: Tensor = model.network.get_input_embeddings().weight  # (V, w)
    mean = table.mean(dim=0)  # (w,)
    toward = table[own] - mean
    along = table @ toward - mean @ toward  # (V,) products without a second table
    lengths = (table.square().sum(dim=1) - 2 * (table @ mean) + mean @ mean).clamp(min=1e-12).sqrt()
    likeness = along / (lengths * toward.norm().clamp(min=1e-6))
    best = likeness.topk(min(LOOKED_AT, len(likeness)))
    return [(i, v, "likeness") for i, v in zip(best.indices.tolist(), best.values.tolist(), strict=True)]


def named(model: Model, found: Iterable[Found], old: Tokens, position: int) -> list[Named]:
    """The candidates that fit a position, with their labels there; in place of a whole word, words.

    Of tokens that are alike, words of the text's language come alone as long as there are enough of them: a model of
    two languages has one vocabulary for both. A model's own candidates may be of either.
    """
    offered = list(_usable(model, found, old, position))
    if not is_whole(old, position):
        return offered
    known = language(old) if any(why == "likeness" for *_rest, why in offered) else None
    for listed in ([words(known)] if known else []) + [words()]:
        whole = [one for one in offered if one[1] in listed]
        if len(whole) >= FEW:
            return whole
    return offered


def similar(model: Model, old: Tokens, position: int) -> Sequence[Named]:
    """Tokens that are similar to the one at a position and fit there, most similar first."""
    return named(model, alike(model, int(old.ids[position])), old, position)


def _usable(model: Model, found: Iterable[Found], old: Tokens, position: int) -> Iterator[Named]:
    """The usable candidates with their labels at this position; each label once."""
    special = set(model.tokenizer.all_special_ids)
    before, seen = old.ids[:position].tolist(), {old.labels[position]}
    for token, value, why in found:
        if token == int(old.ids[position]) or token in special or token >= model.info.vocabulary:
            continue
        name = tokenize.label(model.tokenizer, token, before)
        if name.startswith(CONTINUES) != old.labels[position].startswith(CONTINUES):
            continue  # a continuation at the start of a word, or the reverse
        if any(sign.isalnum() for sign in name) and name not in seen:
            seen.add(name)
            yield token, name, value, why
