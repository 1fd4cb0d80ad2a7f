"""What the denoiser and the translator share: source and target token ids through a BART."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from training.batches import Example, by_length, pad
from training.loss import cross_entropy
from training.networks import EOS, PAD
from training.vocabulary import POSITIONS

TOKENS = 3000  # of a batch that is scored
BATCH = 64  # texts that are translated together
LARGE = 512  # on another device than the processor


def encode(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, between `<s>` and `</s>`, cut to the positions of the network."""
    if not texts:
        return []  # the tokenizer wants one at least
    ids: list[list[int]] = tokenizer(list(texts), truncation=True, max_length=POSITIONS)["input_ids"]
    return ids


def states(model: Any, batch: Sequence[Example], device: torch.device) -> tuple[Tensor, Tensor]:
    """The decoder's last states and the tokens to predict at all rows that are not padding: (N, D) and (N,)."""
    source, target = (pad([example[i] for example in batch], PAD, device) for i in (0, 1))  # (B, S), (B, T)
    start = torch.full_like(target[:, :1], EOS)
    output = model.model(
        input_ids=source,
        attention_mask=source.ne(PAD).long(),
        decoder_input_ids=torch.cat([start, target[:, :-1]], 1),
        use_cache=False,
    )
    real = target.ne(PAD)  # (B, T)
    return output.last_hidden_state[real], target[real]


def loss(
    model: Any,
    batch: Sequence[Example],
    device: torch.device,
    smoothing: float,
    dtype: torch.dtype,
    before: Any = None,
    keep: float = 0.0,
) -> Tensor:
    """Mean cross-entropy of a batch. `final_logits_bias` is a buffer of zeros and stays so.

    `before` is a version before, whose knowledge is kept by `keep` (see `training.loss`). Of examples of three parts
    (source, target, usual source) it reads the last: what it knows of a text is learned for other ways to type it.
    """
    h, target = states(model, batch, device)
    known = None
    if before is not None:
        with torch.no_grad():
            read = [(example[-1], example[1]) if len(example) > 2 else example for example in batch]
            known = states(before, read, device)[0], before.model.shared.weight
    with torch.autocast(device.type, enabled=False):
        return cross_entropy(h, model.model.shared.weight, target, smoothing, dtype, known, keep)


@torch.no_grad()
def score(model: Any, examples: Sequence[Example]) -> tuple[float, float]:
    """Mean cross-entropy (nats) and accuracy over the target tokens, teacher-forced; `<s>` at row 0 is not counted."""
    device = next(model.parameters()).device
    nats = right = count = 0.0
    rng = _NoShuffle()
    for batch in by_length(examples, TOKENS, rng):  # type: ignore[arg-type]
        h, target = states(model, batch, device)
        logits = h @ model.model.shared.weight.t() + model.final_logits_bias  # (N, V)
        counted = target.ne(model.config.bos_token_id)
        nats += float(torch.nn.functional.cross_entropy(logits[counted], target[counted], reduction="sum"))
        right += float((logits.argmax(1) == target)[counted].sum())
        count += float(counted.sum())
    return nats / count, right / count


@torch.no_grad()
def translate(model: Any, tokenizer: Any, texts: Iterable[str], *, beams: int = 1, longest: int = 60) -> list[str]:
    """Translations in the order of `texts`."""
    texts = list(texts)
    device = next(model.parameters()).device
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found = [""] * len(texts)
    size = BATCH if device.type == "cpu" else LARGE
    for begin in range(0, len(order), size):
        rows = order[begin : begin + size]
        given = tokenizer(
            [texts[i] for i in rows], return_tensors="pt", padding=True, truncation=True, max_length=POSITIONS
        ).to(device)
        ids = model.generate(
            input_ids=given["input_ids"],
            attention_mask=given["attention_mask"],
            num_beams=beams,
            max_length=longest,
            do_sample=False,
        )
        for i, text in zip(rows, tokenizer.batch_decode(ids, skip_special_tokens=True), strict=True):
            found[i] = text
    return found


class _NoShuffle:
    """Stands for a generator where the order does not matter."""

    def permutation(self, count: int) -> range:
        return range(count)
