"""Networks whose cause is planted: each word that they write is copied from one position of the source."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import torch

import bartviz
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import planted
from tests.support.planted import SPECIAL, TOKEN, VOCABULARY, WORDS, shift, translation

LENGTH = 6  # of the source


SEEDS = [seed for seed in range(200) if WORDS // gcd(WORDS, shift(seed)) > LENGTH][:100]
"""100 networks and records in which no word comes twice, so that a written word has one cause."""


def copier(seed: int) -> Model:
    """A network that writes the source's token: cross-attention finds the word of which the decoder has just read the
    translation, and adds it to the state, from which the output is read."""
    model = planted.planted({"cross 0": ("alignment", "alignment")}, seed)
    network: Any = model.network
    cross = network.model.decoder.layers[0].encoder_attn
    with torch.no_grad():
        cross.v_proj.weight[:VOCABULARY, TOKEN : TOKEN + VOCABULARY] = torch.eye(VOCABULARY)
        cross.out_proj.weight[:VOCABULARY, :VOCABULARY] = 3 * torch.eye(VOCABULARY)
    return bartviz.wrap(network, model.tokenizer)


def permuted(model: Model, seed: int) -> tuple[Record, list[int]]:
    """A record whose output is a chain, each word of which has the one before it as its translation, and whose source
    has the same words in another order; and the chain."""
    random = np.random.default_rng(seed)
    chain = [SPECIAL + int(random.integers(WORDS))]
    for _ in range(LENGTH):
        chain += np.flatnonzero(translation(seed) == chain[-1]).tolist()
    text, target = (
        " ".join(model.tokenizer.convert_ids_to_tokens(ids)) for ids in (random.permutation(chain[1:]).tolist(), chain)
    )
    return bartviz.capture(model, text, target=target), chain
