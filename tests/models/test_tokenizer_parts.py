"""Parts of a tokenizer that would fill the memory or take minutes are refused before anything is built from them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tokenizers import Tokenizer

import bartviz
from bartviz.errors import ModelError, TextError
from bartviz.families.catalogue import EMBEDDED
from bartviz.models import tokenizer_parts as parts
from bartviz.text import tokenize
from tests.support import networks, small_tokenizers


def plain() -> dict[str, Any]:
    """A tokenizer.json of BART's kind."""
    made: dict[str, Any] = json.loads(networks.tokenizer("bart").backend_tokenizer.to_str())
    return made


def said(value: dict[str, Any]) -> str:
    with pytest.raises(ModelError) as error:
        parts.check_tokenizer(json.dumps(value).encode())
    return str(error.value)


def replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def sequence(*inner: dict[str, Any], key: str = "normalizers") -> dict[str, Any]:
    return {"type": "Sequence", key: list(inner)}


def split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def charsmap() -> bytes:
    """The map of SentencePiece's own normalization."""
    made = json.loads(small_tokenizers.tokenizer("t5_model").backend_tokenizer.to_str())["normalizer"]
    maps = [one["precompiled_charsmap"] for one in parts._objects(made) if "precompiled_charsmap" in one]
    return base64.b64decode(maps[0])


BOMBS = {
    "a chain of replacements": sequence(replace("[a-z]", "z" * 60, "Regex"), replace("z", "y" * 60)),
    "a long replacement": replace("a", "x" * 1000),
    "a replacement everywhere": sequence(*[replace("", "ab")] * 8),
    "a replacement of nothing, by a regular expression": sequence(*[replace("x*", "ab", "Regex")] * 8),
    "bytes of bytes": sequence(*[{"type": "ByteLevel"}] * 8),
    "a long prefix": {"type": "Prepend", "prepend": "x" * 10_000},
    "very many": sequence(*[{"type": "NFC"}] * 1000),
    "hidden in sequences": sequence(sequence(sequence(replace("a", "x" * 1000)))),
    "a slow search": replace("a*a*b", "c", "Regex"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_normalizers_that_grow_are_refused(name: str) -> None:
    assert "normalizer" in said(plain() | {"normalizer": BOMBS[name]})


@pytest.mark.parametrize(
    "part",
    [
        split("a*a*b"),
        sequence(split("(a+)+b"), {"type": "ByteLevel"}, key="pretokenizers"),
        sequence(*[{"type": "ByteLevel", "add_prefix_space": True}] * 3, key="pretokenizers"),
        sequence(*[split("a")] * parts.MAX_CUTS, key="pretokenizers"),
        sequence(*[split("[a-z]{1,10}[0-9]")] * 10, key="pretokenizers"),
    ],
)
def test_pre_tokenizers_that_take_for_ever_are_refused(part: dict[str, Any]) -> None:
    assert "pre_tokenizer" in said(plain() | {"pre_tokenizer": part})


def template(*pieces: str, ids: int = 1) -> dict[str, Any]:
    made = [{"Sequence": {"id": "A", "type_id": 0}} if p == "A" else {"SpecialToken": {"id": p}} for p in pieces]
    token = {"id": "</s>", "ids": [2] * ids, "tokens": ["</s>"] * ids}
    return {"type": "TemplateProcessing", "single": made, "pair": [], "special_tokens": {"</s>": token}}


@pytest.mark.parametrize(
    "part",
    [
        template("A", "A", "</s>"),
        template("A", *["</s>"] * 100),
        template("A", "</s>", ids=1000),
        {"type": "TemplateProcessing", "single": "$A $A:1 $0", "pair": "", "special_tokens": {}},
    ],
)
def test_templates_that_multiply_are_refused(part: dict[str, Any]) -> None:
    assert "post_processor" in said(plain() | {"post_processor": part})


def test_decoders_are_bounded() -> None:
    assert "decoder" in said(plain() | {"decoder": replace("(a|aa)+$", "b", "Regex")})


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ({"type": "WordPiece", "vocab": {"a": 0}, "max_input_chars_per_word": 10_000_000}, "max_input_chars_per_word"),
        ({"type": "WordPiece", "vocab": {"a": 0}, "continuing_subword_prefix": "#" * 10_000}, "continuing_subword"),
        ({"type": "BPE", "vocab": {"a": 0}, "merges": [], "end_of_word_suffix": "w" * 10_000}, "end_of_word_suffix"),
        ({"type": "Unigram", "unk_id": 0, "vocab": [["a" * n, -1.0] for n in range(1, 500)]}, "pieces: length"),
        ({"type": "BPE", "vocab": {"a" * 900 + str(n): n for n in range(600)}, "merges": []}, "squared"),
    ],
)
def test_models_are_bounded(model: dict[str, Any], name: str) -> None:
    assert name in said(plain() | {"model": model})


def test_added_tokens_are_bounded() -> None:
    assert "added_tokens" in said(plain() | {"added_tokens": [{"id": 0, "content": "x" * 100_000}]})
    assert "added_tokens" in said(plain() | {"added_tokens": [{"id": n, "content": "x" * 900} for n in range(5000)]})


def test_a_repeated_key_is_refused() -> None:
    """The reader of the library builds both of them."""
    text = json.dumps(plain())
    bomb = f'{{"normalizer": {json.dumps(BOMBS["a long prefix"])}, {text[1:]}'
    with pytest.raises(ModelError, match="damaged"):
        parts.check_tokenizer(bomb.encode())


def test_settings_are_bounded() -> None:
    for asked in ({"extra_ids": 10**9}, {"num_madeup_words": 10**9}, {"unk_token": "x" * 10**6}):
        with pytest.raises(ModelError, match="at most"):
            parts.check_settings(asked)
    with pytest.raises(ModelError, match="added_tokens_decoder"):
        parts.check_settings({"added_tokens_decoder": {"4000000000": {"content": "x"}}})
    parts.check_settings({"model_max_length": 10**30, "extra_ids": 100, "added_tokens_decoder": {"32000": {}}})


@pytest.mark.parametrize("change", ["size", "cut", "offset", "value", "longest"])
def test_a_map_of_characters_that_points_outside_is_refused(change: str) -> None:
    good = charsmap()
    parts._check_map(good)
    size = int.from_bytes(good[:4], "little")
    bad = bytearray(good)
    if change == "size":
        bad[:4] = b"\xff\xff\xff\xff"
    elif change == "cut":
        del bad[size // 2 :]
    elif change == "offset":
        bad[4:8] = (0x1FFFFF << 10).to_bytes(4, "little")
    elif change == "value":
        units = [int.from_bytes(good[i : i + 4], "little") for i in range(4, 4 + size, 4)]
        leaf = next(n for n, unit in enumerate(units) if unit >> 31)
        bad[4 + 4 * leaf : 8 + 4 * leaf] = b"\xff\xff\xff\xff"
    else:
        bad += b"\0" + b"x" * 1000
    with pytest.raises(ModelError, match="precompiled_charsmap"):
        parts._check_map(bytes(bad))
    value = plain() | {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(bytes(bad)).decode()}
    }
    assert "precompiled_charsmap" in said(value)


def test_a_sentencepiece_model_is_bounded(tmp_path: Path) -> None:
    content = networks.sentence_pieces(tmp_path, "spiece.model").read_bytes()
    parts.check_sentencepiece(content)
    assert sentencepiece.SentencePieceProcessor(model_proto=content).piece_size() == sum(
        number == 1 for number, _ in parts._fields(content)
    )
    long = b"x" * 400
    piece = b"\x0a" + bytes([len(long) & 127 | 128, len(long) >> 7]) + long
    with pytest.raises(ModelError, match="length"):
        parts.check_sentencepiece(content + b"\x0a" + bytes([len(piece) & 127 | 128, len(piece) >> 7]) + piece)
    with pytest.raises(ModelError, match="damaged"):
        parts.check_sentencepiece(content[:-5])


@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_the_files_of_every_family_pass(family: str, tmp_path: Path) -> None:
    networks.tokenizer(family).save_pretrained(tmp_path)
    for path in tmp_path.iterdir():
        parts.CHECKS.get(path.name, len)(path.read_bytes())
        if path.name in ("tokenizer_config.json", "special_tokens_map.json"):
            parts.check_settings(json.loads(path.read_text()))


def test_the_files_of_the_models_that_ship_pass() -> None:
    paths = sorted(EMBEDDED.glob("*/tokenizer.json"))
    assert paths
    for path in paths:
        parts.check_tokenizer(path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a chain of replacements", "a slow search"])
def test_a_model_with_such_a_part_is_not_opened(name: str, tmp_path: Path) -> None:
    folder = networks.save("bart", tmp_path, trained=True)
    networks.edit(folder, "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    bartviz.load(folder)
    networks.edit(folder, "tokenizer.json", normalizer=BOMBS[name])
    with pytest.raises(ModelError, match=r"bartviz\.wrap"):
        bartviz.load(folder)


def test_a_pattern_that_is_rewritten_is_read_by_the_library(tmp_path: Path) -> None:
    content = json.dumps(plain() | {"pre_tokenizer": split(r"\s+$")}).encode()
    parts.check_tokenizer(content)
    own = Tokenizer.from_str(parts.linear(content).decode())
    assert own.pre_tokenizer.pre_tokenize_str("a b  ") == [("a b", (0, 3)), ("  ", (3, 5))]
    assert json.loads(parts.linear(content))["pre_tokenizer"]["pattern"] == {"Regex": parts.REWRITTEN[r"\s+$"]}


def test_a_text_that_a_normalizer_makes_very_long_is_refused() -> None:
    own = small_tokenizers.tokenizer("t5_model")
    assert (0, 1) in tokenize.encode(own, "ﷺ").spans
    with pytest.raises(TextError, match="300,000 characters"):
        tokenize.encode(own, "ﷺ" * 90_000)
