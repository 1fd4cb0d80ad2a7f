"""Replacements for a token of a record: the model's own predictions, or similar tokens, whole words first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import torch

from bartviz.analysis.edits import Part
from bartviz.errors import SettingError, TextError
from bartviz.experiments.edits import alike, token_id, tokens_of
from bartviz.experiments.replay import Replay, SideBySide
from bartviz.families.catalogue import EMBEDDED
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.text import tokenize
from bartviz.text.labels import CONTINUES
from bartviz.text.tokens import Tokens

MOST = 12
FEW = 3  # with fewer words among the candidates (another language, a rare word), pieces are offered too
Found = tuple[int, float, str]  # token, probability or similarity, and which of the two


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A possible replacement: its label at that position, and its probability or similarity, 0..1.

    ``typed`` is what a user types for it: its text, or ``#id`` if the text would mean another token.
    """

    token_id: int
    label: str
    value: float
    why: str
    typed: str


@cache
def words() -> frozenset[str]:
    """English and German words, spelled as in the training texts of the embedded models."""
    return frozenset((EMBEDDED / "words.txt").read_text(encoding="utf-8").split())


@torch_defaults()
def suggestions(model: Model, record: Record, position: int, *, part: Part = "source") -> tuple[Suggestion, ...]:
    """Replacements for the token at a position, most likely first, without the current token.

    If the model itself predicts there (candidates of a step; a masked language model with the position masked), its
    predictions; otherwise the tokens with the most similar embeddings (cosine). For a whole word, pieces that are not
    words are left out as long as enough English or German words remain. Raises SettingError.
    """
    old = tokens_of(record, part)
    if not 0 <= position < len(old):
        raise SettingError(
            later("There is no position {position}: choose 0 to {last}.", position=position, last=len(old) - 1)
        )
    current = int(old.ids[position])
    candidates = _by_step(record, part, position) or _by_mask(model, record, position, part) or alike(model, current)
    offered = list(_named(model, candidates, old, position))
    whole = [(token, name, value, why) for token, name, value, why in offered if name in words()]
    if is_whole(old, position) and len(whole) >= FEW:
        offered = whole
    return tuple(
        Suggestion(token, name, value, why, _typed(model, token, name, old, position, part))
        for token, name, value, why in offered[:MOST]
    )


def is_whole(old: Tokens, position: int) -> bool:
    """Whether a token is a whole word."""
    word = old.words[position]
    return word is not None and sum(other == word for other in old.words) == 1


def _named(model: Model, found: Iterable[Found], old: Tokens, position: int) -> Iterator[tuple[int, str, float, str]]:
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


def _typed(model: Model, token: int, name: str, old: Tokens, position: int, part: Part) -> str:
    with suppress(TextError, SettingError):
        if token_id(model, name, old, position, part=part) == token:
            return name
    return f"#{token}"


def _by_step(record: Record, part: Part, position: int) -> list[tuple[int, float, str]]:
    """The candidates of the step that chose this token."""
    if part == "source" and record.encoder is not None:
        return []
    step = next((step for step in record.steps if step.row == position - 1), None)
    return [] if step is None else [(one.token_id, one.probability, "probability") for one in step.candidates]


@torch.inference_mode()
def _by_mask(model: Model, record: Record, position: int, part: Part) -> list[tuple[int, float, str]]:
    """A masked language model's predictions for the position, with a mask there."""
    mask = model.tokenizer.mask_token_id
    if part == "target" or model.info.kind != "encoder" or mask is None:
        return []
    replay = Replay(model, record)
    ids = replay.source.clone()
    ids[0, position] = mask
    logits = replay.run(SideBySide(), source=ids).logits
    if logits is None:
        return []
    best = logits[0, position].softmax(-1).topk(min(8 * MOST, model.info.vocabulary))
    return [(i, p, "probability") for i, p in zip(best.indices.tolist(), best.values.tolist(), strict=True)]
