"""The effect of silencing each head: the predictions of a model over some texts, with all heads and without each one.

Letters in shapes: B texts of a batch, T rows of the output, V tokens of the vocabulary, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from bartviz.arrays import Floats
from bartviz.corpus.encode import Encoded, Padded
from bartviz.corpus.measure import forward, padded
from bartviz.corpus.sums import lots
from bartviz.errors import SettingError
from bartviz.models.model import Model
from bartviz.models.task_head import FOLLOWS
from bartviz.record.attention import Head, Kind
from bartviz.tape.tape import Tape, depths, recording

LOGITS = 1 << 23  # of a batch: texts x rows x vocabulary


def check(model: Model, texts: int) -> None:
    """Raise SettingError for a number that makes no sense, or a model that predicts no tokens."""
    if texts < 0:
        raise SettingError(f"The number of texts on which heads are silenced is {texts}; choose 0 or more.")
    if texts and model.network.get_output_embeddings() is None and not _labels(model):
        raise SettingError(
            "This model predicts neither tokens nor labels of texts or tokens, so nothing shows what silencing a head "
            "changes."
        )


def chosen(numbers: Sequence[int], share: float) -> list[int]:
    """The places of the texts, of these numbers, that are drawn: about such a share, the same in every division."""
    drawn = lots(np.array(numbers, np.int64)) < np.uint64(min(int(share * 2.0**64), 2**64 - 1))
    return np.flatnonzero(drawn).tolist()


@torch.inference_mode()
def effects(model: Model, rows: Sequence[Encoded]) -> dict[Kind, Floats]:
    """How far the predictions of each text move without each head: (N, L, H) nats, of each kind.

    It is KL(p || q), averaged over the text's rows that predict a token of it, or of a model that labels texts or their
    tokens over its labels; p are the probabilities of the whole model, q those with the head's output set to 0 (as in
    Michel et al. 2019, section 3, who count lost accuracy).
    """
    heads = {kind: (depth, _heads(model, kind)) for kind, depth in depths(model.network).items()}
    found = {kind: np.empty((len(rows), *shape), np.float32) for kind, shape in heads.items()}
    for batch in _batches(model, rows):
        source, inputs, _output = padded(model, [rows[index] for index in batch])
        counts = _counted(model, source, inputs)  # (B, T)
        whole = _log_p(model, source, inputs, Tape())  # (B, T, V)
        p = whole.exp()
        for kind, (depth, count) in heads.items():
            for layer, head in np.ndindex(depth, count):
                without = _log_p(model, source, inputs, Tape(scale_heads={Head(kind, layer, head): 0.0}))
                moved = (p * (whole - without)).sum(dim=-1).clamp_(min=0.0) * counts  # (B, T)
                found[kind][batch, layer, head] = (moved.sum(dim=1) / counts.sum(dim=1)).cpu().numpy()
    return found


def _labels(model: Model) -> bool:
    """Whether the network of an encoder gives its texts, or each of their tokens, one of several labels."""
    head = model.head
    if head is None or head.module is not None or head.labels == FOLLOWS:  # which is said of two texts alone
        return False
    return head.task != "answer" and head.scale == "softmax"


def _heads(model: Model, kind: Kind) -> int:
    return model.info.encoder_heads if kind == "encoder" else model.info.decoder_heads


def _counted(model: Model, source: Padded, inputs: Padded | None) -> Tensor:
    """(B, T) 1 for rows that count: of a decoder all that are not padding, of an encoder those of its words."""
    if inputs is not None:
        return inputs.valid.float()
    if model.head is not None and model.head.task == "text":
        return torch.ones(len(source.ids), 1, device=source.ids.device)
    return (source.valid & ~source.special if model.info.kind == "encoder" else source.valid).float()


def _log_p(model: Model, source: Padded, inputs: Padded | None, tape: Tape) -> Tensor:
    """(B, T, V) the logarithms of the probabilities of each row; V labels, and T 1 where texts are labelled."""
    with recording(tape):
        output = forward(model, model.runner, source, inputs)
    logits: Tensor = output.get("prediction_logits", output.get("logits"))  # BERT's pre-training has two outputs
    rows = logits[:, None] if logits.dim() == 2 else logits
    return rows.float().log_softmax(dim=-1)


def _batches(model: Model, rows: Sequence[Encoded]) -> Iterator[list[int]]:
    """The places of texts of about the same length, whose logits fit in ``LOGITS``."""
    order = sorted(range(len(rows)), key=lambda index: (rows[index].size, index))
    held: list[int] = []
    for index in order:
        target, source = rows[index].size
        if held and (len(held) + 1) * (target or source) * model.info.vocabulary > LOGITS:
            yield held
            held = []
        held.append(index)
    if held:
        yield held
