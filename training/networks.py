"""The networks, of transformers' own classes, and how they are written to the folder that ships."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForPreTraining,
    GenerationConfig,
)

from bartviz.models import weights
from bartviz.models.deadline import DEADLINE, Job
from bartviz.models.int8 import write as write_int8
from training.vocabulary import POSITIONS, VOCABULARY

BOS, PAD, EOS = 0, 1, 2
WORDPIECES = VOCABULARY
HIDDEN = 512  # width of BART's feed-forward parts
WEIGHTS = "model.safetensors"
LEFT_BY_USE = (
    "max_length",
    "stride",
    "truncation_side",
    "truncation_strategy",
    "pad_to_multiple_of",
    "pad_token_type_id",
    "padding_side",
    "is_local",
    "local_files_only",
)


def bart(vocabulary: int, hidden: int = HIDDEN) -> Any:
    """BART in small: 4 + 4 layers of 8 heads, few enough to train in an hour, enough to compare (7.4M parameters)."""
    config = BartConfig(
        vocab_size=vocabulary,
        d_model=256,
        encoder_layers=4,
        decoder_layers=4,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=hidden,
        decoder_ffn_dim=hidden,
        max_position_embeddings=POSITIONS,
        activation_function="gelu",
        dropout=0.0,  # until training sets it
        attention_dropout=0.0,
        activation_dropout=0.0,
        scale_embedding=True,
        bos_token_id=BOS,
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=EOS,
        forced_eos_token_id=None,
    )
    # the eager kernel's backward is the fast one in bfloat16 on a CPU
    config._attn_implementation = "sdpa" if torch.cuda.is_available() else "eager"
    model = BartForConditionalGeneration(config)
    _begin(model)
    return model


def begin_with(model: Any, weights: Mapping[str, Tensor]) -> None:
    """Take the weights of a trained network; what is wider here goes on from them.

    New units of the feed-forward parts read at random and write nothing yet, so that at first the network computes what
    the trained one did (Chen, Goodfellow and Shlens 2016, Net2Net, section 2).
    """
    own = model.state_dict()
    for name, given in weights.items():
        grown = own[name]
        if name.endswith("fc2.weight"):
            grown[:, given.shape[1] :] = 0.0
        grown[tuple(slice(size) for size in given.shape)] = given
    model.load_state_dict(own)
    model.tie_weights()


def _begin(model: Any) -> None:
    """Start weights that learn fast: matrices and embeddings of about unit gain, positions as waves."""
    width = model.config.d_model
    _even(model.model)
    torch.nn.init.normal_(model.model.shared.weight, std=width**-0.5)
    for stack in (model.model.encoder, model.model.decoder):
        table = stack.embed_positions.weight  # (P + 2, D): BART keeps two rows that it does not use
        with torch.no_grad():
            table.copy_(0.5 * _waves(*table.shape))


def _even(model: Any) -> None:
    """Matrices that keep about half of the variance of what they are given, whatever their size."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.xavier_uniform_(module.weight, gain=0.7)


def _waves(count: int, width: int) -> Tensor:
    """Sines and cosines of positions (Vaswani et al. 2017, section 3.5): (count, width)."""
    speed = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))  # (D / 2,)
    angle = torch.arange(count)[:, None] * speed  # (P, D / 2)
    return torch.cat([angle.sin(), angle.cos()], 1)


def bert(vocabulary: int) -> Any:
    """BERT in small, with both heads of its pre-training (3.4M parameters)."""
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=192,
        num_hidden_layers=4,
        num_attention_heads=6,
        intermediate_size=768,
        max_position_embeddings=POSITIONS,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
    )
    config._attn_implementation = "eager"
    model = BertForPreTraining(config)
    _even(model.bert)
    embeddings = model.bert.embeddings
    torch.nn.init.normal_(embeddings.word_embeddings.weight, std=config.hidden_size**-0.5)
    with torch.no_grad():
        table = embeddings.position_embeddings.weight  # (P, D)
        table.copy_(0.5 * config.hidden_size**-0.5 * _waves(*table.shape))
    return model


def generation() -> GenerationConfig:
    """Greedy decoding from `</s>`, with the first token `<s>` forced, as BART was trained."""
    return GenerationConfig(
        decoder_start_token_id=EOS,
        bos_token_id=BOS,
        eos_token_id=EOS,
        pad_token_id=PAD,
        forced_bos_token_id=BOS,
        forced_eos_token_id=EOS,
        max_length=POSITIONS,
        num_beams=1,
    )


def export(model: Any, tokenizer: Any, out: Path, *, int8: bool = False) -> None:
    """Write weights in float16 (tied ones once), tokenizer and configurations; loading gives float32.

    int8: matrices as int8 with a scale for each row (`bartviz.models.int8`), which takes half of that.
    """
    out.mkdir(parents=True, exist_ok=True)
    small = type(model)(model.config)
    small.load_state_dict(model.state_dict())
    if hasattr(model.config, "decoder_start_token_id") and model.config.is_encoder_decoder:
        small.generation_config = generation()
    (small if int8 else small.half()).save_pretrained(out)
    if int8:
        write_int8(out / WEIGHTS, out / WEIGHTS)
    save_tokenizer(tokenizer, out)
    _set(out / "config.json", dtype="float32")


def tensors(folder: Path) -> dict[str, Tensor]:
    """The weights that `export` wrote, as float32."""
    return dict(weights.read([folder / WEIGHTS], Job(DEADLINE)).tensors)


def opened(kind: Any, folder: Path) -> Any:
    """The network of this class that `export` wrote, with the attention that returns its weights."""
    config = AutoConfig.from_pretrained(folder)
    model = kind.from_pretrained(None, config=config, state_dict=tensors(folder), attn_implementation="eager")
    if model.can_generate():
        model.generation_config = GenerationConfig.from_pretrained(folder)
    return model


def save_tokenizer(tokenizer: Any, out: Path) -> None:
    """Write the tokenizer without what training left in it: it must neither cut nor pad unless it is asked to."""
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    for name in LEFT_BY_USE:
        tokenizer.init_kwargs.pop(name, None)
    tokenizer.save_pretrained(out)


def _set(path: Path, **changes: object) -> None:
    values = json.loads(path.read_text(encoding="utf-8"))
    values.update(changes)
    path.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n", encoding="utf-8")
