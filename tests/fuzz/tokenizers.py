"""Tokenizers drawn from valid parts: normalizers, pre-tokenizers, models, templates, decoders, added tokens.

Most parts are such as models have, some at or over a limit, some damaged. Chance comes from the ``Random`` alone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz import mutations

LETTERS = "abcdefghijklmnopqrstuvwxyz.,!? ABC019éß한"
MARK = "▁"
PATTERNS = (
    r"'s|'t|'re| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    *(r"\p{N}", r"\d{1,3}", " {2,}", r"\s?\p{L}+", "[一-龥]+", r"\s+$", "a*", "x|", "[ab]+c?", ".", r"\b", "(?=a)"),
)
SLOW = (
    "a*a*b",
    "(a+)+b",
    "(a|aa)+$",
    r"(\w+\s?)*$",
    ".*.*=",
    "(a?){30}a{30}",
    "((a{99}){99}){99}",
    r"(.)\1",
    "(",
    "a*b",
)
RARELY = 0.04
TEXTS = (
    "I want to buy a car.",
    "  The CAT's\n\n sofa\t 12345  ",
    "한국어 텍스트 日本語 👩‍👩‍👧 e\u0301 ﷺ ﬁ",
    "\ue000\x07\u200b a",
    "<x> [MASK] </s> <unk>",
    "a" * 3000 + "xb",
    " " * 3000 + "x",
    "abc! " * 600,
    "ﷺ" * 1500,
    "\n" * 2000 + "a",
    "aA1 " * 4000,
)
CLASSES = (
    *("TokenizersBackend",) * 6,
    *("PreTrainedTokenizerFast", "BartTokenizer", "BertTokenizer", "GPT2Tokenizer", "T5Tokenizer", "LlamaTokenizer"),
    *("XLMRobertaTokenizer", "Qwen2Tokenizer", "GemmaTokenizer", "NoSuchTokenizer", None),
)


def pick(random: Random, usual: Sequence[Any], rare: Sequence[Any]) -> Any:
    """Mostly what tokenizers have, so that most of them can be built."""
    return random.choice(rare if random.random() < RARELY else usual)


def _text(random: Random) -> str:
    size: int = pick(random, (0, 1, 1, 1, 1, 2, 2, 3), (8, 60, 1000, 20_000))
    return "".join(random.choice(LETTERS + MARK) for _ in range(min(size, 8))) * max(1, size // 8)


def _pattern(random: Random) -> dict[str, str]:
    if random.random() < 0.4:
        return {"String": pick(random, ("a", " ", "ab", "``", "\n"), ("", _text(random)))}
    chosen = pick(random, PATTERNS, SLOW)
    return {"Regex": chosen if random.random() < 0.8 else f"{chosen}|{pick(random, PATTERNS, SLOW)}"}


def _nested(
    random: Random, key: str, draw: Callable[[Random], dict[str, Any]], depth: int = 0
) -> dict[str, Any] | None:
    """One part, several in a sequence, or sequences in sequences."""
    if depth == 0 and random.random() < 0.1:
        return None
    if random.random() < (0.5 if depth == 0 else 0.15) and depth < 6:
        count = pick(random, (0, 1, 2, 2, 3), (2,) if depth else (5, 40, 200))
        return {"type": "Sequence", key: [_nested(random, key, draw, depth + 1) for _ in range(count)]}
    return draw(random)


def normalizer(random: Random, charsmap: bytes) -> dict[str, Any]:
    yes = random.random() < 0.5
    kind = random.choice(
        (
            *("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "Strip", "BertNormalizer", "ByteLevel"),
            *("Replace", "Replace", "Replace", "Prepend", "Precompiled"),
        )
    )
    made: dict[str, Any] = {"type": kind}
    if kind == "Strip":
        made |= {"strip_left": yes, "strip_right": True}
    elif kind == "BertNormalizer":
        made |= {"clean_text": yes, "handle_chinese_chars": True, "strip_accents": None, "lowercase": yes}
    elif kind == "Replace":
        made |= {"pattern": _pattern(random), "content": _text(random)}
    elif kind == "Prepend":
        made |= {"prepend": _text(random)}
    elif kind == "Precompiled":
        damaged = (b"", b"\xff\xff\xff\xff", b"\0\4\0\0" + b"\xff" * 1024, mutations.bent(random, charsmap))
        blob = pick(random, (charsmap, charsmap, mutations.bent(random, charsmap)), damaged)
        made |= {"precompiled_charsmap": base64.b64encode(blob).decode()}
    return made


def pre_tokenizer(random: Random) -> dict[str, Any]:
    yes = random.random() < 0.5
    behavior = random.choice(("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"))
    return random.choice(
        (
            {"type": "ByteLevel", "add_prefix_space": yes, "trim_offsets": True, "use_regex": random.random() < 0.5},
            {
                "type": "Metaspace",
                "replacement": pick(random, (MARK, "_"), ("ab",)),
                "prepend_scheme": "first",
                "split": yes,
            },
            *({"type": kind} for kind in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts")),
            {"type": "CharDelimiterSplit", "delimiter": pick(random, ("-", " "), ("ab",))},
            {"type": "Punctuation", "behavior": behavior},
            {"type": "Digits", "individual_digits": yes},
            {"type": "FixedLength", "length": pick(random, (1, 5), (0, 2**40))},
            {"type": "Split", "pattern": _pattern(random), "behavior": behavior, "invert": random.random() < 0.2},
            {"type": "Split", "pattern": _pattern(random), "behavior": behavior, "invert": False},
        )
    )


def template(random: Random) -> dict[str, Any]:
    kind = random.choice(
        ("TemplateProcessing", "TemplateProcessing", "RobertaProcessing", "BertProcessing", "ByteLevel")
    )
    if kind == "ByteLevel":
        return {"type": kind, "add_prefix_space": True, "trim_offsets": random.random() < 0.5, "use_regex": True}
    if kind == "RobertaProcessing":
        return {"type": kind, "sep": ["</s>", 1], "cls": ["<s>", 2], "trim_offsets": True, "add_prefix_space": False}
    if kind == "BertProcessing":
        return {"type": kind, "sep": ["</s>", 1], "cls": ["<s>", pick(random, (2,), (10**9,))]}
    text, token = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}
    single = pick(random, ([text], [text, token], [token, text, token]), ([text, text], [token] * 99 + [text], [token]))
    second = {"Sequence": {"id": "B", "type_id": 1}}
    pair = pick(random, ([text, token, second], [text, second]), ([second] * 40, [text]))
    ids = [1] * pick(random, (1,), (0, 2, 5000))
    special = {"</s>": {"id": "</s>", "ids": ids, "tokens": ["</s>"] * len(ids)}}
    return {"type": kind, "single": single, "pair": pair, "special_tokens": special}


def decoder(random: Random) -> dict[str, Any]:
    return random.choice(
        (
            {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            {"type": "WordPiece", "prefix": "##", "cleanup": True},
            {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True},
            {"type": "BPEDecoder", "suffix": "</w>"},
            *({"type": kind} for kind in ("Fuse", "ByteFallback")),
            {"type": "Strip", "content": " ", "start": pick(random, (0, 1), (2**40,)), "stop": 0},
            {"type": "Replace", "pattern": _pattern(random), "content": _text(random)},
        )
    )


def pieces(random: Random) -> list[str]:
    made = ["<unk>", "</s>", "<s>", "<pad>", *LETTERS, MARK, *(f"##{letter}" for letter in LETTERS[:26])]
    made += [f"{a}{b}" for a in "aehot" for b in "aehnt"] + [f"{MARK}{a}" for a in "abct"]
    made += [f"<0x{byte:02X}>" for byte in range(256)] if random.random() < 0.2 else []
    if random.random() < RARELY:
        made += ["a" * length for length in range(3, random.choice((20, 200, 2000)))]
    return list(dict.fromkeys(made))


def model(random: Random) -> dict[str, Any]:
    known = pieces(random)
    vocabulary = {piece: number for number, piece in enumerate(known)}
    mark = pick(random, (None, None, "##", "</w>"), ("", "x" * 5000))
    kind = random.choice(("BPE", "BPE", "WordPiece", "Unigram", "WordLevel"))
    made: dict[str, Any] = {"type": kind}
    if kind == "BPE":
        merges = [[a, b] for a in "aehot" for b in "aehnt" if a + b in vocabulary]
        made |= {
            "dropout": random.choice((None, None, 0.0, 0.5, 1.0)),
            "unk_token": pick(random, ("<unk>", None), ("<no>",)),
        }
        made |= {"continuing_subword_prefix": random.choice((None, None, None, mark)), "end_of_word_suffix": None}
        made |= {"fuse_unk": random.random() < 0.5, "byte_fallback": random.random() < 0.3, "ignore_merges": False}
        made |= {"vocab": vocabulary, "merges": merges if random.random() > RARELY else [*merges, ["zz", "q"]]}
    elif kind == "WordPiece":
        most = pick(random, (100, 256), (0, 10**6))
        made |= {"unk_token": "<unk>", "continuing_subword_prefix": mark or "##", "max_input_chars_per_word": most}
        made |= {"vocab": vocabulary}
    elif kind == "Unigram":
        made |= {"unk_id": pick(random, (0, 0, None), (10**6,)), "byte_fallback": random.random() < 0.3}
        made |= {"vocab": [[piece, -random.random() * 10] for piece in known]}
    else:
        made |= {"vocab": vocabulary, "unk_token": "<unk>"}
    return made


def added(random: Random) -> list[dict[str, Any]]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    tokens = [(1, "</s>"), (2, "<s>"), (3, "<pad>"), (0, "<unk>")][: random.choice((0, 2, 4))]
    if random.random() < 0.3:
        tokens += [(pick(random, (500, 590), (900, 10**6)) + n, f"<{n}>") for n in range(pick(random, (1, 5), (2000,)))]
    if random.random() < RARELY:
        tokens.append((600, random.choice(("a", " ", "", "x" * 10**6))))
    return [{"id": number, "content": text, "special": random.random() < 0.8} | flags for number, text in tokens]


def drawn(random: Random, charsmap: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """A tokenizer.json and a tokenizer_config.json."""
    value: Mapping[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added(random),
        "normalizer": _nested(random, "normalizers", lambda chance: normalizer(chance, charsmap)),
        "pre_tokenizer": _nested(random, "pretokenizers", pre_tokenizer),
        "post_processor": _nested(random, "processors", template),
        "decoder": _nested(random, "decoders", decoder),
        "model": model(random),
    }
    settings: dict[str, Any] = {"eos_token": "</s>", "unk_token": "<unk>"} if random.random() < 0.8 else {}
    if (name := random.choice(CLASSES)) is not None:
        settings["tokenizer_class"] = name
    if random.random() < 0.2:
        settings |= random.choice(
            (
                {"extra_ids": random.choice((0, 10, 10**9))},
                {"pad_token": "[PAD]"},
                {"image_token": "<x>"},
                {"do_lower_case": False, "strip_accents": True},
                {"additional_special_tokens": ["<x>", "y" * random.choice((1, 10**5))]},
                {"added_tokens_decoder": {str(random.choice((5, 700, 2**40))): {"content": "<x>", "special": True}}},
            )
        )
    return dict(value), settings


def write(folder: Path, random: Random, charsmap: bytes) -> None:
    value, settings = drawn(random, charsmap)
    (folder / "tokenizer.json").write_text(json.dumps(value))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
