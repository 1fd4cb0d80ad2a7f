"""Small real tokenizers of every kind that we support, trained here on a few hundred lines: no network, two seconds.

Each is the class that transformers gives the model of that family; only the vocabulary is small.
"""

from __future__ import annotations

import io
import json
import tempfile
import warnings
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import sentencepiece
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (
    BertTokenizer,
    GPT2Tokenizer,
    MarianTokenizer,
    MBartTokenizer,
    PegasusTokenizer,
    RobertaTokenizer,
    T5Tokenizer,
)

NAMES = ("bert", "bert_cased", "bart", "gpt2", "t5", "t5_model", "pegasus", "marian", "mbart")
BYTE_LEVEL = ("bart", "gpt2")
SENTENCEPIECE = ("t5", "t5_model", "pegasus", "marian", "mbart")

_ENGLISH = (
    ("I", "We", "The teacher", "My sister", "Nobody", "The old man"),
    ("want to buy", "doesn't like", "looked at", "is translating", "forgot", "will explain"),
    ("a car.", "the translation of the words!", "every token, every word.", "it?", "the sleeping cat.", "three books."),
)
_GERMAN = (
    ("Ich", "Wir", "Die Lehrerin", "Meine Schwester", "Niemand", "Der alte Mann"),
    ("möchte", "vergaß", "sieht", "übersetzt", "erklärt", "kauft"),
    (
        "ein Auto.",
        "die Übersetzung der Wörter!",
        "jedes Wort, jeden Satz.",
        "es?",
        "die schlafende Katze.",
        "drei Bücher.",
    ),
)
_KOREAN = (
    ("나는", "우리는", "선생님은", "고양이가"),
    ("자동차를", "한국어 단어를", "번역을", "책을"),
    ("사고 싶습니다.", "봅니다.", "설명합니다!", "좋아합니까?"),
)
_EMOJI = (("Look", "Ja", "네"), ("😀", "🎉", "👍"), ("!", "(1999)", '"ok"'))


@cache
def lines() -> tuple[str, ...]:
    """The training text: 523 different lines in English, German and Korean, some with emoji."""
    return tuple(" ".join(parts) for side in (_ENGLISH, _GERMAN, _KOREAN, _EMOJI) for parts in product(*side))


@cache
def tokenizer(name: str) -> Any:
    """One of NAMES; the same object each time, so do not change it."""
    return {
        "bert": lambda: wordpiece(lower=True),
        "bert_cased": lambda: wordpiece(lower=False),
        "bart": bart,
        "gpt2": gpt2,
        "t5": lambda: T5Tokenizer(vocab=_unigram(("<pad>", "</s>", "<unk>"), unknown="<unk>")),
        "t5_model": lambda: _from_folder(T5Tokenizer, {"spiece.model": _model(pad_id=0, eos_id=1, unk_id=2)}),
        "pegasus": pegasus,
        "marian": marian,
        "mbart": mbart,
    }[name]()


def wordpiece(*, lower: bool) -> Any:
    """BERT's, uncased or cased."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lower)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(
        lines(), trainers.WordPieceTrainer(vocab_size=500, special_tokens=special, show_progress=False)
    )
    return BertTokenizer(vocab=made.get_vocab(), do_lower_case=lower)


def bart(**options: Any) -> Any:
    """Byte-level BPE with BART's special tokens."""
    vocabulary, merges = _byte_level(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return RobertaTokenizer(vocab=vocabulary, merges=merges, **options)


def gpt2() -> Any:
    """Byte-level BPE with GPT-2's one special token, which is its unknown token too."""
    vocabulary, merges = _byte_level(["<|endoftext|>"])
    return GPT2Tokenizer(vocab=vocabulary, merges=merges)


def pegasus() -> Any:
    """SentencePiece with 103 special tokens, from a .model file."""
    symbols = ["<mask_1>", "<mask_2>", *(f"<unk_{i}>" for i in range(2, 103))]
    model = _model(size=700, pad_id=0, eos_id=1, unk_id=105, user_defined_symbols=",".join(symbols))
    return _from_folder(PegasusTokenizer, {"spiece.model": model})


def marian() -> Any:
    """Marian's slow tokenizer: a source model, a target model, one vocabulary, one language code."""
    source, target = _model(size=400), _model(size=300)
    vocabulary = {"</s>": 0, "<unk>": 1}
    for piece in (*_pieces(source), *_pieces(target), ">>deu<<", "<pad>"):
        vocabulary.setdefault(piece, len(vocabulary))
    settings = json.dumps({"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de"})
    return _from_folder(
        MarianTokenizer,
        {
            "source.spm": source,
            "target.spm": target,
            "vocab.json": json.dumps(vocabulary).encode(),
            "tokenizer_config.json": settings.encode(),
        },
    )


def mbart() -> Any:
    """A unigram vocabulary with language codes: ``en_XX`` after a source, ``de_DE`` after a target."""
    pieces = _unigram(("<s>", "<pad>", "</s>", "<unk>"), unknown="<unk>")
    codes = [(code, 0.0) for code in ("ar_AR", "cs_CZ", "de_DE", "en_XX")]
    return MBartTokenizer(vocab=[*pieces, *codes, ("<mask>", 0.0)], src_lang="en_XX", tgt_lang="de_DE")


def _byte_level(special: list[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        lines(),
        trainers.BpeTrainer(vocab_size=600, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    model = json.loads(made.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def _unigram(special: tuple[str, ...], unknown: str) -> list[tuple[str, float]]:
    """Pieces and scores of a unigram model trained by the ``tokenizers`` library."""
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=500, special_tokens=list(special), unk_token=unknown, show_progress=False
    )
    made.train_from_iterator(lines(), trainer)
    return [(piece, score) for piece, score in json.loads(made.to_str())["model"]["vocab"]]


def _model(size: int = 500, **options: Any) -> bytes:
    """A .model file of the ``sentencepiece`` package, with its usual normalization (NFKC)."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines()),
        model_writer=out,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
        bos_id=-1 if "pad_id" in options else 1,
        **options,
    )
    return out.getvalue()


def _pieces(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


def _from_folder(kind: Any, files: dict[str, bytes]) -> Any:
    with tempfile.TemporaryDirectory() as place:
        for name, content in files.items():
            (Path(place) / name).write_bytes(content)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*sacremoses.*")
            return kind.from_pretrained(place)
