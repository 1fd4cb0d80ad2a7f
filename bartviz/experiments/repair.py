"""Corrupt a text with one of BART's noise functions, and let a model repair it.

Noise is applied to the text, which is then tokenized again, as in training; accuracy and loss are computed as in
``training.sequence.score``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.denoising import HIDES, NOISE, Noised, hide
from bartviz.analysis.repair_columns import places, written_words
from bartviz.analysis.repairs import Repair, Score, score
from bartviz.callbacks import never, silent
from bartviz.errors import SettingError, TextError, choices
from bartviz.experiments.replay import Replay, SideBySide
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.run.forward import capture
from bartviz.run.generate import decode
from bartviz.run.prepare import prepare
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.text import clean as texts
from bartviz.text import tokenize

MOST_GUESSES = 20


@dataclass(frozen=True, slots=True)
class Guess:
    """The predictions of a masked language model for one mask: labels and probabilities 0..1, the likeliest first."""

    candidates: tuple[tuple[str, float], ...]


def repair(
    model: Model,
    text: str,
    noise: str = "text infilling",
    *,
    rate: float | None = None,
    seed: int = 0,
    hidden: Collection[int] | None = None,
    values: bool = False,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[int, int], None] = silent,
) -> Repair:
    """Corrupt ``text``, run it clean and corrupted with the clean text as target, and let the model generate.

    noise: a name of ``denoising.NOISE``; rate: share of the words, None for the function's own; seed: of the noise;
    hidden: the words that it loses, from 0, instead of any at random.
    A text longer than the model reads is truncated, and ``notices`` say so.
    Raises TextError, SettingError, BudgetError, Cancelled.
    """
    noised, notices = corrupt(model, text, noise, rate=rate, seed=seed, hidden=hidden)
    on_progress(0, 3)
    plain = capture(model, noised.source, target=noised.source, values=values, cancelled=cancelled)
    on_progress(1, 3)
    given = capture(model, noised.text, target=noised.source, values=values, allow_special=True, cancelled=cancelled)
    on_progress(2, 3)
    written = decode(model, noised.text, values=values, allow_special=True, cancelled=cancelled)
    columns = places(noised, written_words(written))
    return Repair(noised, plain, given, written, columns, score(given, noised), notices)


def corrupt(
    model: Model,
    text: str,
    noise: str,
    *,
    rate: float | None = None,
    seed: int = 0,
    hidden: Collection[int] | None = None,
) -> tuple[Noised, tuple[str, ...]]:
    """The corrupted text, short enough for the model, and notices of any changes. Raises TextError, SettingError."""
    _check(model, noise, rate)
    if hidden is not None and noise not in HIDES:
        raise SettingError(later("This noise hides no words: choose {names}.", names=choices(HIDES)))

    def damaged() -> Noised:
        if hidden is not None:
            return hide(clean, noise, hidden)
        return NOISE[noise](clean, np.random.default_rng(seed), rate)

    cleaned = texts.clean(text)
    prepared = prepare(model, cleaned.text, truncate="first")
    clean, limit = prepared.text.strip(), model.info.positions
    noised = damaged()
    while limit is not None and noised.text and _count(model, noised.text) > limit:  # masks were inserted
        clean = clean[: noised.clean[-max(1, len(noised.clean) // 20)].start].strip()
        noised = damaged()
    if not noised.clean:
        raise TextError(
            later("There is no word in this text that could be lost. Type a sentence, or choose an example.")
        )
    notices = prepared.notices
    if clean != prepared.text.strip():
        notices += (
            later(
                "Only its first {count:,} words are repaired: with the masks, the model cannot read more.",
                count=len(noised.clean),
            ),
        )
    return noised, (*cleaned.notices, *notices)


def _count(model: Model, text: str) -> int:
    return len(tokenize.encode(model.tokenizer, text, allow_special=True))


def _check(model: Model, noise: str, rate: float | None) -> None:
    if noise not in NOISE:
        raise SettingError(later("There is no such noise: choose {names}.", names=choices(NOISE)))
    if rate is not None and not 0 <= rate <= 1:
        raise SettingError(later("The share of the words must be between 0 and 1."))
    if model.info.kind != "encoder-decoder" or model.tokenizer.mask_token != "<mask>":
        raise SettingError(later("This model cannot repair a text: it needs a decoder and a <mask>. Choose a BART."))


def all_noises(
    model: Model,
    text: str,
    *,
    seed: int = 0,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[int, int], None] = silent,
) -> Mapping[str, Score]:
    """Each noise function at its own rate on the same text, teacher-forced. Raises as ``repair``."""
    scores = {}
    for number, name in enumerate(NOISE):
        on_progress(number, len(NOISE))
        noised, _ = corrupt(model, text, name, seed=seed)
        given = capture(model, noised.text, target=noised.source, allow_special=True, top_k=1, cancelled=cancelled)
        scores[name] = score(given, noised)
    return scores


@torch_defaults()
def guesses(model: Model, text: str, k: int = 5, *, cancelled: Callable[[], bool] = never) -> tuple[Guess, ...]:
    """The predictions of a masked language model for each ``<mask>`` of a text, given all the other words.

    A text that is too long is truncated: then there may be fewer guesses than masks.
    Raises TextError, SettingError, BudgetError, Cancelled.
    """
    mask = model.tokenizer.mask_token
    if model.info.kind != "encoder" or mask is None or not 1 <= k <= MOST_GUESSES:
        raise SettingError(
            later("Masks are filled by a model such as BERT, with 1 to {limit} guesses.", limit=MOST_GUESSES)
        )
    record = capture(model, text.replace("<mask>", mask), allow_special=True, truncate="first", cancelled=cancelled)
    return filled(model, record, k, cancelled=cancelled)


def filled(model: Model, record: Record, k: int = 5, *, cancelled: Callable[[], bool] = never) -> tuple[Guess, ...]:
    """The predictions of a masked language model for each mask of a record's text, in order.

    Raises SettingError for a record of another model, and for a model that does not predict tokens; Cancelled.
    """
    return _guesses(model, record, np.flatnonzero(record.source.ids == model.tokenizer.mask_token_id), k, cancelled)


def guessed(model: Model, record: Record, *, cancelled: Callable[[], bool] = never) -> tuple[tuple[str, float], ...]:
    """The likeliest token at every position of the text with its probability, special tokens included.

    Raises as ``filled``.
    """
    every = np.arange(len(record.source.ids))
    return tuple(guess.candidates[0] for guess in _guesses(model, record, every, 1, cancelled))


def _guesses(
    model: Model, record: Record, rows: NDArray[np.int64], k: int, cancelled: Callable[[], bool]
) -> tuple[Guess, ...]:
    logits = Replay(model, record).run(SideBySide(cancelled=cancelled)).logits  # (1, n, V)
    if logits is None:
        raise SettingError(
            later("This model does not predict tokens, so it cannot fill a mask. Choose a masked language model.")
        )
    filled = []
    for row in rows.tolist():
        best = logits[0, row].softmax(-1).topk(k)
        filled.append(
            Guess(
                tuple(
                    (tokenize.label(model.tokenizer, token), chance)
                    for token, chance in zip(best.indices.tolist(), best.values.tolist(), strict=True)
                )
            )
        )
    return tuple(filled)
