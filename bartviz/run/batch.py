"""Several texts as one call of the network: padded and masked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bartviz.errors import ModelError, SettingError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Head, HeadName, Kind, is_head
from bartviz.tape.tape import check_heads, depths
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens

Heads = Mapping[HeadName, float] | Mapping[str, float] | Mapping[Head, float] | Iterable[HeadName] | HeadName


@dataclass(frozen=True)
class Batch:
    """The padded tokens of every text, and the inputs of the network.

    ``source`` the encoder's (or only) tokens, ``query`` the decoder's inputs, ``output`` what follows each of them;
    ``read`` the source tokens of each text that are not padding, ``lengths`` such rows of the last stack.
    """

    source: tuple[Tokens, ...]
    query: tuple[Tokens, ...]
    output: tuple[Tokens, ...]
    read: tuple[int, ...]
    lengths: tuple[int, ...]
    inputs: Mapping[str, Tensor]

    @classmethod
    def of(cls, model: Model, sources: Sequence[Tokens], outputs: Sequence[Tokens] | None) -> Batch:
        source, mask = _padded(model, sources)
        read = tuple(map(len, sources))
        inputs = {"input_ids": _ids(source)} | ({} if mask is None else {"attention_mask": mask})
        if model.info.kind == "encoder" and getattr(model.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = torch.from_numpy(np.stack([part.segments for part in source]))
        if outputs is None:
            return cls(source, (), (), read, read, inputs)
        output, target_mask = _padded(model, outputs)
        query = tuple(
            shifted(model, start_token(model, given), part) for given, part in zip(outputs, output, strict=True)
        )
        inputs["decoder_input_ids"] = _ids(query)
        if target_mask is not None:
            inputs["decoder_attention_mask"] = target_mask
        return cls(source, query, output, read, tuple(map(len, outputs)), inputs)

    @property
    def rows(self) -> dict[Kind, tuple[int, ...]]:
        """Of each kind of attention, the rows of each text that are not padding."""
        return {"encoder": self.read, "decoder": self.lengths, "cross": self.lengths}


def _padded(model: Model, parts: Sequence[Tokens]) -> tuple[tuple[Tokens, ...], Tensor | None]:
    """All padded on the right to the longest, and the mask (B, n), or None where nothing was padded."""
    longest = max(len(part) for part in parts)
    if all(len(part) == longest for part in parts):
        return tuple(parts), None
    mask = torch.tensor([[1] * len(part) + [0] * (longest - len(part)) for part in parts])
    return tuple(tokenize.pad(part, model.tokenizer, longest) for part in parts), mask


def _ids(parts: Sequence[Tokens]) -> Tensor:
    return torch.from_numpy(np.stack([part.ids for part in parts]))  # (B, n)


def start_token(model: Model, output: Tokens | None = None) -> int:
    """The id that the decoder reads first. mBART begins a given output with its last token, the language."""
    if model.info.known.start == "language" and output is not None:
        return int(output.ids[-1])
    for settings in (model.generation, model.config):
        for name in ("decoder_start_token_id", "bos_token_id"):
            token = getattr(settings, name, None)
            if token is not None:
                return _checked_start(model, name, token)
    return int(model.tokenizer.pad_token_id)


def _checked_start(model: Model, name: str, token: object) -> int:
    """Raise ModelError for a first token that the decoder has no embedding of."""
    most = max(model.info.vocabulary, getattr(model.config, "decoder_vocab_size", None) or 0)
    if type(token) is not int or not 0 <= token < most:
        raise ModelError(
            later(
                "The decoder has no first token: the model's {name} is not in its vocabulary of {vocabulary:,} tokens. "
                "Correct it in config.json or generation_config.json.",
                name=name,
                vocabulary=most,
            )
        )
    return token


def shifted(model: Model, start: int, output: Tokens) -> Tokens:
    """The decoder's inputs for an output: the start token, then every output token but the last."""
    first = tokenize.from_ids(model.tokenizer, [start])[1]
    return tokenize.join(first, output.take(slice(0, -1)))


def head_factors(model: Model, ablate: Heads) -> dict[Head, float]:
    """Heads by name -> factor of their output (0 silences). Raises SettingError for a head that does not exist."""
    named: Any = (ablate,) if is_head(ablate) else ablate
    if not isinstance(named, Iterable):
        raise _not_heads()
    pairs = named.items() if isinstance(named, Mapping) else ((name, 0.0) for name in named)
    kinds = tuple(depths(model.network))
    factors = {Head.parse(name, kinds=kinds): _factor(factor) for name, factor in pairs}
    check_heads(model.network, factors)
    return factors


def _factor(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # anything but a number is refused here
    except (TypeError, ValueError):
        raise SettingError(later("The factor of a head is a number: 0 silences it, 1 changes nothing.")) from None


def _not_heads() -> SettingError:
    return SettingError(later('Heads are named as "cross L2H5", one or a list of them, or with a factor for each.'))
