"""What `training.evaluate` measures, one function per model: plain numbers, no printing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from transformers import BartForConditionalGeneration, BartTokenizer, BertForPreTraining, BertTokenizer

from bartviz.analysis import alignment, gold_alignment, measures
from bartviz.analysis.denoising import NOISE
from bartviz.arrays import Floats
from bartviz.models.model import Model
from bartviz.record.attention import Head
from bartviz.record.record import Reading
from bartviz.run.forward import capture
from training import corpus, denoise, networks, sequence
from training.translate import bleu_chrf

_CLASSES = {"bart": (BartForConditionalGeneration, BartTokenizer), "bert": (BertForPreTraining, BertTokenizer)}
LONGEST = 60  # tokens of a translation
JOBS = {"previous": "previous", "next": "next", "special": "delimiter", "same": "same word"}  # measures of the library


@dataclass(frozen=True)
class Rates:
    """Alignment error rates of one labelling; L layers, H heads."""

    head: np.ndarray[Any, np.dtype[np.float64]]  # (L, H)
    layer: list[float]  # mean of the heads of a layer
    every: float  # mean of all heads
    best_heads: tuple[list[tuple[int, int]], float]  # mean of the few heads that are best together, and its rate


def load(folder: Path) -> tuple[Any, Any]:
    """Model and tokenizer of either kind, by the folder's configuration; its attention returns its weights."""
    kind = json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"]
    network, tokenizer = _CLASSES[kind]
    return networks.opened(network, folder).eval(), tokenizer.from_pretrained(folder)


def translation(model: Any, tokenizer: Any, rows: Iterable[corpus.Pair], beams: int) -> dict[str, float]:
    """BLEU and chrF of all English sentences of `rows`, every reference counted."""
    known = corpus.references(rows)
    found = sequence.translate(model, tokenizer, list(known), beams=beams, longest=LONGEST)
    return bleu_chrf(found, list(known.values()))


def reconstruction(model: Any, tokenizer: Any, folder: Path) -> dict[str, tuple[float, float]]:
    """Loss (nats) and teacher-forced token accuracy per noise function, on the validation split."""
    return {name: sequence.score(model, denoise.validation(folder, tokenizer, name, 1500)) for name in NOISE}


def alignments(model: Model, folder: Path, reading: Reading) -> Rates:
    """Error rates of heads, layers and combinations of the cross-attention, over all pairs aligned by hand together."""
    tables, gold = [], []
    for line in (folder / corpus.GOLD_FILE).read_text(encoding="utf-8").splitlines():
        en, de, by_hand = line.split("\t")
        record = capture(model, en, target=de)
        source, target = alignment.lines(record)
        gold.append(gold_alignment.read(by_hand, len(source), len(target)))
        tables.append(
            {one: alignment.table(record, [one], reading=reading).weights for one in alignment.heads_of(record)}
        )

    def rate(*chosen: tuple[int, int]) -> float:
        heads = [Head("cross", *one) for one in chosen]
        means = (np.mean([table[head] for head in heads], axis=0) for table in tables)
        found = [
            gold_alignment.score(alignment.links(mean, "target"), known)
            for mean, known in zip(means, gold, strict=True)
        ]
        return 1 - sum(one.right_sure + one.right for one in found) / sum(one.found + one.sure for one in found)

    layers, count = model.info.decoder_layers, model.info.decoder_heads
    whole = [[(layer, head) for head in range(count)] for layer in range(layers)]
    each = np.array([[rate(head) for head in row] for row in whole])
    return Rates(each, [rate(*row) for row in whole], rate(*[h for row in whole for h in row]), _together(each, rate))


def copy_heads(model: Model, folder: Path) -> Floats:
    """Mean weight of each cross-attention head on the token predicted and on the one read: (2, L, H)."""
    found = [copying(capture(model, text, target=text).to_numpy()["cross"]) for text in _sentences(folder, 300)]
    return np.asarray(np.concatenate(found, axis=-1).mean(axis=-1), np.float32)


def copying(weights: Floats) -> Floats:
    """The weight of cross-attention on the token that a row predicts, and on the one that it reads: (2, L, H, N - 1).

    `weights` is (L, H, N, N) with the same text on both sides, `<s>` and `</s>` included: row t predicts token t and
    reads token t - 1. Row 0 is left out, as it predicts `<s>` and reads the start.
    """
    rows = np.arange(1, weights.shape[-1])
    return np.stack([weights[..., rows, rows], weights[..., rows, rows - 1]])


def bert_heads(model: Model, folder: Path) -> Floats:
    """Mean weight of each head on each job (4, L, H), over the rows of 500 validation sentences."""
    found = [measures.of_record(capture(model, text), "encoder") for text in _sentences(folder, 500)]
    rows = np.array([[one.rows[name] for name in JOBS] for one in found])  # (texts, 4)
    sums = [sum(np.nan_to_num(one.values[name]) * one.rows[name] for one in found) for name in JOBS]
    return np.asarray(np.array(sums) / rows.sum(axis=0)[:, None, None], np.float32)


def _sentences(folder: Path, count: int) -> list[str]:
    """English sentences of the validation split."""
    texts = corpus.unique(row.en for row in corpus.pairs(folder, "valid"))
    return [text for text in texts if len(text.split()) > 4][:count]


def _together(each: np.ndarray[Any, np.dtype[np.float64]], rate: Any) -> tuple[list[tuple[int, int]], float]:
    """Add heads to the best one, best first, while the error rate of their mean falls."""
    order = [divmod(int(i), each.shape[1]) for i in each.argsort(axis=None)]
    chosen, best = [order[0]], float(each.min())
    for head in order[1:8]:
        now = rate(*chosen, head)
        if now < best:
            chosen, best = [*chosen, head], now
    return chosen, best
