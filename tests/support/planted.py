"""Networks whose heads do one thing by construction, and networks with random heads.

A BART whose states are [the token | its position | the token before it], one-hot each: queries and keys pick what a
head compares, and the first head of the decoder writes the token before into the last part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from transformers import BartConfig, BartForConditionalGeneration

import bartviz
from bartviz.models.model import Model
from benchmarks.subjects import tokenizer

SPECIAL, WORDS, NUMBERS, POSITIONS, HEADS, WIDTH = 5, 24, 4, 32, 2, 72
KINDS = 8  # words of the first kind, and of the second
BROAD = 3  # tokens on each side of a broad head
VOCABULARY = SPECIAL + WORDS + NUMBERS
STATE = HEADS * WIDTH
TOKEN, PLACE, BEFORE = 0, VOCABULARY, VOCABULARY + POSITIONS  # where the parts of a state begin
ENCODER = ("previous", "next", "same", "first", "itself")
STEPS = {
    "previous": 1,
    "next": -1,
    "itself": 0,
    "three": 3,
    "fourteen": 14,
    "fifteen": 15,
}  # positions back, whatever is there
Heads = Mapping[str, tuple[str, str]]  # of "encoder 0", "encoder 1", "decoder 0", "decoder 1", "cross 0", "cross 1"


def shift(seed: int) -> int:
    """How many words after a word its translation is; after the last comes the first."""
    return 1 + seed % (WORDS - 1)


def translation(seed: int) -> np.ndarray:
    """(VOCABULARY,) the id of each token's translation; special tokens and numbers are their own, no word is."""
    words = (SPECIAL + (word + shift(seed)) % WORDS for word in range(WORDS))
    return np.array([*range(SPECIAL), *words, *range(SPECIAL + WORDS, VOCABULARY)])


def written(ids: Iterable[int]) -> str:
    """The text of these tokens."""
    return " ".join(str(one) if one >= SPECIAL + WORDS else f"w{one}" for one in ids)


def planted(heads: Heads, seed: int) -> Model:
    """The network with these heads. The first head of "decoder 0" is "previous": "induction" reads what it writes; so
    does "beside" in cross-attention, where the first head of "encoder 0" is."""
    network = _network(seed)
    generator = torch.Generator().manual_seed(seed)
    encoder, decoder = network.model.encoder, network.model.decoder
    sites = {
        "encoder 0": encoder.layers[0].self_attn,
        "encoder 1": encoder.layers[1].self_attn,
        "decoder 0": decoder.layers[0].self_attn,
        "decoder 1": decoder.layers[1].self_attn,
        "cross 0": decoder.layers[0].encoder_attn,
        "cross 1": decoder.layers[1].encoder_attn,
    }
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for norm in (module for module in network.modules() if isinstance(module, nn.LayerNorm)):
            norm.weight.fill_(1.0)
        network.model.shared.weight[:, :VOCABULARY] = torch.eye(VOCABULARY)
        for stack in (encoder, decoder):
            stack.embed_positions.weight[2:, PLACE:BEFORE] = torch.eye(POSITIONS)
        for site, names in heads.items():
            for head, name in enumerate(names):
                rows = slice(head * WIDTH, (head + 1) * WIDTH)
                turn = torch.linalg.qr(torch.randn(WIDTH, WIDTH, generator=generator))[0]
                query, key = _pair(name, seed)
                sites[site].q_proj.weight[rows] = turn @ query
                sites[site].k_proj.weight[rows] = turn @ key
        copies = [decoder, encoder] if "beside" in heads["cross 0"] else [decoder]
        for copy in (stack.layers[0].self_attn for stack in copies):
            copy.v_proj.weight[:VOCABULARY, :VOCABULARY] = torch.eye(VOCABULARY)
            copy.out_proj.weight[BEFORE : BEFORE + VOCABULARY, :VOCABULARY] = torch.eye(VOCABULARY)
    return bartviz.wrap(network, tokenizer(VOCABULARY, NUMBERS))


def random(seed: int, spread: float = 0.08) -> Model:
    """The same architecture with random matrices."""
    network = _network(seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim == 2:
                parameter.normal_(0, spread, generator=generator)
    return bartviz.wrap(network, tokenizer(VOCABULARY, NUMBERS))


def _network(seed: int) -> BartForConditionalGeneration:
    torch.manual_seed(seed)
    config = BartConfig(
        vocab_size=VOCABULARY,
        d_model=STATE,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
        max_position_embeddings=POSITIONS,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
    )
    return BartForConditionalGeneration(config).eval()


def _pair(name: str, seed: int) -> tuple[Tensor, Tensor]:
    """The matrices (WIDTH, STATE) of queries and keys; a match is worth about 30 before the softmax."""
    query, key = torch.zeros(WIDTH, STATE), torch.zeros(WIDTH, STATE)
    tokens, places = torch.eye(VOCABULARY), torch.eye(POSITIONS)
    words = torch.diag((torch.arange(VOCABULARY) >= SPECIAL).float())
    if name in STEPS:
        step = STEPS[name]
        query[:POSITIONS, PLACE:BEFORE] = places
        key[:POSITIONS, PLACE:BEFORE] = places.roll(step, 0)
    elif name == "broad":  # evenly at so many tokens on each side
        query[:POSITIONS, PLACE:BEFORE] = places
        for step in range(1, BROAD + 1):
            key[:POSITIONS, PLACE:BEFORE] += places.roll(step, 0) + places.roll(-step, 0)
    elif name == "first":
        query[0, PLACE:BEFORE] = 1.0
        query[0, TOKEN:PLACE] = 1.0
        key[0, PLACE] = 1.0
    elif name == "same":
        query[:VOCABULARY, TOKEN:PLACE] = words
        key[:VOCABULARY, TOKEN:PLACE] = words
        query[VOCABULARY : VOCABULARY + POSITIONS, PLACE:BEFORE] = places
        key[VOCABULARY : VOCABULARY + POSITIONS, PLACE:BEFORE] = -2 * places
    elif name == "copy":  # from a number to the same one, elsewhere
        numbers = torch.diag((torch.arange(VOCABULARY) >= SPECIAL + WORDS).float())
        query[:VOCABULARY, TOKEN:PLACE] = numbers
        key[:VOCABULARY, TOKEN:PLACE] = numbers
    elif name == "induction":
        query[:VOCABULARY, TOKEN:PLACE] = tokens
        key[:VOCABULARY, BEFORE : BEFORE + VOCABULARY] = tokens
    elif name == "delimiter":
        query[0, TOKEN:PLACE] = 1.0
        key[0, :SPECIAL] = 1.0
    elif name == "role":  # from words of one kind to those of another
        query[0, SPECIAL : SPECIAL + KINDS] = 1.0
        key[0, SPECIAL + KINDS : SPECIAL + 2 * KINDS] = 1.0
    elif name == "beside":  # the token after the source of the word that was read
        query[:VOCABULARY, TOKEN:PLACE] = tokens
        key[torch.from_numpy(translation(seed)), BEFORE : BEFORE + VOCABULARY] = tokens
    elif name == "alignment":  # a row finds the source of the word that it has read
        query[:VOCABULARY, TOKEN:PLACE] = tokens
        key[torch.from_numpy(translation(seed)), :VOCABULARY] = tokens
    return 2.0 * query, 2.0 * key
