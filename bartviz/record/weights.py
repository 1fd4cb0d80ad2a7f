"""Attention weights as other programs hold them -> one array (L, H, Q, K). Nothing but NumPy is imported.

Arrays, tensors, tuples of layers with a batch axis of 1, outputs of transformers (of ``forward`` and of ``generate``),
caches of TransformerLens, attributions of inseq. They are recognised by what they hold, not by their class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from bartviz.arrays import Floats
from bartviz.errors import RecordError
from bartviz.language import later

Name = Literal["self", "encoder", "decoder", "cross"]  # self: of the encoder or the decoder, whichever it is
Side = Literal["encoder", "decoder"]

_OUTPUT: Mapping[Name, str] = {
    "self": "attentions",
    "encoder": "encoder_attentions",
    "decoder": "decoder_attentions",
    "cross": "cross_attentions",
}
_CACHED = re.compile(r"(blocks|encoder|decoder)\.(\d+)\.(attn|cross_attn)\.hook_pattern")


def named(attention: object) -> dict[Name, object]:
    """The stacks of weights in an output of transformers, a cache of TransformerLens or an attribution of inseq;
    anything else is one stack."""
    attribution = _attribution(attention)
    if attribution is not None:
        return _attributed(attribution)
    cache = _cached(attention)
    if cache:
        return cache
    if not any(hasattr(attention, field) for field in _OUTPUT.values()):
        return {"self": attention}
    output = {name: getattr(attention, field, None) for name, field in _OUTPUT.items()}
    given = {name: stack for name, stack in output.items() if not _is_empty(stack)}
    if not given:
        raise _not_returned()
    beams = _beams(attention)
    return given if beams is None else {name: _followed(stack, beams) for name, stack in given.items()}


def _is_empty(given: object) -> bool:
    """Whether this is None, or a tuple or list of nothing else, as a network returns where it keeps no weights."""
    return given is None or (isinstance(given, tuple | list) and all(map(_is_empty, given)))


def _not_returned() -> RecordError:
    return RecordError(
        later(
            "The network did not return its attention weights. Load it with "
            'attn_implementation="eager" and call it with output_attentions=True (generate() with '
            "return_dict_in_generate=True, too)."
        )
    )


def _beams(attention: object) -> list[int] | None:
    """For each step of a beam search the row of the batch in which its best text was, or None for another output.
    Raises RecordError for several texts."""
    given = getattr(attention, "beam_indices", None)
    if given is None:
        return None
    beams = _array(given, "beam_indices")  # (N, T), -1 after the end of a text
    if beams.ndim != 2 or len(beams) != 1:
        raise RecordError(
            later(
                "The beams of {count} texts were given; a record holds one: call generate() with one text and "
                "num_return_sequences=1.",
                count=len(beams),
            )
        )
    return [int(row) for row in beams[0] if row >= 0]


def _followed(stack: Any, beams: Sequence[int]) -> Any:
    """The steps of a stack along the best text: beams change places in the batch from step to step."""
    if not _is_steps(stack):
        return stack  # an encoder's, which ran once
    return [[layer[row : row + 1] for layer in step] for step, row in zip(stack, beams, strict=False)]


def strings(attention: object) -> dict[Side, list[str]]:
    """The tokens that come with the weights: those of an attribution of inseq, where what is generated comes last."""
    attribution = _attribution(attention)
    if attribution is None:
        return {}
    target = [str(one.token) for one in attribution.target]
    if attribution.source_attributions is None:
        return {"decoder": target}
    return {"encoder": [str(one.token) for one in attribution.source], "decoder": target}


def _attribution(attention: object) -> Any:
    """The attribution of one text by inseq, or None. Raises RecordError for several texts."""
    several = getattr(attention, "sequence_attributions", None)
    if several is not None and len(several) != 1:
        raise RecordError(
            later(
                "The output of inseq is for {count} texts; a record holds one: pass output.sequence_attributions[0].",
                count=len(several),
            )
        )
    one = attention if several is None else several[0]
    return one if hasattr(one, "source_attributions") and hasattr(one, "target_attributions") else None


def _attributed(attribution: Any) -> dict[Name, object]:
    """inseq's weights (K, T, L, H), of T generated tokens, as (L, H, T, K): row t reads the token before the one that
    it predicts. What a row cannot see is NaN there. Raises RecordError."""
    given = {"cross": attribution.source_attributions, "decoder": attribution.target_attributions}
    found = {name: _array(stack, name) for name, stack in given.items() if stack is not None}
    if any(stack.ndim != 4 for stack in found.values()):
        raise RecordError(
            later(
                'From inseq only the method "attention" can be read, before any aggregation: one weight per '
                "layer and head."
            )
        )
    if "decoder" not in found:
        raise RecordError(
            later(
                "The output of inseq has no attention of the decoder to itself. Call attribute(..., "
                "attribute_target=True)."
            )
        )
    if attribution.attr_pos_start != 1:
        raise RecordError(
            later(
                "The output of inseq begins at token {start} of the target: a record needs every row. Call "
                "attribute(..., attr_pos_start=1).",
                start=int(attribution.attr_pos_start),
            )
        )
    steps = found["decoder"].shape[1]
    found["decoder"] = np.nan_to_num(found["decoder"][:steps], nan=0.0)
    return {name: stack.transpose(2, 3, 1, 0) for name, stack in found.items()}  # type: ignore[misc]


def _cached(attention: object) -> dict[Name, object]:
    """The patterns of a cache by stack, layer after layer; empty if it is not a cache."""
    keys = getattr(attention, "keys", None)
    matches = [_CACHED.fullmatch(str(key)) for key in keys()] if callable(keys) else []
    found: dict[Name, list[tuple[int, object]]] = {}
    for match in filter(None, matches):
        side = "self" if match[1] == "blocks" else match[1]
        name: Name = "cross" if match[3] == "cross_attn" else side  # type: ignore[assignment]
        found.setdefault(name, []).append((int(match[2]), attention[match[0]]))  # type: ignore[index]
    return {name: [stack for _, stack in sorted(layers, key=lambda one: one[0])] for name, layers in found.items()}


def stacked(given: Any, name: str) -> Floats:
    """(L, H, Q, K) float32. Raises RecordError, which names the stack, for anything that is not weights of one text."""
    if _is_empty(given):
        raise _not_returned()
    layers = _joined(given, name) if _is_steps(given) else [_array(layer, name) for layer in _items(given, name)]
    single = [_one_text(layer, name) for layer in layers]
    if not single:
        raise RecordError(later("The {name} attention has no layers.", name=name))
    for number, layer in enumerate(single):
        if layer.shape[0] != single[0].shape[0]:
            raise RecordError(
                later(
                    "Layer {layer} of the {name} attention has {heads} heads, layer 0 has {first}: a record "
                    "needs the same number in each layer.",
                    layer=number,
                    name=name,
                    heads=layer.shape[0],
                    first=single[0].shape[0],
                )
            )
        if layer.shape != single[0].shape:
            raise RecordError(
                later(
                    "Layer {layer} of the {name} attention has {rows} rows and {columns} columns, layer 0 has "
                    "{first_rows} and {first_columns}.",
                    layer=number,
                    name=name,
                    rows=layer.shape[1],
                    columns=layer.shape[2],
                    first_rows=single[0].shape[1],
                    first_columns=single[0].shape[2],
                )
            )
    return np.stack(single)


def _items(given: Any, name: str) -> Iterable[Any]:
    """The layers of a stack: of a sequence its items, of an array or a tensor the first axis."""
    return given if isinstance(given, Sequence) and not isinstance(given, str) else _array(given, name)


def _array(given: Any, name: str) -> Floats:
    """float32 numbers of an array, a tensor on any device, or nested lists."""
    if given is None:
        raise _not_returned()
    try:
        if "complex" in str(getattr(given, "dtype", "")):
            raise TypeError("half of each number would be dropped")
        if isinstance(given, np.ma.MaskedArray):
            given = given.filled(np.nan)  # a masked cell has no weight, whatever is stored there
        if hasattr(given, "detach"):  # a tensor of torch; NumPy has no bfloat16
            given = given.detach().cpu().float()
        array: Floats = np.asarray(given, np.float32)
    except (TypeError, ValueError, RuntimeError):  # torch raises RuntimeError for tensors without plain numbers
        raise RecordError(
            later(
                "The {name} attention must be numbers in memory, dense and not quantized: layers x heads x queries x "
                "keys.",
                name=name,
            )
        ) from None
    return array


def _one_text(layer: Floats, name: str) -> Floats:
    """(H, Q, K) of a layer, without a batch axis of 1."""
    if layer.ndim == 4 and layer.shape[0] > 1:
        raise RecordError(
            later(
                "The {name} attention is for {count} texts or beams; a record holds one. Select a text on "
                "the batch axis; for beams, which are reordered from step to step, pass the whole output of "
                "generate().",
                name=name,
                count=layer.shape[0],
            )
        )
    single: Floats = layer[0] if layer.ndim == 4 and len(layer) else layer
    if single.ndim != 3 or not single.size:
        raise RecordError(
            later(
                "A layer of the {name} attention has the shape {shape}: heads x queries x keys are needed, at least 1 "
                "of each, with or without a batch axis of 1.",
                name=name,
                shape=str(layer.shape),
            )
        )
    return single


def _is_steps(given: Any) -> bool:
    """Whether these are the tuples of ``generate``: one for each step, with an array or tensor for each layer."""
    if not isinstance(given, tuple | list) or not given or not isinstance(given[0], tuple | list) or not given[0]:
        return False
    return len(getattr(given[0][0], "shape", ())) == 4


def _joined(steps: Sequence[Sequence[Any]], name: str) -> list[Floats]:
    """The layers of all steps together: with a cache each step has the rows of its new tokens; without one it has all
    rows so far, and the last step is the whole."""
    arrays = [[_one_text(_array(layer, name), name) for layer in step] for step in steps]
    if len({len(step) for step in arrays}) != 1:
        raise RecordError(later("The steps of the {name} attention do not have the same layers.", name=name))
    if len(arrays) > 1 and arrays[1][0].shape[1] > arrays[0][0].shape[1]:
        return arrays[-1]
    return [_rows([step[layer] for step in arrays], name) for layer in range(len(arrays[0]))]


def _rows(parts: Sequence[Floats], name: str) -> Floats:
    """(H, Q, K): the rows of the steps below each other; keys that a step did not have get 0."""
    if len({len(part) for part in parts}) != 1:
        raise RecordError(later("The steps of the {name} attention do not have the same heads.", name=name))
    if name != "cross":
        ends = np.cumsum([part.shape[1] for part in parts])  # after each step there are as many keys as rows
        parts = [_placed(part, int(end)) for part, end in zip(parts, ends, strict=True)]
    columns = max(part.shape[2] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, 0), (0, columns - part.shape[2]))) for part in parts], axis=1)


def _placed(part: Floats, end: int) -> Floats:
    """The rows (H, q, k) of a step after which there are ``end`` keys: a sliding window holds the last of them, a cache
    of fixed size has columns for later ones, which nothing attends to."""
    columns = part.shape[2]
    if columns < end:
        return np.pad(part, ((0, 0), (0, 0), (end - columns, 0)))
    return part if part[:, :, end:].any() else part[:, :, :end]
