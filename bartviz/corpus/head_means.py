"""The mean output of every head over the positions of many texts, for mean ablation.

Letters in shapes: B texts of a batch, L layers, H heads, d head width.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from bartviz.callbacks import never
from bartviz.corpus.encode import encode
from bartviz.corpus.head_ablation import averaged
from bartviz.corpus.measure import batches
from bartviz.corpus.read import Line
from bartviz.corpus.source import Texts, of_texts
from bartviz.errors import TextError
from bartviz.models.model import Model
from bartviz.models.wrap import model_of
from bartviz.record.attention import Kind
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.head_means import HeadMeans
from bartviz.tape.tape import depths


@torch_defaults()
@torch.inference_mode()
def head_means(
    model: Model | nn.Module,
    texts: Texts,
    *,
    tokenizer: PreTrainedTokenizerBase | None = None,
    cancelled: Callable[[], bool] = never,
) -> HeadMeans:
    """The mean output of every head over all positions of some texts: what ``ablate(..., mean=)``, ``ablate_sweep`` and
    ``corpus`` put in a silenced head's place.

    m = (1 / N) Σ z(i), where z(i) is the head's output at position i before the output projection, and N counts the
    positions of all texts, special tokens included (mean ablation: Wang et al. 2023, "Interpretability in the Wild").

    texts: each a str or a pair, as for ``bartviz.corpus``: with the output of an encoder-decoder, which otherwise
    writes one, or the second sentence of an encoder.
    Raises TextError for a text that cannot be read, with its number, or without any text; Cancelled.

    >>> means = bartviz.head_means(model, ["I want to buy a car.", "It is late."])
    >>> means.texts, means.outputs["cross"].shape  # layers, heads, width of a head
    (2, (4, 8, 32))
    >>> bartviz.ablate(model, record, ["cross L3H2"], mean=means).effect < 0
    True
    """
    model = model_of(model, tokenizer)
    rows = []
    for line in of_texts(texts, model.info.kind).rows():
        if not isinstance(line, Line):
            raise TextError(f"Text {line.number + 1:,}: {line.reason}")
        try:
            rows.append(encode(model, line, cancelled=cancelled))
        except TextError as error:
            raise TextError(f"Text {line.number + 1:,}: {error.args[0]}") from error
    if not rows:
        raise TextError("There is no text to run. Give at least one.")
    sums: dict[tuple[Kind, int], np.ndarray] = {}
    counts: dict[Kind, int] = dict.fromkeys(depths(model.network), 0)
    for batch in batches(rows):
        tape = averaged(model, [rows[index] for index in batch], cancelled)
        for kind in counts:
            counts[kind] += int(tape.rows[kind].sum())
        for (kind, layer), means in tape.means.items():
            weights = tape.rows[kind].sum(dim=1).double()[:, None, None]  # (B, 1, 1)
            total = (means[:, 0].double() * weights).sum(dim=0).cpu().numpy()  # (H, d)
            sums[kind, layer] = sums[kind, layer] + total if (kind, layer) in sums else total
    outputs = {
        kind: np.stack([sums[kind, layer] / counts[kind] for layer in range(depth)]).astype(np.float32)
        for kind, depth in depths(model.network).items()
    }
    return HeadMeans(outputs, model.info.fingerprint, len(rows), counts)
