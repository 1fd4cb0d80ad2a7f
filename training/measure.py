"""What `training.evaluate` measures, one function per model: plain numbers, no printing."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BartForConditionalGeneration, BartTokenizer, BertForPreTraining, BertTokenizer

from bartviz.analysis.denoising import NOISE
from training import alignment, bert, context, corpus, denoise, everyday, heads, names_check, networks, sequence
from training.translate import bleu_chrf

LONGEST = 60  # tokens of a translation


@dataclass(frozen=True)
class Rates:
    """Alignment error rates of one labelling; L layers, H heads."""

    head: np.ndarray[Any, np.dtype[np.float64]]  # (L, H)
    layer: list[float]  # mean of the heads of a layer
    every: float  # mean of all heads
    best_heads: tuple[list[tuple[int, int]], float]  # mean of the few heads that are best together, and its rate


def load(folder: Path) -> tuple[Any, Any]:
    """Model and tokenizer of either kind, by the folder's configuration."""
    kind = json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"]
    return (load_bert if kind == "bert" else load_bart)(folder)


def load_bart(folder: Path) -> tuple[Any, Any]:
    """Model and tokenizer, with the attention that returns its weights."""
    model = networks.opened(BartForConditionalGeneration, folder).eval()
    return model, BartTokenizer.from_pretrained(folder)


def load_bert(folder: Path) -> tuple[Any, Any]:
    """Model and tokenizer, with the attention that returns its weights."""
    model = networks.opened(BertForPreTraining, folder).eval()
    return model, BertTokenizer.from_pretrained(folder)


def translation(model: Any, tokenizer: Any, rows: Iterable[corpus.Pair], beams: int) -> dict[str, float]:
    """BLEU and chrF of all English sentences of `rows`, every reference counted."""
    known = corpus.references(rows)
    found = sequence.translate(model, tokenizer, list(known), beams=beams, longest=LONGEST)
    return bleu_chrf(found, list(known.values()))


def everyday_right(model: Any, tokenizer: Any) -> dict[str, tuple[int, int]]:
    """Kind of everyday sentences -> how many of them are right, greedy, and how many there are."""
    return everyday.by_kind(everyday.cases(), functools.partial(sequence.translate, model, tokenizer))


def names_arrived(model: Any, tokenizer: Any) -> tuple[float, float]:
    """Share of the sentences in which all names and numbers arrive, greedy, and share of names and numbers."""
    return names_check.share(names_check.cases(), functools.partial(sequence.translate, model, tokenizer))


def reconstruction(model: Any, tokenizer: Any, folder: Path) -> dict[str, tuple[float, float]]:
    """Loss (nats) and teacher-forced token accuracy per noise function, on the validation split."""
    return {name: sequence.score(model, denoise.validation(folder, tokenizer, name, 1500)) for name in NOISE}


def alignments(model: Any, tokenizer: Any, gold: list[alignment.Gold], labelling: str) -> Rates:
    """Error rates of heads, layers and combinations of the cross-attention."""
    tables = [alignment.tables(model, tokenizer, pair, labelling) for pair in gold]

    def rate(*chosen: tuple[int, int]) -> float:
        means = (np.mean([table[layer, head] for layer, head in chosen], axis=0) for table in tables)
        return alignment.error_rate((alignment.links(mean) for mean in means), gold)

    layers, count = tables[0].shape[:2]
    each = np.array([[rate((layer, head)) for head in range(count)] for layer in range(layers)])
    whole = [[(layer, head) for head in range(count)] for layer in range(layers)]
    return Rates(each, [rate(*row) for row in whole], rate(*[h for row in whole for h in row]), _together(each, rate))


def copy_heads(model: Any, tokenizer: Any, folder: Path, count: int = 300) -> heads.Floats:
    """Mean weight of each cross-attention head on the token predicted and on the one read: (2, L, H)."""
    texts = [text for text in corpus.unique(row.en for row in corpus.pairs(folder, "valid")) if len(text.split()) > 4]
    return heads.copy_scores(model, tokenizer, texts[:count])


def bert_accuracy(model: Any, tokenizer: Any, folder: Path) -> dict[str, float]:
    """Masked-token and next-sentence accuracy on the validation split."""
    return bert.check(model, tokenizer, folder)


def bert_context(model: Any, tokenizer: Any) -> dict[str, int]:
    """How many gaps of our own pairs are filled rightly, without the sentence before and with it."""
    return context.counts([(pair, context.guess(model, tokenizer, pair)) for pair in context.cases()])


def bert_heads(model: Any, tokenizer: Any, folder: Path, count: int = 500) -> heads.Floats:
    """Mean weight of each head on each job (4, L, H), over validation sentences."""
    texts = [text for text in corpus.unique(row.en for row in corpus.pairs(folder, "valid")) if len(text.split()) > 4]
    return heads.head_scores(model, tokenizer, texts[:count])


def _together(each: np.ndarray[Any, np.dtype[np.float64]], rate: Any) -> tuple[list[tuple[int, int]], float]:
    """Add heads to the best one, best first, while the error rate of their mean falls."""
    order = [divmod(int(i), each.shape[1]) for i in each.argsort(axis=None)]
    chosen, best = [order[0]], float(each.min())
    for head in order[1:8]:
        now = rate(*chosen, head)
        if now < best:
            chosen, best = [*chosen, head], now
    return chosen, best


def set_threads(count: int) -> None:
    """Threads of the processor to use."""
    torch.set_num_threads(count)
