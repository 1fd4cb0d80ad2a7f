"""Replacements for a token of a record: the model's own predictions, or similar tokens, whole words first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch

from bartviz.analysis.edits import Part
from bartviz.callbacks import never
from bartviz.errors import SettingError, TextError
from bartviz.experiments.edits import token_id, tokens_of
from bartviz.experiments.replay import Replay, SideBySide
from bartviz.experiments.similar_tokens import Found, alike, named
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.text.tokens import Tokens

MOST = 12


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


@torch_defaults()
def suggestions(model: Model, record: Record, position: int, *, part: Part = "source") -> tuple[Suggestion, ...]:
    """Replacements for the token at a position, most likely first, without the current token.

    If the model itself predicts there (candidates of a step; a masked language model with the position masked), its
    predictions; otherwise the tokens with the most similar embeddings (cosine). For a whole word, pieces that are not
    words are left out as long as enough English or German words remain, and of similar ones those of another language
    than the text. Raises SettingError.
    """
    old = tokens_of(record, part)
    if not 0 <= position < len(old):
        raise SettingError(
            later("There is no position {position}: choose 0 to {last}.", position=position, last=len(old) - 1)
        )
    current = int(old.ids[position])
    candidates = _by_step(record, part, position) or _by_mask(model, record, position, part) or alike(model, current)
    offered = named(model, candidates, old, position)
    return tuple(
        Suggestion(token, name, value, why, _typed(model, token, name, old, position, part))
        for token, name, value, why in offered[:MOST]
    )


@torch_defaults()
@torch.inference_mode()
def telling(
    model: Model,
    record: Record,
    position: int,
    offered: Sequence[Suggestion],
    *,
    part: Part = "source",
    cancelled: Callable[[], bool] = never,
) -> Suggestion | None:
    """The first suggestion with which the likeliest token of any scored row is another one; if there is none, the one
    with the largest divergence of any row. None without suggestions. Raises Cancelled.
    """
    replay = Replay(model, record)
    rows = torch.from_numpy(replay.scored()[0].copy())
    old = tokens_of(record, part)
    was = replay.run(SideBySide(cancelled=cancelled)).logits
    if was is None or not offered:
        return next(iter(offered), None)
    before, moved = was[0, rows].log_softmax(-1), []  # (T, V)
    for suggestion in offered:
        ids = torch.from_numpy(old.ids.copy())[None]
        ids[0, position] = suggestion.token_id
        tape, target = SideBySide(cancelled=cancelled), part == "target"
        now = replay.run(tape, source=None if target else ids, target=ids if target else None).logits
        assert now is not None
        after = now[0, rows].log_softmax(-1)
        if bool((after.argmax(-1) != before.argmax(-1)).any()):
            return suggestion
        moved.append(float((before.exp() * (before - after)).sum(-1).max()))
    return offered[moved.index(max(moved))]


def _typed(model: Model, token: int, name: str, old: Tokens, position: int, part: Part) -> str:
    with suppress(TextError, SettingError):
        if token_id(model, name, old, position, part=part) == token:
            return name
    return f"#{token}"


def _by_step(record: Record, part: Part, position: int) -> list[Found]:
    """The candidates of the step that chose this token."""
    if part == "source" and record.encoder is not None:
        return []
    step = next((step for step in record.steps if step.row == position - 1), None)
    return [] if step is None else [(one.token_id, one.probability, "probability") for one in step.candidates]


@torch.inference_mode()
def _by_mask(model: Model, record: Record, position: int, part: Part) -> list[Found]:
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
