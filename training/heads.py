"""What the heads of BERT look at: mean weight on the previous and next token, on delimiters, and on the same word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

JOBS = ("previous", "next", "delimiter", "same word")
Floats = NDArray[np.float32]


def scores(weights: Floats, ids: Sequence[int], special: Sequence[bool]) -> tuple[Floats, Floats]:
    """Sums of weight and numbers of rows counted for each job, of one text: (4, L, H) and (4,).

    `weights` is (L, H, N, N). Rows of special tokens are left out (`[CLS]` has no previous word to look at);
    "same word" counts rows whose token stands in the text a second time, and the weight on the other places.
    """
    words = np.flatnonzero(~np.asarray(special))
    tokens = np.asarray(ids)
    again = (tokens[:, None] == tokens[None, :]) & ~np.eye(len(tokens), dtype=bool)
    twice = words[again[words].any(1)]
    inner = words[words + 1 < len(tokens)]
    parts = [
        weights[..., words, words - 1],
        weights[..., inner, inner + 1],
        weights[..., words, :][..., np.asarray(special)].sum(-1),
        (weights * again)[..., twice, :].sum(-1),
    ]
    return np.stack([part.sum(-1) for part in parts]), np.array([part.shape[-1] for part in parts], np.float32)


@torch.no_grad()
def head_scores(model: Any, tokenizer: Any, texts: Sequence[str]) -> Floats:
    """Mean weight of every head on every job over `texts`: (4, L, H)."""
    sums, rows = np.zeros((len(JOBS), 1, 1), np.float32), np.zeros(len(JOBS), np.float32)
    for text in texts:
        given = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
        special = given.pop("special_tokens_mask")[0].bool().tolist()
        weights = torch.cat(model.bert(**given, output_attentions=True).attentions).numpy()  # (L, H, N, N)
        sums_here, rows_here = scores(weights, given["input_ids"][0].tolist(), special)
        sums, rows = sums + sums_here, rows + rows_here
    return np.asarray(sums / np.maximum(rows, 1.0)[:, None, None], np.float32)


def copying(weights: Floats) -> Floats:
    """Sums over a text of the weight of cross-attention on the token it predicts, and on the one it reads: (2, L, H).

    `weights` is (L, H, N, N) with the same text on both sides, `<s>` and `</s>` included: row t predicts token t and
    reads token t - 1. Row 0 is left out, as it predicts `<s>` and reads the start.
    """
    rows = np.arange(1, weights.shape[-1])
    return np.stack([weights[..., rows, rows].sum(-1), weights[..., rows, rows - 1].sum(-1)])


@torch.no_grad()
def copy_scores(model: Any, tokenizer: Any, texts: Sequence[str]) -> Floats:
    """Mean weight of every cross-attention head on the token predicted and on the token read: (2, L, H)."""
    sums, rows = np.zeros((2, 1, 1), np.float32), 0
    for text in texts:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]  # (1, N)
        start = torch.full_like(ids[:, :1], model.config.decoder_start_token_id)
        output = model(
            input_ids=ids, decoder_input_ids=torch.cat([start, ids[:, :-1]], 1), output_attentions=True, use_cache=False
        )
        weights = torch.cat(output.cross_attentions).numpy()  # (L, H, N, N)
        sums, rows = sums + copying(weights), rows + weights.shape[-1] - 1
    return np.asarray(sums / max(rows, 1), np.float32)
