"""The causal experiment: change one token, run again, and measure which positions are affected.

Both runs have the same shape and use the same kernels, so a position that cannot see the change comes out bit-equal:
only there is the effect exactly 0. (Runs of different lengths, or with a cache, would differ in the last bits.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis.edits import Edit, Part, Reach, changed_rows
from bartviz.analysis.measures import padding
from bartviz.arrays import Floats
from bartviz.callbacks import never
from bartviz.errors import SettingError, TextError, choices
from bartviz.experiments.replay import Replay, SideBySide, renamed
from bartviz.experiments.similar_tokens import similar
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.run.prepare import prepare
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape, recording
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens

_NUMBER = re.compile(r"#(\d{1,9})")


@torch_defaults()
def edit(
    model: Model,
    record: Record,
    position: int,
    token: str | int,
    *,
    part: Part = "source",
    cancelled: Callable[[], bool] = never,
) -> Edit:
    """Replace one token of a record and run everything else unchanged, target included (teacher forcing).

    position: of the source, or with ``part="target"`` of the decoder's inputs. token: an id, ``"#id"``, or a text that
    is one token of the vocabulary. Raises SettingError for a position that does not exist, TextError for a text of
    several tokens, Cancelled.

    >>> found = bartviz.edit(model, record, 6, "house")
    >>> found.hidden["encoder"][0].nonzero()[0].tolist()  # embeddings: only the new token differs
    [6]
    """
    replay = Replay(model, record)
    old = tokens_of(record, part)
    if not 0 <= position < len(old):
        raise SettingError(
            later("There is no position {position}: choose 0 to {last}.", position=position, last=len(old) - 1)
        )
    new_id = token_id(model, token, old, position, part=part)
    ids = old.ids.copy()
    ids[position] = new_id
    given = torch.from_numpy(ids)[None]  # (1, n) or (1, m)
    target = part == "target"
    tapes = Tape(cancelled=cancelled), Tape(cancelled=cancelled)
    was = replay.run(tapes[0])
    now = replay.run(tapes[1], source=None if target else given, target=given if target else None)
    named = renamed(model, old, ids.tolist(), position)
    first, changed = replay.kept(tapes[0], was), replay.edited(tapes[1], now, named, part, position)
    rows = {
        kind: changed_rows(first.attention(kind), changed.attention(kind), cancelled=cancelled) for kind in record.kinds
    }
    return Edit(
        record,
        part,
        position,
        old.labels[position],
        named.labels[position],
        new_id,
        {kind: _relative(was.hidden[kind], now.hidden[kind]) for kind in was.hidden},
        {kind: distance for kind, (distance, _) in rows.items()},
        {kind: same for kind, (_, same) in rows.items()},
        *replay.compared(was, now),
        changed,
    )


def tokens_of(record: Record, part: Part) -> Tokens:
    """The tokens that can be changed: the source's, or the decoder's inputs. Raises SettingError."""
    if part == "target" and record.cross is None:
        raise SettingError(later('Only an encoder-decoder has a target as well as a source: choose part="source".'))
    if part not in ("source", "target"):
        raise SettingError(later("Only a token of the {parts} can be changed.", parts=choices(("source", "target"))))
    return record.source if part == "source" else record.attention("decoder").query


def token_id(model: Model, token: str | int, old: Tokens, position: int, *, part: Part = "source") -> int:
    """The id of a replacement: an id, ``#id``, a text (which begins a word if the old token did), or a vocabulary
    piece.

    Raises SettingError, TextError.
    """
    match = _NUMBER.fullmatch(token) if isinstance(token, str) else None
    number = int(match[1]) if match else token if isinstance(token, int) else None
    if number is not None:
        if not 0 <= number < model.info.vocabulary:
            raise SettingError(
                later(
                    "Token {number} is not in the vocabulary: ids go from 0 to {last}.",
                    number=number,
                    last=model.info.vocabulary - 1,
                )
            )
        return number
    text = str(token)
    if not text.strip():
        raise TextError(later("There is no replacement. Type one token, or choose one of the suggestions."))
    first, second = (" ", "") if not old.joined[position] and _spaced(old, position) else ("", " ")
    counts = []
    for variant in (first + text.strip(), second + text.strip()):
        inside = _inside(model, variant, part)
        if len(inside) == 1:
            return inside[0]
        counts.append(len(inside))
    piece = model.tokenizer.get_vocab().get(text.strip())
    if piece is not None and piece < model.info.vocabulary:
        return int(piece)
    raise TextError(
        later(
            "What you typed is {count} tokens for this model, but one token can only be replaced by one. "
            "Type a shorter word, or choose one of the suggestions.",
            count=counts[0],
        )
    )


@torch_defaults()
def reach(
    model: Model,
    text: str | Record,
    position: int,
    token: str | int | None = None,
    *,
    window: int = 2,
    cancelled: Callable[[], bool] = never,
) -> Reach:
    """How far a changed token affects the encoder (GPT-2: its decoder), layer by layer: with full attention, with a
    window of ``window`` positions on each side, and with a causal mask, on the same weights.

    text: or a record, whose source is used. token: as in ``edit``; None uses the token with the most similar embedding.
    Raises TextError, SettingError, Cancelled.

    >>> found = bartviz.reach(model, record, 1, window=2)
    >>> found.first_layer("window").tolist()  # of each position: the first layer that the change reaches
    [1, 0, 1, 1, 2, 2, 3, 3, 4]
    """
    expect_model(model)
    old = _unpadded(text) if isinstance(text, Record) else prepare(model, text).tokens
    n = len(old)
    if not 0 <= position < n:
        raise SettingError(later("There is no position {position}: choose 0 to {last}.", position=position, last=n - 1))
    if not 1 <= window <= n:
        raise SettingError(later("A window must reach 1 to {count} positions on each side.", count=n))
    ids = torch.from_numpy(old.ids.copy())[None]  # (1, n)
    if token is None:
        token = _similar_token(model, old, position)
    new = token_id(model, token, old, position)
    other = ids.clone()
    other[0, position] = new
    away = np.subtract.outer(np.arange(n), np.arange(n))  # (n, n) query - key
    masks = {"bidirectional": np.abs(away) <= n, "window": np.abs(away) <= window, "causal": away >= 0}
    changes = {}
    for name, mask in masks.items():
        was, now = (_states(model, old, given, torch.from_numpy(mask)[None, None], cancelled) for given in (ids, other))
        changes[name] = _relative(was, now)
    kind: Kind = "decoder" if model.info.kind == "decoder" else "encoder"
    named = renamed(model, old, other[0].tolist(), position)
    return Reach(kind, old, position, old.labels[position], named.labels[position], window, changes)


def _unpadded(record: Record) -> Tokens:
    """The source without the padding of its batch, which neither affects nor is affected by any token."""
    return record.source.take(slice(0, int((~padding(record, record.kinds[0])).sum())))


def _similar_token(model: Model, old: Tokens, position: int) -> int:
    """The most similar token with another label, so that a reader sees the change: a word in place of a word."""
    own, name = int(old.ids[position]), old.labels[position].casefold()
    others = (token for token, label, *_rest in similar(model, old, position) if label.casefold() != name)
    return next(others, (own + 1) % model.info.vocabulary)


@torch.inference_mode()
def _states(model: Model, old: Tokens, ids: Tensor, mask: Tensor, cancelled: Callable[[], bool]) -> tuple[Tensor, ...]:
    """Hidden states of the encoder (or the only stack) of ids (1, n) in the segments of ``old``, under a mask
    (1, 1, n, n), True where a row may attend."""
    network = model.network
    stack: Any = network.get_encoder() if model.info.kind == "encoder-decoder" else network.base_model
    more: dict[str, Any] = {} if model.info.kind != "decoder" else {"use_cache": False}
    if model.info.kind == "encoder" and getattr(model.config, "type_vocab_size", 0) > 1:
        more["token_type_ids"] = torch.from_numpy(old.segments.copy())[None]
    with recording(SideBySide(cancelled=cancelled)), guarded(run_failed()):
        out = stack(input_ids=ids, attention_mask=mask, output_hidden_states=True, **more)
    return tuple(out.hidden_states)


def _relative(before: tuple[Tensor, ...], after: tuple[Tensor, ...]) -> Floats:
    """(L + 1, n) |h' - h| / |h|, exactly 0 if and only if all numbers are bit-equal."""
    lines = []
    for was, now in zip(before, after, strict=True):
        moved = (now[0].double() - was[0].double()).norm(dim=-1)
        change = (moved / was[0].double().norm(dim=-1).clamp(min=1e-30)).float()  # (n,)
        least = torch.finfo(torch.float32).tiny
        lines.append(torch.where((was[0] == now[0]).all(-1), 0.0, change.clamp(min=least)).numpy())
    return np.stack(lines)


def _inside(model: Model, text: str, part: Part) -> list[int]:
    """The ids of a text without the special tokens around it and without a leading token that is only a space."""
    encoded = tokenize.encode(model.tokenizer, text, target=part == "target", allow_special=True)
    return [int(i) for i, span in zip(encoded.ids, encoded.spans, strict=True) if span is not None]


def _spaced(old: Tokens, position: int) -> bool:
    """Whether the piece marks a space before the token; the first word of a text may have none."""
    return old.pieces[position][:1] in ("Ġ", "▁", " ")
