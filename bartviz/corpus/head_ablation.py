"""The effect of silencing each head: the predictions of a model over some texts, with all heads and without each one.

Letters in shapes: N texts, B texts of a batch, T rows of the output, V tokens of the vocabulary, L layers, H heads,
M measures, n tokens, C labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis import prediction
from bartviz.analysis.corpus_measures import OF_LABELS, SILENCED, VALUE_MOVED
from bartviz.arrays import Bools, Floats
from bartviz.callbacks import never
from bartviz.corpus.encode import Encoded, Padded
from bartviz.corpus.measure import forward, padded, run
from bartviz.corpus.read import Bad, Line
from bartviz.corpus.sums import lots
from bartviz.errors import SettingError
from bartviz.models.model import Model
from bartviz.record.attention import Head, Kind
from bartviz.record.prediction import FOLLOWS, Prediction
from bartviz.run import predict
from bartviz.tape.head_means import Averaging, HeadMeans, Mean
from bartviz.tape.tape import Tape, depths, recording

LOGITS = 1 << 23  # of a batch: texts x rows x vocabulary


def check(model: Model, texts: int, rows: Callable[[], Iterator[Line | Bad]] = lambda: iter(())) -> None:
    """Raise SettingError for a number that makes no sense, or rows of which the model predicts nothing."""
    if texts < 0:
        raise SettingError(f"The number of texts on which heads are silenced is {texts}; choose 0 or more.")
    if not texts:
        return
    head = model.head
    if head is None:
        if model.network.get_output_embeddings() is None:
            raise SettingError(
                "This model predicts neither tokens nor labels, so nothing shows what silencing a head changes."
            )
        return
    lines = (row for row in rows() if isinstance(row, Line))
    if head.module is not None and any(row.target is not None for row in lines):
        raise SettingError(
            "This model was fine-tuned to label texts, and its decoder reads the text itself: leave the column of the "
            "target out, or silence no heads."
        )
    if head.labels == FOLLOWS and any(row.pair is None for row in lines):
        raise SettingError(
            "This model says whether a second text follows the first: name the column of the second text (pair), or "
            "silence no heads."
        )


def chosen(numbers: Sequence[int], share: float) -> list[int]:
    """The places of the texts, of these numbers, that are drawn: about such a share, the same in every division."""
    drawn = lots(np.array(numbers, np.int64)) < np.uint64(min(int(share * 2.0**64), 2**64 - 1))
    return np.flatnonzero(drawn).tolist()


def measures(model: Model) -> tuple[str, ...]:
    """The names of the M measures of this model: how far the predictions move; of a model that was fine-tuned to label
    also what becomes of the label that it says, or in their place how far the number moves that it gives."""
    if model.head is None:
        return (SILENCED,)
    return (VALUE_MOVED,) if model.head.scale == "none" else (SILENCED, *OF_LABELS)


def effects(model: Model, rows: Sequence[Encoded], mean: Mean = False) -> dict[Kind, Floats]:
    """The first of the measures for each text: (N, L, H) of each kind; nats, or what the model's number counts."""
    return {kind: found[..., 0] for kind, found in outcomes(model, rows, mean).items()}


@torch.inference_mode()
def outcomes(model: Model, rows: Sequence[Encoded], mean: Mean = False) -> dict[Kind, Floats]:
    """What becomes of the predictions of each text without each head: (N, L, H, M) of each kind, by ``measures``.

    ``silenced`` is KL(p || q), averaged over the text's rows that predict a token of it, or of a model that labels
    texts or their tokens over its labels; p are the probabilities of the whole model, q those with the head's output
    set to 0 (as in Michel et al. 2019, section 3, who count lost accuracy), or to its mean over the positions of the
    text, or to given means (Wang et al. 2023). The others are those of ``analysis.prediction.change``.
    """
    heads = {kind: (depth, _heads(model, kind)) for kind, depth in depths(model.network).items()}
    names = measures(model)
    found = {kind: np.empty((len(rows), *shape, len(names)), np.float32) for kind, shape in heads.items()}
    compared = _words if model.head is None else label_changes
    for batch in batches(model, rows):
        some = [rows[index] for index in batch]
        changes, toward = compared(model, some), _toward(model, some, mean)
        for kind, (depth, count) in heads.items():
            for layer, head in np.ndindex(depth, count):
                tape = Tape(scale_heads={Head(kind, layer, head): 0.0}, toward=toward)
                found[kind][batch, layer, head] = changes(tape)
    return found


def _toward(model: Model, rows: Sequence[Encoded], mean: Mean) -> Mapping[tuple[Kind, int], Tensor]:
    """What heads are set to in place of 0: for a batch its means, (B, 1, H, d) of each layer."""
    if isinstance(mean, HeadMeans):
        return mean.toward()
    return averaged(model, rows).means if mean else {}


def averaged(model: Model, rows: Sequence[Encoded], cancelled: Callable[[], bool] = never) -> Averaging:
    """The mean output of every head for each text of a batch, over its positions without padding."""
    source, inputs, _output = padded(model, rows)
    reads = source.valid if inputs is None else inputs.valid
    counted = {kind: source.valid if kind == "encoder" else reads for kind in depths(model.network)}
    tape = Averaging(rows=counted, cancelled=cancelled)
    run(model, source, inputs, tape)
    return tape


def _words(model: Model, rows: Sequence[Encoded]) -> Callable[[Tape], Floats]:
    """A function of a changed pass: (B, 1) how far the predicted words of each text move in it."""
    source, inputs, _output = padded(model, rows)
    counts = _counted(model, source, inputs)  # (B, T)
    whole = _log_p(model, source, inputs, Tape())  # (B, T, V)
    p = whole.exp()

    def moved(tape: Tape) -> Floats:
        without = _log_p(model, source, inputs, tape)
        apart = (p * (whole - without)).sum(dim=-1).clamp_(min=0.0) * counts  # (B, T)
        return np.asarray((apart.sum(dim=1) / counts.sum(dim=1)).cpu().numpy())[:, None]

    return moved


def label_changes(model: Model, rows: Sequence[Encoded]) -> Callable[[Tape], Floats]:
    """A function of a changed pass: (B, M) what becomes in it of what the head says of each text."""
    source, inputs, _output = padded(model, rows)
    words: list[Bools] = [row.source.special == 0 for row in rows]
    whole = _predictions(model, rows, source, inputs, Tape())

    def moved(tape: Tape) -> Floats:
        after = _predictions(model, rows, source, inputs, tape)
        changes = map(prediction.change, whole, after, words)
        return np.array(
            [
                (abs(one.value),) if len(names) == 1 else (one.divergence, one.log_probability, one.margin, one.turned)
                for one in changes
            ],
            np.float32,
        )

    names = measures(model)
    return moved


def _predictions(
    model: Model, rows: Sequence[Encoded], source: Padded, inputs: Padded | None, tape: Tape
) -> list[Prediction]:
    """What the head says of each text in one pass under a tape, without what it says of padding."""
    assert model.head is not None
    reads_states = model.head.module is not None
    with recording(tape):
        output = forward(model, model.runner, source, inputs, states=reads_states)
    found = []
    for place, row in enumerate(rows):
        last = None if row.output is None or not reads_states else _end(model, row)
        logits = predict.logits(model, output, last)
        assert logits is not None
        found.append(predict.prediction(model, logits[place], len(row.source), last))
    return found


def _end(model: Model, row: Encoded) -> int:
    """The decoder row whose state is classified, as of ``predict.row_read``."""
    assert row.output is not None
    return int(np.flatnonzero(row.output.ids == model.config.eos_token_id)[-1])


def _heads(model: Model, kind: Kind) -> int:
    return model.info.encoder_heads if kind == "encoder" else model.info.decoder_heads


def _counted(model: Model, source: Padded, inputs: Padded | None) -> Tensor:
    """(B, T) 1 for rows that count: of a decoder all that are not padding, of an encoder those of its words."""
    if inputs is not None:
        return inputs.valid.float()
    return (source.valid & ~source.special if model.info.kind == "encoder" else source.valid).float()


def logits(model: Model, source: Padded, inputs: Padded | None, tape: Tape) -> Tensor:
    """(B, T, V) of each row of a pass under a tape."""
    with recording(tape):
        output: Any = forward(model, model.runner, source, inputs)
    found: Tensor = output.get("prediction_logits", output.get("logits"))  # BERT's pre-training has two outputs
    return found.float()


def _log_p(model: Model, source: Padded, inputs: Padded | None, tape: Tape) -> Tensor:
    """(B, T, V) the logarithms of the probabilities of each row."""
    return logits(model, source, inputs, tape).log_softmax(dim=-1)


def batches(model: Model, rows: Sequence[Encoded]) -> Iterator[list[int]]:
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
