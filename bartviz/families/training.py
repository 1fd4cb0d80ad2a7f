"""What no configuration says of a family: how its texts are written for it, what it was trained to do, who said so.

The forms of one and two texts are those of transformers' tokenizers; a test compares them with what those write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bartviz.language import mark


@dataclass(frozen=True)
class Training:
    """``single`` and ``pair``: one text A, and two texts A and B, between their special tokens."""

    tokenizer: str
    single: str
    pair: str | None
    objective: str
    predicts: str
    paper: str
    prefix: str | None = None


_MASKED = mark("the masked pieces alone")
_WHOLE = mark("the whole text, token by token")
_NEXT = mark("each next token")
_SENTENCEPIECE = "SentencePiece"
_BPE = mark("byte-level BPE")
_WORDPIECE = "WordPiece"

TRAINING: Mapping[str, Training] = MappingProxyType(
    {
        "bert": Training(
            _WORDPIECE,
            "[CLS] A [SEP]",
            "[CLS] A [SEP] B [SEP]",
            mark("fill masked pieces (15 %) and judge whether B follows A"),
            _MASKED,
            "Devlin et al. 2019",
        ),
        "roberta": Training(
            _BPE,
            "<s> A </s>",
            "<s> A </s></s> B </s>",
            mark("fill masked pieces (15 %), masked anew each time"),
            _MASKED,
            "Liu et al. 2019",
        ),
        "distilbert": Training(
            _WORDPIECE,
            "[CLS] A [SEP]",
            "[CLS] A [SEP] B [SEP]",
            mark("fill masked pieces as a larger BERT would"),
            _MASKED,
            "Sanh et al. 2019",
        ),
        "electra": Training(
            _WORDPIECE,
            "[CLS] A [SEP]",
            "[CLS] A [SEP] B [SEP]",
            mark("tell which pieces a small model has replaced"),
            mark("for every piece, whether it was replaced"),
            "Clark et al. 2020",
        ),
        "albert": Training(
            _SENTENCEPIECE,
            "[CLS] A [SEP]",
            "[CLS] A [SEP] B [SEP]",
            mark("fill masked pieces (15 %) and judge the order of A and B"),
            _MASKED,
            "Lan et al. 2020",
        ),
        "bart": Training(
            _BPE,
            "<s> A </s>",
            "<s> A </s></s> B </s>",
            mark("restore a text whose spans (30 %) are each one mask and whose sentences are shuffled"),
            _WHOLE,
            "Lewis et al. 2020",
        ),
        "mbart": Training(
            _SENTENCEPIECE,
            "A </s> en_XX",
            None,
            mark("restore a text in one of 25 languages whose spans (35 %) are each one mask, sentences shuffled"),
            _WHOLE,
            "Liu et al. 2020",
        ),
        "marian": Training(
            _SENTENCEPIECE,
            "A </s>",
            None,
            mark("translate sentences of parallel texts"),
            mark("the translation, token by token"),
            "Junczys-Dowmunt et al. 2018",
        ),
        "pegasus": Training(
            _SENTENCEPIECE,
            "A </s>",
            None,
            mark("write the most telling sentences (30 %) that were taken out of a document"),
            mark("the sentences taken out, token by token"),
            "Zhang et al. 2020",
        ),
        "t5": Training(
            _SENTENCEPIECE,
            "A </s>",
            None,
            mark("name the spans (15 %) behind numbered sentinels, and many tasks with a prefix"),
            mark("the spans alone, each after its sentinel"),
            "Raffel et al. 2020",
            prefix="translate English to German: A",
        ),
        "t5 gated": Training(  # T5 1.1
            _SENTENCEPIECE,
            "A </s>",
            None,
            mark("name the spans (15 %) behind numbered sentinels"),
            mark("the spans alone, each after its sentinel"),
            "Shazeer 2020; Raffel et al. 2020",
        ),
        "gpt2": Training(_BPE, "A", None, mark("go on with a text"), _NEXT, "Radford et al. 2019"),
    }
)
"""Facts by transformers' model_type; T5 1.1 has the name of its blueprint.

T5's pair is one text, its parts named by words ("premise: A hypothesis: B").
"""
