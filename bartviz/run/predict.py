"""The output of a labelling head for a pass: its logits, and the Prediction of one text.

Letters in shapes: B texts, n tokens, m decoder rows, C labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bartviz.models.model import Model
from bartviz.models.task_head import TaskHead
from bartviz.record.prediction import FOLLOWS, Prediction
from bartviz.text.tokens import Tokens


def logits(model: Model, output: Any, row: int | None) -> Tensor | None:
    """(B, C) for a text, (B, n, C) for its tokens, (B, n, 2) for an answer, on the CPU; None without a head. Of a model
    that fills words and judges pairs, as BERT was trained, (B, 2): whether the second text follows the first.

    output: of the network's forward, with hidden states if the head reads the decoder's. row: the decoder row read.
    """
    head = model.head
    if head is None:
        pooled, judge = getattr(output, "pooler_output", None), next_sentence(model)
        judged = judge(pooled) if judge is not None and pooled is not None else output.get("seq_relationship_logits")
        return None if judge is None or judged is None else _tensor(judged).cpu()
    if head.module is not None:
        return None if row is None else _tensor(head.module(output.decoder_hidden_states[-1][:, row].cpu()))
    if head.task == "answer":
        return torch.stack((output.start_logits, output.end_logits), -1).cpu()
    return _tensor(output.logits).cpu()


def next_sentence(model: Model) -> nn.Module | None:
    """The layer that judges whether a second text follows the first, if the network has one among others."""
    judge = getattr(getattr(model.runner, "cls", None), "seq_relationship", None)
    return judge if isinstance(judge, nn.Module) else None


def predicts(model: Model, pair: str | None) -> bool:
    """Whether a pass over a text, or two, predicts labels: a classifier of pairs makes none for a single text."""
    if model.head is None:
        return pair is not None and next_sentence(model) is not None
    return pair is not None or model.head.labels != FOLLOWS


def _tensor(value: Any) -> Tensor:
    assert isinstance(value, Tensor)
    return value


def row_read(model: Model, source: Tokens, output: Tokens | None) -> int | None:
    """The decoder row whose state is classified: the one that predicts the text's end token (Lewis et al. 2020,
    section 3.1). None if the decoder reads another text than the encoder, and for a model that does not classify so."""
    if model.head is None or model.head.module is None or output is None:
        return None
    ends = np.flatnonzero(output.ids == model.config.eos_token_id)
    return int(ends[-1]) if len(ends) and np.array_equal(source.ids, output.ids) else None


def prediction(model: Model, logits: Tensor, length: int, row: int | None) -> Prediction:
    """The prediction of one text from its logits (C,) or (n, C), of which ``length`` rows are not padding."""
    head = model.head or TaskHead(model.info.architecture, "text", FOLLOWS, "softmax")
    rows = logits[None] if head.task == "text" else logits[:length]
    return Prediction(head.task, head.labels, rows.float().numpy(), head.scale, row)
