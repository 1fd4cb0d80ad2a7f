"""bartviz.from_attentions: a record of attention weights that somebody else has computed. NumPy only."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bartviz.arrays import Bools, Floats
from bartviz.errors import RecordError, choices
from bartviz.families.family import ModelKind
from bartviz.language import later
from bartviz.record import weights
from bartviz.record.attention import KINDS, Attention, Kind
from bartviz.record.record import ModelInfo, Provenance, Record, now
from bartviz.record.strings import from_strings, schemes
from bartviz.record.validation import ROW_LIMIT
from bartviz.record.vocabulary import GIVEN_WEIGHTS
from bartviz.text.tokens import Tokens, writable
from bartviz.version import __version__

_EVEN = 1e-6  # weights of a row that are as close as this are equal: every key is masked alike
NOTICE = later("The attention weights were given, not computed here: there are no queries, keys, values or steps.")
_NAMES: Mapping[Kind, str] = {"encoder": "encoder_tokens", "decoder": "decoder_tokens", "cross": "decoder_tokens"}


@dataclass(frozen=True, slots=True)
class _Text:
    """The tokens of one axis, and the text that they write. ``output``: what each row of a decoder predicts."""

    text: str
    tokens: Tokens
    output: Tokens | None = None


def from_attentions(
    attention: object = None,
    tokens: Sequence[str] | None = None,
    *,
    encoder: object = None,
    decoder: object = None,
    cross: object = None,
    encoder_attention: object = None,
    decoder_attention: object = None,
    cross_attention: object = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    name: str = "attention weights",
) -> Record:
    """A record of attention weights that another program has computed: L layers, H heads, Q queries, K keys.

    attention: an output of transformers (of a call with ``output_attentions=True``, or of ``generate`` with
    ``return_dict_in_generate=True`` as well), a cache of TransformerLens, an output of inseq's method "attention" (with
    ``attribute_target=True``; its tokens come with it), or the weights of one stack. One stack is a
    decoder's if no row attends to a later token, else an encoder's; ``encoder=`` or ``decoder=`` settles it.
    encoder, decoder, cross: the weights by name: an array (L, H, Q, K), or for each layer an array (H, Q, K) or
    (1, H, Q, K), of NumPy, torch or lists, on any device. The same with bertviz's names: encoder_attention, ...
    Cross-attention comes with the decoder's; without the encoder's, which inseq does not have, the record has none.
    tokens: the strings of a single stack, as ``tokenizer.convert_ids_to_tokens`` returns them. encoder_tokens and
    decoder_tokens: those of an encoder-decoder. The decoder's are those that it reads; with one more, the whole
    ``sequences`` of ``generate``, each row also gets the token that it predicts.
    name: what the record calls the model.

    The record has weights (L, H, Q, K) as float32, unchanged, and no queries, keys, values or steps: what needs them
    raises WeightsOnlyError. A key without any weight counts as padding. Of beams the best text is followed, by the
    output's ``beam_indices``. Raises RecordError for weights that are not finite, are negative, or do not sum to 1 in
    each row (to 0.01), with the likely cause (dropout, a masked row, padding on the left, an attention sink, a cache);
    for several texts, for layers with different numbers of heads, and for tokens that do not fit.

    >>> weights = np.full((2, 4, 3, 3), 1 / 3)  # 2 layers of 4 heads that attend evenly
    >>> bartviz.from_attentions(encoder=weights, tokens=["It", "is", "late"]).encoder.shape
    (2, 4, 3, 3)
    """
    if not writable(name):
        raise RecordError(later("The name of the model cannot be written as UTF-8."))
    given = {} if attention is None else weights.named(attention)
    by_name: dict[weights.Name, tuple[object, ...]] = {
        "encoder": (encoder, encoder_attention),
        "decoder": (decoder, decoder_attention),
        "cross": (cross, cross_attention),
    }
    for kind, values in by_name.items():
        for stack in values:
            if stack is not None and given.setdefault(kind, stack) is not stack:
                raise RecordError(later("The {name} attention is given twice.", name=kind))
    arrays = _by_kind(
        {kind: weights.stacked(stack, "given" if kind == "self" else kind) for kind, stack in given.items()}
    )
    for kind, array in arrays.items():
        _check(kind, array)
    own = weights.strings(attention)
    lists = _lists(arrays, tokens, encoder_tokens or own.get("encoder"), decoder_tokens or own.get("decoder"))
    return _record(arrays, _texts(arrays, lists), name)


def _by_kind(given: Mapping[weights.Name, Floats]) -> dict[Kind, Floats]:
    """The weights by kind; those of an unnamed stack are a decoder's if they are 0 above the diagonal."""
    arrays: dict[Kind, Floats] = {}
    for name, array in given.items():
        kind: Kind = name if name != "self" else ("decoder" if _is_decoders(array) else "encoder")
        if kind in arrays:
            raise RecordError(later("The {name} attention is given twice.", name=kind))
        arrays[kind] = array
    if set(arrays) not in ({"encoder"}, {"decoder"}, {"decoder", "cross"}, set(KINDS)):
        raise RecordError(
            later(
                "A record holds the attention of an encoder, of a decoder, of a decoder and its cross-attention, or of "
                "all three; given: {kinds}.",
                kinds=choices(kind for kind in KINDS if kind in arrays),
            )
        )
    if "cross" in arrays and arrays["cross"].shape[:2] != arrays["decoder"].shape[:2]:
        raise RecordError(
            later(
                "Cross-attention has {cross}, but the decoder has {decoder} (layers, heads): the two must agree.",
                cross=str(arrays["cross"].shape[:2]),
                decoder=str(arrays["decoder"].shape[:2]),
            )
        )
    return arrays


def _is_decoders(array: Floats) -> bool:
    """Whether weights (L, H, Q, K) of one stack are a decoder's: no row attends to a later token, but for rows of
    padding; with a cache there are fewer rows than columns."""
    if array.shape[2] != array.shape[3]:
        return True
    return not np.triu(array, 1).any() or _left_padding(array) > 0


def _left_padding(array: Floats) -> int:
    """How many rows at the beginning of a decoder's weights (L, H, Q, Q) belong to padding: their whole row is masked,
    so that they attend evenly to every token, and no later row attends to them."""
    even = (np.ptp(array, axis=-1) < _EVEN).all(axis=(0, 1))  # (Q,)
    count = int(even.argmin())  # of the even rows before the first other one
    rest = array[:, :, count:]
    padded = (
        count > 0 and np.triu(array, 1).any() and not np.triu(rest, 1 + count).any() and not rest[..., :count].any()
    )
    return count if padded else 0


def _check(kind: Kind, array: Floats) -> None:
    """Raise RecordError unless rows are weights: finite, not negative, summing to 1, and causal in a decoder."""
    _check_finite(kind, array)
    if array.min() < 0:
        raise RecordError(
            later(
                "The {name} attention holds negative numbers: give weights, not scores before the softmax.", name=kind
            )
        )
    _check_sums(kind, array)
    rows, columns = array.shape[2:]
    if kind != "cross" and rows < columns:
        raise RecordError(
            later(
                "The {name} attention has {rows} rows and {columns} columns: a call with a cache "
                "(past_key_values) only returns the rows of its new tokens. Call the network on the whole "
                "text, or pass the whole output of generate().",
                name=kind,
                rows=rows,
                columns=columns,
            )
        )
    if kind != "cross" and rows != columns:
        raise RecordError(
            later(
                "The {name} attention has {rows} rows and {columns} columns: for one text, the two must be equal.",
                name=kind,
                rows=rows,
                columns=columns,
            )
        )
    if kind == "decoder" and (padding := _left_padding(array)):
        raise RecordError(
            later(
                "The first {count} rows of the decoder attend evenly to every token, and no later row attends to them: "
                "they are padding on the left. Leave out these rows and columns, and their tokens (weights of an "
                "encoder: pass them as encoder=).",
                count=padding,
            )
        )
    if kind == "decoder" and np.triu(array, 1).any():
        raise RecordError(
            later(
                "The decoder's weights are not 0 above the diagonal, so a row attends to a later token: pass them as "
                "encoder=, or leave out padding on the left."
            )
        )


def _check_finite(kind: Kind, array: Floats) -> None:
    finite = np.isfinite(array).all(axis=-1)  # (L, H, Q)
    if finite.all():
        return
    layer, head, row = (int(index) for index in np.unravel_index(finite.argmin(), finite.shape))
    place = {"kind": kind, "layer": layer, "head": head, "row": row}
    if np.isnan(array[layer, head, row]).all() and finite.any():
        raise RecordError(_masked_row(place))
    raise RecordError(
        later(
            "The {kind} attention holds numbers that are not finite (NaN or infinity), first in row {row} of "
            "L{layer}H{head}.",
            **place,
        )
    )


def _masked_row(place: Mapping[str, object]) -> str:
    return later(
        "Row {row} of {kind} L{layer}H{head} attends to nothing: every key is masked, as for a row of padding. Leave "
        "out such rows, and their tokens.",
        **place,
    )


def _check_sums(kind: Kind, array: Floats) -> None:
    sums = array.sum(axis=-1)  # (L, H, Q)
    apart = np.abs(sums - 1)
    if apart.max() <= ROW_LIMIT:
        return
    masked = (sums == 0).all(axis=1)  # (L, Q): a mask is the same for all heads of a layer
    dropped = _dropped(array)
    if masked.any() and not masked.all() and not dropped:
        layer, row = (int(index) for index in np.unravel_index(masked.argmax(), masked.shape))
        raise RecordError(_masked_row({"kind": kind, "layer": layer, "head": 0, "row": row}))
    layer, head, row = (int(index) for index in np.unravel_index(apart.argmax(), apart.shape))
    place = {"kind": kind, "layer": layer, "head": head, "row": row}
    values = {**place, "limit": ROW_LIMIT, "total": float(sums[layer, head, row])}
    if dropped:
        raise RecordError(
            later(
                "Rows of weights sum to 1, within {limit}; row {row} of {kind} L{layer}H{head} sums to {total:.3f}. "
                "Single weights are missing, as with dropout: call network.eval() first.",
                **values,
            )
        )
    if (sums < 1 + ROW_LIMIT).all() and (sums < 1 - ROW_LIMIT).any(axis=(1, 2)).all():
        raise RecordError(
            later(
                "Rows of weights sum to 1, within {limit}; row {row} of {kind} L{layer}H{head} sums to {total:.3f}. "
                "If the rest belongs to an attention sink, as in gpt-oss, open the model with bartviz.load, which "
                "keeps the sinks.",
                **values,
            )
        )
    raise RecordError(
        later(
            "Rows of weights sum to 1, within {limit}; row {row} of {kind} L{layer}H{head} sums to {total:.3f}.",
            **values,
        )
    )


def _dropped(array: Floats) -> bool:
    """Whether dropout was on: weights are 0 where those of other heads of the layer are not, so that no mask is the
    reason, and a row exceeds 1 or is empty. Of a single head: a row exceeds 1, and one before its end is 0."""
    zero, sums = array == 0, array.sum(axis=-1)
    beyond = (sums > 1 + ROW_LIMIT).any()
    if array.shape[1] == 1:
        return bool(beyond and (zero & np.tril(np.ones(array.shape[2:], np.bool_))).any())
    holes = zero & ~zero.all(axis=1, keepdims=True)
    empty = (sums == 0) & ~(sums == 0).all(axis=1, keepdims=True)
    return bool(holes.any() and (beyond or empty.any()))


def _lists(
    arrays: Mapping[Kind, Floats],
    tokens: Sequence[str] | None,
    encoder_tokens: Sequence[str] | None,
    decoder_tokens: Sequence[str] | None,
) -> dict[Kind, Sequence[str]]:
    """The strings of each stack's tokens. Raises RecordError for missing ones, for other things, and for others."""
    if tokens is not None and len(arrays) > 1:
        raise RecordError(later("An encoder-decoder has two texts: give encoder_tokens and decoder_tokens."))
    lists: dict[Kind, Sequence[str]] = {}
    sides: dict[Kind, Sequence[str] | None] = {"encoder": encoder_tokens, "decoder": decoder_tokens}
    for kind, own in sides.items():
        strings = own if own is not None or len(arrays) > 1 else tokens
        if kind not in arrays and not (kind == "encoder" and "cross" in arrays):
            continue
        if strings is None:
            names = _NAMES[kind] if len(arrays) > 1 else "tokens"
            raise RecordError(later("The tokens of the {name} are missing: give {names}.", name=kind, names=names))
        if isinstance(strings, str) or not all(isinstance(one, str) and writable(one) for one in strings):
            raise RecordError(later("The tokens of the {name} must be a list of strings.", name=kind))
        lists[kind] = list(strings)
    return lists


def _texts(arrays: Mapping[Kind, Floats], lists: Mapping[Kind, Sequence[str]]) -> dict[Kind, _Text]:
    """The text of each stack. Equal strings have equal ids, in both texts."""
    numbers: dict[str, int] = {}
    texts: dict[Kind, _Text] = {}
    for (kind, strings), scheme in zip(lists.items(), schemes(list(lists.values())), strict=True):
        text, tokens = from_strings(strings, numbers, scheme)
        rows = arrays[kind].shape[2] if kind in arrays else len(strings)  # compared with cross-attention below
        if kind == "decoder" and len(strings) == rows + 1:
            texts[kind] = _Text(text, tokens.take(slice(rows)), tokens.take(slice(1, None)))
        elif len(strings) != rows:
            raise RecordError(
                later(
                    "{count} tokens of the {name} were given, but its attention has {rows} rows.",
                    count=len(strings),
                    name=kind,
                    rows=rows,
                )
            )
        else:
            texts[kind] = _Text(text, tokens)
    if "cross" in arrays:
        needed = (len(texts["decoder"].tokens), len(texts["encoder"].tokens))
        if arrays["cross"].shape[2:] != needed:
            raise RecordError(
                later(
                    "Cross-attention has {rows} rows and {columns} columns, but the decoder has {decoder} tokens and "
                    "the encoder {encoder}.",
                    rows=arrays["cross"].shape[2],
                    columns=arrays["cross"].shape[3],
                    decoder=needed[0],
                    encoder=needed[1],
                )
            )
    return texts


def _record(arrays: Mapping[Kind, Floats], texts: Mapping[Kind, _Text], name: str) -> Record:
    seen: dict[Kind, Bools] = {  # (K,)
        kind: np.any(arrays[kind if kind in arrays else "cross"], axis=(0, 1, 2)) for kind in texts
    }
    tokens = {kind: _without_padding(text.tokens, seen[kind]) for kind, text in texts.items()}
    made: dict[Kind, Attention] = {}
    for kind, array in arrays.items():
        rows, columns = tokens["decoder" if kind == "cross" else kind], "encoder" if kind == "cross" else kind
        mask = np.broadcast_to(seen[columns], array.shape[2:])
        made[kind] = Attention.of_weights(
            kind, array, np.tril(mask) if kind == "decoder" else mask, rows, tokens[columns]
        )
        if array[:, :, ~made[kind].mask].any():
            raise RecordError(
                later("Cross-attention attends to a source token that no row of the encoder attends to: padding.")
            )
    encoder, decoder = texts.get("encoder"), texts.get("decoder")
    source = encoder or decoder
    assert source is not None  # _by_kind asks for one of them
    return Record(
        _info(arrays, texts, name),
        source.text,
        decoder.text if decoder is not None and encoder is not None else None,
        made.get("encoder"),
        made.get("decoder"),
        made.get("cross"),
        output=None if decoder is None else decoder.output,
        provenance=Provenance(
            versions={"bartviz": __version__}, settings={"mode": GIVEN_WEIGHTS}, notices=(NOTICE,), made=now()
        ),
    )


def _without_padding(tokens: Tokens, seen: Bools) -> Tokens:
    """The tokens, where those that nothing attends to count as special."""
    return tokens if seen.all() else replace(tokens, special=tokens.special | ~seen)


def _info(arrays: Mapping[Kind, Floats], texts: Mapping[Kind, _Text], name: str) -> ModelInfo:
    """The model's description: the shape of its attention. The fingerprint is that of the weights."""
    kind: ModelKind = "encoder-decoder" if "cross" in arrays else ("encoder" if "encoder" in arrays else "decoder")
    sizes = {side: arrays[side].shape[:2] if side in arrays else (0, 0) for side in KINDS}
    digest = hashlib.sha256()
    for array in arrays.values():
        digest.update(array.tobytes())
    axes = [tokens for text in texts.values() for tokens in (text.tokens, text.output) if tokens is not None]
    return ModelInfo(
        name=name,
        source="weights",
        family="",
        architecture="",
        kind=kind,
        trained=True,
        encoder_layers=sizes["encoder"][0],
        encoder_heads=sizes["encoder"][1],
        decoder_layers=sizes["decoder"][0],
        decoder_heads=sizes["decoder"][1],
        width=0,
        vocabulary=1 + max(int(tokens.ids.max()) for tokens in axes),
        positions=None,
        parameters=0,
        fingerprint=digest.hexdigest(),
    )
