"""The embeddings that a network sums for each token before its first layer, read from its matrices, and their sum.

BERT: token + position + segment, then LayerNorm (ELECTRA and ALBERT then project to the model's width). RoBERTa counts
positions from its padding token's id on, BART from 2 on. Marian and Pegasus have sinusoidal positions. GPT-2 leaves
LayerNorm to its layers. T5 has token embeddings only: a bias on the scores encodes positions. So does Llama: queries
and keys are rotated by their position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bartviz.analysis.inputs import Inputs, Split, Stack
from bartviz.analysis.positions import Floats
from bartviz.callbacks import never
from bartviz.errors import SettingError
from bartviz.experiments.replay import Replay
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape
from bartviz.text import clean, tokenize
from bartviz.text.tokenize import encoder_of

TABLE = 512  # rows of a position table that are kept
_HOW = {
    "bytes": later("pieces of bytes (byte-level BPE)"),
    "prefix": later("pieces of words (WordPiece)"),
    "space": later("pieces that include their space (SentencePiece)"),
    "suffix": later("pieces that mark where a word ends"),
    "joiner": later("pieces that mark where a word continues"),
}


@torch_defaults()
@torch.inference_mode()
def inputs(
    model: Model, record: Record, *, stack: Stack | None = None, cancelled: Callable[[], bool] = never
) -> Inputs:
    """The embeddings of a record's tokens, part by part, and the network's own first hidden state from one pass.

    stack: the encoder's inputs or the decoder's; the first that the model has if None. Raises SettingError for a stack
    that does not exist and for a record of another model, Cancelled.
    """
    replay = Replay(model, record)
    hidden = replay.run(Tape(cancelled=cancelled)).hidden
    chosen: Stack = stack or ("encoder" if "encoder" in hidden else "decoder")
    if chosen not in hidden:
        raise SettingError(later("This model has no {stack}: choose the other stack.", stack=chosen))
    read = record.attention(chosen).query
    ids, segments = torch.from_numpy(read.ids.copy()), torch.from_numpy(read.segments.copy())  # (n,) each
    types = getattr(model.config, "type_vocab_size", 0) > 1
    parts, scale, rows, table, norm, project = _read(model, chosen, ids, segments if types else torch.zeros_like(ids))
    summed = torch.stack(list(parts.values())).sum(0)  # (n, e)
    normed = summed if norm is None else norm(summed)
    entered = normed if project is None else project(normed)  # (n, w)
    return Inputs(
        record.model.name,
        record.model.family,
        chosen,
        read,
        {name: _numbers(part) for name, part in parts.items()},
        scale,
        None if rows is None else rows.numpy(),
        _numbers(summed),
        None if norm is None else _numbers(normed),
        _numbers(entered),
        _numbers(hidden[chosen][0][0]),
        table,
    )


Read = tuple[dict[str, Tensor], float, Tensor | None, Floats | None, nn.Module | None, nn.Module | None]


def _read(model: Model, stack: Stack, ids: Tensor, segments: Tensor) -> Read:
    """The parts (n, e), the tokens' scale, the rows of the position table, that table, LayerNorm, projection."""
    base: Any = model.network.base_model
    if hasattr(base, "wte"):
        rows = torch.arange(len(ids))
        return {"token": base.wte(ids), "position": base.wpe(rows)}, 1.0, rows, _table(base.wpe.weight, 0), None, None
    if hasattr(getattr(base, "embeddings", None), "word_embeddings"):
        return _bert(model, base, ids, segments)
    half = getattr(base, stack, base)
    words, positions = half.get_input_embeddings(), getattr(half, "embed_positions", None)
    scale = float(getattr(words, "embed_scale", getattr(half, "embed_scale", 1.0)))
    scale *= float(getattr(model.config, model.info.known.embedding_scale, 1.0))
    token = nn.functional.embedding(ids, words.weight) * scale
    if getattr(half, "project_in", None) is not None:
        token = half.project_in(token)
    norm = getattr(half, "layernorm_embedding", getattr(getattr(half, "embeddings", None), "norm", None))
    if positions is None:
        return {"token": token}, scale, None, None, norm, None
    table = getattr(positions, "weights", None)  # M2M100 computes its positions, and counts them as RoBERTa does
    first = int(positions.padding_idx) + 1 if table is not None else int(getattr(positions, "offset", 0))
    table = positions.weight if table is None else table
    rows = torch.arange(len(ids)) + first
    side = getattr(model.info.known, stack)
    if side.normed_tokens and norm is not None:
        token, norm = norm(token), None
    parts = {"token": token, "position": nn.functional.embedding(rows, table)}
    return parts, scale, rows, _table(table, first), norm, None


def _bert(model: Model, base: Any, ids: Tensor, segments: Tensor) -> Read:
    embeddings = base.embeddings
    rows, first = torch.arange(len(ids)), 0
    if model.info.known.unused_rows:  # positions continue from the padding token's id; padding keeps it
        first = int(embeddings.padding_idx) + 1
        real = ids.ne(embeddings.padding_idx).long()
        rows = real.cumsum(0) * real + embeddings.padding_idx
    parts = {"token": embeddings.word_embeddings(ids), "position": embeddings.position_embeddings(rows)}
    if hasattr(embeddings, "token_type_embeddings"):
        parts["segment"] = embeddings.token_type_embeddings(segments)
    norm = getattr(embeddings, "LayerNorm", None)  # some families leave it to their layers
    project = getattr(base, "embeddings_project", None)
    project = getattr(getattr(base, "encoder", None), "embedding_hidden_mapping_in", project)
    return parts, 1.0, rows, _table(embeddings.position_embeddings.weight, first), norm, project


def _table(table: Tensor, first: int) -> Floats:
    return _numbers(table[first : first + TABLE])


def _numbers(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().float().numpy().copy()
    array.flags.writeable = False
    return array


def split(model: Model, text: str) -> Split:
    """A text as the model's tokenizer splits it. Raises TextError, ModelError."""
    encoder = encoder_of(model.tokenizer)
    cut = tokenize.encode(model.tokenizer, clean.clean(text).text)
    unknown = (cut.ids == encoder.unknown) & ~cut.special if encoder.unknown is not None else np.zeros(len(cut), bool)
    return Split(model.info.name, _HOW[encoder.scheme.kind], len(model.tokenizer), cut, unknown)
