"""The parts of a tokenizer, bounded before anything is built from them.

A file of a kilobyte can ask for replacements that fill the memory, or for a regular expression that holds the
interpreter for minutes; both happen in compiled code, where neither an exception nor a deadline helps. So every part is
checked first: how much longer a text may become, how far a map of characters points, whether a regular expression takes
time in proportion to the text, how long pieces, prefixes and templates are. The limits are well above those of known
models.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.safety import patterns

MAX_CONTAINERS = 4_000_000  # lists and objects of a JSON file; merges are lists of two
MAX_PARTS = 32  # normalizers, pre-tokenizers, post-processors or decoders, of a kind in one tokenizer
MAX_CUTS = 16  # pre-tokenizers: each goes through all pieces of the one before; DeepSeek 3 has five parts
MAX_GROWTH = 1_000  # how many times longer the normalizers may make a text; ALBERT's could make one 650 times longer
MAX_REPLACEMENT = 64  # characters that are put in the place of others
MAX_PREFIX = 4  # characters before a text, and before each part of it between added tokens
MAX_MARK = 32  # characters of the prefix or suffix of a piece
MAX_WORD = 256  # characters of a word that WordPiece cuts: its time grows with their square
MAX_PIECE = 1_000  # characters of a piece or an added token
MAX_UNIGRAM = 256  # characters of a piece whose prefixes may all be pieces
MAX_SQUARES = 400_000_000  # the sum of the squares of the pieces' lengths
MAX_PIECES = 2_000_000
MAX_ADDED = 4_000_000  # characters of all added tokens
MAX_TEMPLATE = 16  # tokens around a text
MAX_NUMBER = 10_000  # a count in tokenizer_config.json
COMPATIBILITY = 18  # letters in the place of one, at most, by NFKC and NFKD

# Patterns of known models that are not linear, and ones that match the same and are.
REWRITTEN: Mapping[str, str] = {r"\s+$": r"(?<!\s)\s+$"}

_LENGTHS: Mapping[str, int] = {
    **dict.fromkeys(("content", "prefix", "suffix", "cleanup", "String"), MAX_REPLACEMENT),
    "prepend": MAX_PREFIX,
    **dict.fromkeys(("replacement", "str_rep", "delimiter", "pad_token", "word_delimiter_token"), MAX_REPLACEMENT),
    **dict.fromkeys(("unk_token", "id"), MAX_PIECE),
    **dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix"), MAX_MARK),
}


def check_tokenizer(content: bytes) -> None:
    """Raise ModelError for a tokenizer.json with parts that are damaged or beyond the limits."""
    value = _parsed(content)
    if not isinstance(value, dict):
        raise _damaged("JSON")
    for key in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        _check_pipeline(key, value.get(key))
    model = value.get("model")
    if isinstance(model, dict):
        _check_model(model)
    added = value.get("added_tokens")
    _check_added(
        [token.get("content") for token in added if isinstance(token, dict)] if isinstance(added, list) else ()
    )


def check_json(content: bytes) -> None:
    """Raise ModelError for a JSON file (vocab.json, added_tokens.json, ...) beyond the limits."""
    if not isinstance(value := _parsed(content), dict):
        return
    _check_pieces([*value, *(piece for piece in value.values() if isinstance(piece, str))])


def check_settings(asked: Mapping[str, Any]) -> None:
    """Raise ModelError for settings of tokenizer_config.json or special_tokens_map.json beyond the limits."""
    texts: list[object] = []
    for key, value in asked.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and key != "model_max_length":
            _within(key, abs(value), MAX_NUMBER)
        texts += _texts(value)
    _check_added(texts)
    ids = asked.get("added_tokens_decoder")
    for number in ids if isinstance(ids, dict) else ():
        if str(number).isdecimal():
            _within("added_tokens_decoder", int(str(number)[:20]), MAX_PIECES)


def check_sentencepiece(content: bytes) -> None:
    """Raise ModelError for a SentencePiece model with pieces or a map of characters beyond the limits."""
    pieces: list[object] = []
    for number, piece in _fields(content):
        if number == 1:
            _within("pieces", len(pieces) + 1, MAX_PIECES)
            text = next((value for key, value in _fields(piece) if key == 1), b"")
            pieces.append(text.decode(errors="replace"))
        elif number in (3, 5):  # the specifications of the normalizer and its reverse
            for key, value in _fields(piece):
                if key == 2:
                    _check_map(value)
    _check_pieces(pieces, MAX_UNIGRAM)


def linear(content: bytes) -> bytes:
    """A tokenizer.json with the patterns of ``REWRITTEN`` replaced."""
    for old, new in REWRITTEN.items():
        content = re.sub(
            rb'("Regex"\s*:\s*)' + re.escape(json.dumps(old).encode()),
            lambda found, new=new: found[1] + json.dumps(new).encode(),  # type: ignore[misc]
            content,
        )
    return content


def _parsed(content: bytes) -> Any:
    _within("lists and objects", content.count(b"[") + content.count(b"{"), MAX_CONTAINERS)
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_distinct)
    except (ValueError, RecursionError):
        raise _damaged("JSON") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without repeated keys, of which other readers take another value."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError
    return value


def _check_pipeline(key: str, part: Any) -> None:
    """Raise ModelError for normalizers, pre-tokenizers, post-processors or decoders beyond the limits."""
    parts = list(_objects(part))
    _within(key, sum("type" in one for one in parts), MAX_CUTS if key == "pre_tokenizer" else MAX_PARTS)
    kinds = [one.get("type") for one in parts]
    growth = 1.0 * (COMPATIBILITY if {"NFKC", "NFKD"} & set(map(str, kinds)) else 1) * (1 + ("Lowercase" in kinds))
    for one in parts:
        for name, most in _LENGTHS.items():
            if isinstance(one.get(name), str):
                _within(f"{key}: {name}", len(one[name]), most)
        growth *= _growth(key, one) if key == "normalizer" else 1
        if isinstance(pattern := one.get("Regex"), str) and not (patterns.is_linear(pattern) or pattern in REWRITTEN):
            raise ModelError(
                later(
                    "The tokenizer's {part} has a regular expression that may take minutes on some texts, so the model "
                    "is not opened. If you trust it, load it by transformers and use bartviz.wrap(network, tokenizer).",
                    part=key,
                )
            )
        for name in ("single", "pair"):
            _check_template(f"{key}: {name}", one.get(name))
        for name in ("ids", "tokens"):
            if isinstance(one.get(name), list):
                _within(f"{key}: {name}", len(one[name]), MAX_TEMPLATE)
    _within(f"{key}: growth", math.ceil(growth), MAX_GROWTH)
    of_patterns = sum(patterns.steps(one["Regex"]) for one in parts if isinstance(one.get("Regex"), str))
    _within(f"{key}: steps", of_patterns, patterns.MAX_STEPS)
    if key == "pre_tokenizer":
        for kind in ("ByteLevel", "Metaspace"):  # each makes a text longer
            _within(f"{key}: {kind}", kinds.count(kind), 1)


def _growth(key: str, part: Mapping[str, Any]) -> float:
    """How many times longer one normalizer may make a text."""
    if isinstance(blob := part.get("precompiled_charsmap"), str):
        try:
            return _check_map(base64.b64decode(blob, validate=True))
        except binascii.Error:
            raise _damaged(f"{key}: precompiled_charsmap") from None
    if isinstance(content := part.get("content"), str):
        pattern = part.get("pattern")
        text = pattern.get("Regex") if isinstance(pattern, dict) else None
        everywhere = pattern == {"String": ""} or (isinstance(text, str) and patterns.matches_nothing(text))
        return max(1, len(content) + everywhere)
    if isinstance(before := part.get("prepend"), str):
        return 1 + len(before)
    return 4 if part.get("type") == "ByteLevel" else 1


def _check_map(blob: bytes) -> int:
    """The length of the longest replacement in SentencePiece's map of characters, a double-array trie and its texts.

    Raises ModelError if the trie points outside of itself or of the texts: what reads it does not check.
    """
    if not blob:
        return 1
    size = int.from_bytes(blob[:4], "little")
    if size % 1024 or not 0 < size <= len(blob) - 4:
        raise _damaged("precompiled_charsmap")
    units, texts = np.frombuffer(blob, "<u4", size // 4, 4), blob[4 + size :]
    values = (units >> 31) == 1
    targets = np.arange(len(units), dtype=np.uint32) ^ ((units >> 10) << ((units & 512) >> 6))
    inside = values | ((targets | 255) < len(units))
    if not inside.all() or ((units & 0x7FFFFFFF)[values] >= max(len(texts), 1)).any():
        raise _damaged("precompiled_charsmap")
    longest = max(len(text.decode(errors="replace")) for text in texts.split(b"\0"))
    _within("precompiled_charsmap", longest, MAX_MARK)
    return max(1, longest)


def _check_template(name: str, template: Any) -> None:
    """Raise ModelError for a template that has a text twice, or very many tokens."""
    if not isinstance(template, list | str):
        return
    pieces = template.split() if isinstance(template, str) else template
    _within(name, len(pieces), MAX_TEMPLATE)
    sides = [_side(piece) for piece in pieces]
    for side in filter(None, set(sides)):
        _within(f"{name}: ${side}", sides.count(side), 1)


def _side(piece: Any) -> str | None:
    """Which of two texts a piece of a template represents; None for a token."""
    if isinstance(piece, str):
        return None if piece[:1] != "$" else "B" if piece[1:2] in ("b", "B") else "A"
    sequence = piece.get("Sequence") if isinstance(piece, dict) else None
    return str(sequence.get("id")) if isinstance(sequence, dict) else None


def _check_model(model: Mapping[str, Any]) -> None:
    for name, most in _LENGTHS.items():
        if isinstance(model.get(name), str):
            _within(f"model: {name}", len(model[name]), most)
    if isinstance(longest := model.get("max_input_chars_per_word"), int):
        _within("model: max_input_chars_per_word", longest, MAX_WORD)
    vocabulary = model.get("vocab")
    if isinstance(vocabulary, list):
        _check_pieces([entry[0] if isinstance(entry, list) and entry else entry for entry in vocabulary], MAX_UNIGRAM)
    elif isinstance(vocabulary, dict):
        _check_pieces(vocabulary)


def _check_pieces(pieces: Collection[object], longest: int = MAX_PIECE) -> None:
    lengths = [len(piece) for piece in pieces if isinstance(piece, str)]
    _within("pieces", len(lengths), MAX_PIECES)
    _within("pieces: length", max(lengths, default=0), longest)
    _within("pieces: squared lengths", sum(length * length for length in lengths), MAX_SQUARES)


def _check_added(contents: Collection[object]) -> None:
    lengths = [len(text) for text in contents if isinstance(text, str)]
    _within("added_tokens: length", max(lengths, default=0), MAX_PIECE)
    _within("added_tokens: characters", sum(lengths), MAX_ADDED)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value, outer ones first."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *_texts(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protobuf message that hold bytes: number and content. Raises ModelError if it is cut short."""
    position, length = 0, len(message)

    def number() -> int:
        nonlocal position
        value = shift = 0
        while position < length and shift < 70:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
        raise _damaged("SentencePiece")

    while position < length:
        key = number()
        kind = key & 7
        if kind == 2:
            size = number()
            if size > length - position:
                raise _damaged("SentencePiece")
            yield key >> 3, message[position : position + size]
            position += size
        elif kind == 0:
            number()
        elif kind in (1, 5):
            position += 8 if kind == 1 else 4
        else:
            raise _damaged("SentencePiece")


def _within(part: str, size: float, most: int) -> None:
    """Raise ModelError, which names the part, if a size is over its limit."""
    if size > most:
        raise ModelError(
            later(
                "The model's tokenizer is not opened, because it could fill the memory or take minutes: {part} is "
                "{size:,}, and at most {most:,} is accepted. If you trust it, load it by transformers and use "
                "bartviz.wrap(network, tokenizer).",
                part=part,
                size=size,
                most=most,
            )
        )


def _damaged(part: str) -> ModelError:
    return ModelError(later("The model's tokenizer is damaged: {part}. Download or save the model again.", part=part))


def _check_model_file(content: bytes) -> None:
    """Raise ModelError for a tokenizer.model beyond the limits: SentencePiece's, or a list of pieces as text."""
    if content.isascii():
        _check_pieces([line.decode() for line in content.splitlines()])
    else:
        check_sentencepiece(content)


CHECKS: Mapping[str, Callable[[bytes], object]] = {
    "tokenizer.json": check_tokenizer,
    **dict.fromkeys(("vocab.json", "target_vocab.json", "added_tokens.json"), check_json),
    **dict.fromkeys(("sentencepiece.bpe.model", "source.spm", "spiece.model", "target.spm"), check_sentencepiece),
    "tokenizer.model": _check_model_file,
    "vocab.txt": lambda content: _check_pieces(content.decode(errors="replace").splitlines()),
}
