"""The two vocabularies: byte-level BPE shared by English and German for BART, uncased WordPiece for BERT."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, BertWordPieceTokenizer, ByteLevelBPETokenizer
from transformers import BartTokenizer, BertTokenizer

VOCABULARY = 8_000
POSITIONS = 128
BART_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]  # ids 0 to 4
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]  # ids 0 to 4


def train_bart(texts: Iterable[str], size: int = VOCABULARY) -> Any:
    """Byte-level BPE over `texts`, as the tokenizer that BART loads. `<mask>` takes the space before it."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        texts, vocab_size=size, min_frequency=2, special_tokens=BART_SPECIAL, show_progress=False
    )
    with tempfile.TemporaryDirectory() as folder:
        vocab, merges = trained.save_model(folder)
        mask = AddedToken("<mask>", lstrip=True, normalized=False, special=True)
        return BartTokenizer(
            vocab=json.loads(Path(vocab).read_text(encoding="utf-8")),
            merges=_read_merges(Path(merges)),
            mask_token=mask,
            model_max_length=POSITIONS,
        )


def train_bert(texts: Iterable[str], size: int = VOCABULARY) -> Any:
    """Uncased WordPiece over `texts`, as the tokenizer that BERT loads."""
    trained = BertWordPieceTokenizer(lowercase=True)
    trained.train_from_iterator(
        texts, vocab_size=size, min_frequency=2, special_tokens=BERT_SPECIAL, show_progress=False
    )
    vocab = dict(sorted(trained.get_vocab().items(), key=lambda item: item[1]))
    return BertTokenizer(vocab=vocab, do_lower_case=True, model_max_length=POSITIONS)


def _read_merges(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").split("\n")[1:]  # the first line is a version
    return [(left, right) for left, _, right in (line.partition(" ") for line in lines) if right]
