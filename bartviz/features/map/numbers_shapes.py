"""The shape of every state of a run, by the names that transformers gives them.

Letters: B texts in the batch, here 1; n source tokens, m decoder rows, D model width, H heads, d head width, L layers,
V vocabulary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bartviz.language import _
from bartviz.record.attention import Attention
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

CACHE = "past_key_values"  # transformers' name of it
Line = tuple[str, str, str, tuple[int, ...], str]  # name, meaning, letters, shape, how many


def shapes(record: Record) -> pd.DataFrame:
    """One line for each state of one pass over the record's tokens: name, what it is, letters, shape, how many."""
    import pandas as pd

    names = (_("Name in transformers"), _("What it is"), _("Letters"), _("Shape"), _("How many"))
    lines = [
        (name, said, letters, " × ".join(map(str, shape)), count) for name, said, letters, shape, count in of(record)
    ]
    return pd.DataFrame(lines, columns=names)


def of(record: Record) -> list[Line]:
    """The lines, in the order of the computation."""
    kind, width, vocabulary = record.model.kind, record.model.width, record.model.vocabulary
    lines: list[Line] = []
    if record.encoder is not None:
        whole = kind == "encoder-decoder"
        lines += _stack(record.encoder, width, "encoder_" if whole else "", "n", given="")
    if record.decoder is not None:
        letter = "m" if record.cross is not None else "n"
        prefix = "decoder_" if record.cross is not None else ""
        lines += _stack(record.decoder, width, prefix, letter, given=prefix)
        if record.cross is not None:
            lines += _attention(record.cross, "cross_attentions", "m", "n")
        rows, layers = record.decoder.shape[2], str(record.decoder.shape[0])
        lines += [
            ("logits", _("scores of the next token"), f"B × {letter} × V", (1, rows, vocabulary), "1"),
            _cache(
                record.decoder, f"{CACHE}.self_attention_cache" if record.cross is not None else CACHE, letter, layers
            ),
        ]
        if record.cross is not None:
            lines.append(_cache(record.cross, f"{CACHE}.cross_attention_cache", "n", layers))
    return lines


def _stack(attention: Attention, width: int, prefix: str, letter: str, *, given: str) -> list[Line]:
    """The states of one stack."""
    layers, _heads, rows, _keys = attention.shape
    states = f"{prefix}hidden_states"
    return [
        (f"{given}input_ids", _("the ids of the tokens"), f"B × {letter}", (1, rows), "1"),
        (f"{given}inputs_embeds", _("their embeddings"), f"B × {letter} × D", (1, rows, width), "1"),
        (
            states,
            _("states, before the first layer and after each"),
            f"B × {letter} × D",
            (1, rows, width),
            f"L + 1 = {layers + 1}",
        ),
        *_attention(attention, f"{prefix}attentions", letter, letter),
    ]


def _attention(attention: Attention, name: str, row: str, column: str) -> list[Line]:
    layers, heads, rows, keys = attention.shape
    d = attention.queries.shape[-1]
    count = f"L = {layers}"
    return [
        (f"q ({name})", _("queries"), f"B × H × {row} × d", (1, heads, rows, d), count),
        (f"k, v ({name})", _("keys and values"), f"B × H × {column} × d", (1, heads, keys, d), f"2 L = {2 * layers}"),
        (f"q · k / √d ({name})", _("before the softmax"), f"B × H × {row} × {column}", (1, heads, rows, keys), count),
        (name, _("weights after the softmax"), f"B × H × {row} × {column}", (1, heads, rows, keys), count),
    ]


def _cache(attention: Attention, name: str, letter: str, layers: str) -> Line:
    _layers, heads, _rows, keys = attention.shape
    shape = (1, heads, keys, attention.queries.shape[-1])
    return (
        name,
        _("keys and values kept for the next step; fewer heads where heads share them"),
        f"B × H × {letter} × d",
        shape,
        f"2 L = {2 * int(layers)}",
    )
