"""What the engine in the browser needs of a tokenizer: its tokenizer.json, and what a run adds to a text."""

from __future__ import annotations

import base64
import json
from typing import Any

from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.text.labels import SPACE
from bartviz.text.tokenize import Encoder, FastEncoder, MarianEncoder, encoder_of

_MODELS = ("BPE", "WordPiece", "Unigram")
_NORMALIZERS = (
    *("Sequence", "BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Prepend", "Replace"),
    *("Strip", "Precompiled"),
)
_PRE_TOKENIZERS = ("Sequence", "BertPreTokenizer", "ByteLevel", "Metaspace", "WhitespaceSplit", "Digits")


def described(model: Model) -> dict[str, Any]:
    """The tokenizer as ``TokenizerSpec`` in types.d.ts. Raises ModelError for one that the engine does not compute."""
    mask = getattr(model.tokenizer, "mask_token_id", None)
    return {"mask": mask} | _described(model, encoder_of(model.tokenizer))


def _described(model: Model, encoder: Encoder) -> dict[str, Any]:
    if isinstance(encoder, FastEncoder):
        backend = json.loads(model.tokenizer.backend_tokenizer.to_str())
        unknown = [*_unread(backend, "normalizer", _NORMALIZERS), *_unread(backend, "pre_tokenizer", _PRE_TOKENIZERS)]
        unknown += [backend["model"]["type"]] * (backend["model"]["type"] not in _MODELS)
        if unknown:
            raise _refused(model, later("the page does not compute its tokenizer's {names}", names=", ".join(unknown)))
        own = {name: backend[name] for name in ("normalizer", "pre_tokenizer", "model", "added_tokens")}
        target = None if encoder._target is None else _template(encoder, target=True)
        return _common(encoder) | {
            "json": own,
            "target": target,
            "typed": any(encoder._literal.encode("a", "b").type_ids),
        }
    if isinstance(encoder, MarianEncoder):
        return _marian(encoder)
    raise _refused(model, later("its tokenizer is written in Python"))


def _marian(encoder: MarianEncoder) -> dict[str, Any]:
    """Marian's: a SentencePiece model for each language, whose pieces have their numbers in one vocabulary, or two."""
    sides = [_sentence_pieces(encoder, *side) for side in (encoder._source, encoder._target)]
    whole = _common(encoder) | {"target": None, "typed": True, "codes": encoder._codes}
    return whole | {"json": sides[0], "output": whole | {"json": sides[1]}}


def _sentence_pieces(encoder: MarianEncoder, processor: Any, vocabulary: dict[str, int]) -> dict[str, Any]:
    """A SentencePiece model as a tokenizer.json would have it."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(processor.serialized_model_proto())
    rules = model.normalizer_spec
    used = [piece for piece in model.pieces if piece.type in (piece.NORMAL, piece.UNKNOWN)]
    return {
        "normalizer": {
            "type": "SentencePiece",
            "charsmap": base64.b64encode(rules.precompiled_charsmap).decode(),
            "prefix": rules.add_dummy_prefix,
            "squeezes": rules.remove_extra_whitespaces,
            "mark": SPACE,
        },
        "pre_tokenizer": None,
        "model": {
            "type": "SentencePiece",
            "vocab": [[piece.piece, piece.score] for piece in used],
            "unk_id": next(i for i, piece in enumerate(used) if piece.type == piece.UNKNOWN),
            "ids": vocabulary,
            "unknown": vocabulary[encoder.unknown_piece],
        },
        "added_tokens": [{"id": i, "content": name} for name, i in encoder._added.items()],
    }


def _common(encoder: Encoder) -> dict[str, Any]:
    scheme = encoder.scheme
    if scheme.kind not in ("bytes", "prefix", "space") or (scheme.kind == "bytes" and scheme.mark):
        raise ModelError(later("The page does not compute how this tokenizer writes its pieces."))
    return {
        "special": sorted(encoder.special),
        "unknown": encoder.unknown,
        "single": _template(encoder),
        "pair": _template(encoder, pair=True),
        "scheme": {
            "kind": scheme.kind,
            "mark": scheme.mark,
            "fallback": scheme.byte_fallback,
            "plain": sorted(scheme.plain),
        },
    }


def _template(encoder: Encoder, *, pair: bool = False, target: bool = False) -> list[Any]:
    """The special tokens around a text "A", or two, as [id, segment]: those around a letter, in their places."""
    found: list[Any] = []
    for token in encoder.encode("a", "a" if pair else None, target=target, allow_special=False):
        if token.span is None:
            found.append([token.id, token.segment])
        elif (part := "AB"[token.segment]) not in found:
            found.append(part)
    return found


def _unread(spec: dict[str, Any], part: str, known: tuple[str, ...]) -> list[str]:
    """The types of a part of a tokenizer, within sequences too, that are not known."""
    top = spec[part]
    if top is None:
        return []
    inner = top.get("normalizers") or top.get("pretokenizers") or []
    found = [name for each in inner for name in _unread({part: each}, part, known)]
    return found if top["type"] in known else [*found, top["type"]]


def _refused(model: Model, reason: str) -> ModelError:
    return ModelError(later("{model} cannot run in a page: {reason}.", model=model.info.name, reason=reason))
