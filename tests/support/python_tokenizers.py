"""The tokenizers that transformers has in Python alone, trained on a few sentences, from files as their models have."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import sacremoses  # type: ignore[import-untyped]
import sentencepiece
from transformers import (
    BioGptTokenizer,
    BlenderbotSmallTokenizer,
    ByT5Tokenizer,
    M2M100Tokenizer,
    PreTrainedTokenizerBase,
)
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

Merges = list[tuple[str, str]]


def merges(words: Iterable[str], count: int = 150) -> Merges:
    """The pairs that are most often side by side, one after the other; ``</w>`` ends a word."""
    counts = Counter((*word[:-1], f"{word[-1]}</w>") for word in words)
    found: Merges = []
    while len(found) < count:
        pairs: Counter[tuple[str, str]] = Counter()
        for signs, times in counts.items():
            for pair in pairwise(signs):
                pairs[pair] += times
        if not pairs:
            break
        best = max(sorted(pairs), key=lambda pair: pairs[pair])
        found.append(best)
        counts = Counter({_joined(signs, best): times for signs, times in counts.items()})
    return found


def _joined(signs: Sequence[str], pair: tuple[str, str]) -> tuple[str, ...]:
    made: list[str] = []
    for sign in signs:
        if made and (made[-1], sign) == pair:
            made[-1] += sign
        else:
            made.append(sign)
    return tuple(made)


def m2m_100(train: Callable[[Path, str], Path]) -> PreTrainedTokenizerBase:
    with tempfile.TemporaryDirectory() as place:
        model = train(Path(place), "sentencepiece.bpe.model")
        processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
        pieces = ["<s>", "<pad>", "</s>", "<unk>", *map(processor.id_to_piece, range(processor.piece_size()))]
        file = Path(place) / "vocab.json"
        file.write_text(json.dumps({piece: n for n, piece in enumerate(dict.fromkeys(pieces))}))
        codes = [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]
        return M2M100Tokenizer(
            str(file), str(model), src_lang="en", tgt_lang="de", additional_special_tokens=codes, model_max_length=128
        )


def biogpt(sentences: Iterable[str]) -> PreTrainedTokenizerBase:
    moses = sacremoses.MosesTokenizer(lang="en")
    words = [
        word
        for sentence in sentences
        for word in moses.tokenize(sentence, aggressive_dash_splits=True, return_str=False, escape=True)
    ]
    pairs = merges(words)
    letters = sorted(set("".join(words)))
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *letters, *(f"{letter}</w>" for letter in letters), *map("".join, pairs)]
    return _of_files(BioGptTokenizer, pieces, [f"{a} {b} 9" for a, b in pairs])


def blenderbot_small(sentences: Iterable[str]) -> PreTrainedTokenizerBase:
    words = " ".join(sentences).lower().replace(".", " .").split()
    pairs = merges(words)
    letters = sorted(set("".join(words)))
    pieces = ["__null__", "__start__", "__end__", "__unk__", "__newln__", *letters, *(f"{sign}@@" for sign in letters)]
    pieces += [piece.removesuffix("</w>") if piece.endswith("</w>") else f"{piece}@@" for piece in map("".join, pairs)]
    return _of_files(BlenderbotSmallTokenizer, pieces, ["#version: 0.2", *(f"{a} {b}" for a, b in pairs)])


def byt5() -> PreTrainedTokenizerBase:
    return ByT5Tokenizer(model_max_length=128)


def _of_files(
    kind: Callable[..., PreTrainedTokenizerBase], pieces: list[str], lines: list[str]
) -> PreTrainedTokenizerBase:
    with tempfile.TemporaryDirectory() as place:
        vocabulary, pairs = Path(place) / "vocab.json", Path(place) / "merges.txt"
        vocabulary.write_text(json.dumps({piece: n for n, piece in enumerate(dict.fromkeys(pieces))}))
        pairs.write_text("\n".join(lines) + "\n")
        return kind(str(vocabulary), str(pairs), model_max_length=128)
