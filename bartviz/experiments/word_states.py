"""The states of one word in two texts, and how alike they are in each layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis.word_states import WordStates
from bartviz.analysis.words import word_groups, word_labels
from bartviz.callbacks import never
from bartviz.errors import TextError
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.run.memory_limit import refuse_run
from bartviz.run.prepare import prepare
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape, recording

MOST = 64  # words of a text that are paired with those of the other
FLOAT = 4


@torch_defaults()
@torch.inference_mode()
def word_states(
    model: Model, word: str, first: str, second: str, *, cancelled: Callable[[], bool] = never
) -> WordStates:
    """The states of ``word`` in two texts, by the encoder, or by the decoder of a model without one.

    Upper and lower case are the same word; of a word that a text has twice, its first is taken. Raises TextError for
    one that a text does not have, Cancelled.
    """
    expect_model(model)
    words, states = zip(*(_read(model, text, cancelled) for text in (first, second)), strict=True)
    places = [_place(word, labels) for labels in words]
    unit = [part / part.norm(dim=-1, keepdim=True).clamp(min=1e-12) for part in states]  # (L + 1, words, w) each
    cosines = torch.einsum("law,lbw->lab", *unit)  # (L + 1, words, words)
    other = np.array([[a.casefold() != b.casefold() for b in words[1]] for a in words[0]])
    other[places[0]], other[:, places[1]] = False, False
    return WordStates(
        word,
        (first, second),
        "decoder" if model.info.kind == "decoder" else "encoder",
        cosines[:, places[0], places[1]].numpy(),
        cosines[:, torch.from_numpy(other)].numpy(),
    )


def _read(model: Model, text: str, cancelled: Callable[[], bool]) -> tuple[list[str], Tensor]:
    """The words of a text that are no special tokens, and their states (L + 1, words, w) in double precision."""
    tokens = prepare(model, text).tokens
    depth = model.info.encoder_layers or model.info.decoder_layers
    refuse_run(FLOAT * (depth + 1) * len(tokens) * model.info.width)
    network = model.runner.get_encoder() if model.info.kind == "encoder-decoder" else model.runner
    ids = torch.from_numpy(tokens.ids.copy())[None].to(model.device)
    with recording(Tape(cancelled=cancelled)), guarded(run_failed()):
        out = network(input_ids=ids, output_hidden_states=True)
    hidden = torch.stack([state[0].cpu().double() for state in out.hidden_states])  # (L + 1, n, w)
    labels = word_labels(tokens, text)
    kept = [
        (label.strip(), list(group))
        for group, label in zip(word_groups(tokens), labels, strict=True)
        if not tokens.special[group[0]] and any(sign.isalnum() for sign in label)
    ]
    if len(kept) < 2:
        raise TextError(later("Each text needs two words or more, so that they can be compared."))
    kept = kept[:MOST]
    return [label for label, _ in kept], torch.stack([hidden[:, group].mean(dim=1) for _, group in kept], dim=1)


def _place(word: str, labels: list[str]) -> int:
    for place, label in enumerate(labels):
        if label.casefold() == word.strip().casefold():
            return place
    raise TextError(later("Both texts need the word that is compared, written the same way."))
