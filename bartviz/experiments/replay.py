"""Run a record's own tokens through its model again, in one pass; ablation and edits compare such runs.

The model never changes: a run's changes are on its tape or in its input ids. Two runs of the same shape use the same
kernels, so whatever is not affected comes out bit-equal.
Letters in shapes: B runs in one batch, n source tokens, m decoder rows, T rows that are scored, V vocabulary.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from bartviz.analysis.ablation import Guesses
from bartviz.analysis.edits import Part
from bartviz.arrays import Bools, Floats, Ints
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.models.output import OutputLayer
from bartviz.models.weights import shown
from bartviz.record.attention import Head, Kind
from bartviz.record.prediction import Prediction
from bartviz.record.record import Record
from bartviz.record.vocabulary import ABLATED, EDITED, ONE_PASS
from bartviz.run import predict
from bartviz.run.collect import Result, ablated, collect
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.tape.tape import Tape, recording
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens

_ROWS = 64  # rows of logits compared at once: 64 x 50,000 float32 are 13 MB


@dataclass
class SideBySide(Tape):
    """A tape for B runs in one batch, each with its own factors, that keeps nothing."""

    keeps: ClassVar[bool] = False
    runs: Sequence[Mapping[Head, float]] = ()

    def factors(self, kind: Kind, layer: int, heads: int) -> Tensor | None:
        """(B, 1, H, 1) factors for the heads of a layer, or None where none changes."""
        if not any(self.runs):
            return None
        factors = torch.ones(len(self.runs), 1, heads, 1)
        changed = False
        for index, run in enumerate(self.runs):
            for head, factor in run.items():
                if (head.kind, head.layer) == (kind, layer):
                    factors[index, 0, head.head] = factor
                    changed = True
        return factors if changed else None


@dataclass(frozen=True)
class Outcome:
    """The result of one pass: logits (B, n or m, V) or None, hidden states of each stack, L + 1 of (B, n or m, w), and
    the logits of a fine-tuned head or None."""

    logits: Tensor | None
    hidden: Mapping[Kind, tuple[Tensor, ...]]
    labels: Tensor | None = None

    @property
    def last(self) -> Tensor:
        """The last layer's states of the last stack (B, n or m, w)."""
        return list(self.hidden.values())[-1][-1]


class Compared(NamedTuple):
    """Two runs at the T rows that are scored: the labels of what follows them, the predictions of both runs, (T,)
    KL(before || after) in nats, and (T,) where the logits are bit-equal. None and empty if no words are predicted."""

    rows: Ints
    targets: tuple[str, ...]
    before: Guesses | None
    after: Guesses | None
    divergence: Floats
    same: Bools


class Replay:
    """The tokens of one record, ready for its model. Raises SettingError for a record of another model."""

    def __init__(self, model: Model, record: Record) -> None:
        expect_model(model, record)
        if record.model.fingerprint != model.info.fingerprint:
            raise SettingError(
                later("The record was made by another model, or with other weights: run its text again.")
            )
        self.model, self.record, self.started = model, record, time.perf_counter()
        source, seen = record.source, (record.encoder or record.attention("decoder")).mask.any(axis=0)
        self.source = torch.from_numpy(source.ids.copy())[None]  # (1, n)
        self.target = (
            None if record.cross is None else torch.from_numpy(record.attention("decoder").query.ids.copy())[None]
        )  # (1, m)
        self._inputs: dict[str, Tensor] = {}
        if not seen.all():
            self._inputs["attention_mask"] = torch.from_numpy(seen.astype(np.int64))[None]
        if model.info.kind == "encoder" and getattr(model.config, "type_vocab_size", 0) > 1:
            self._inputs["token_type_ids"] = torch.from_numpy(source.segments.copy())[None]
        if record.cross is not None and not record.attention("decoder").mask.any(axis=0).all():
            seen_rows = record.attention("decoder").mask.any(axis=0)
            self._inputs["decoder_attention_mask"] = torch.from_numpy(seen_rows.astype(np.int64))[None]

    @property
    def padded(self) -> bool:
        """Whether some of the decoder's inputs are padding."""
        return "decoder_attention_mask" in self._inputs

    def beside(self, copies: int = 1) -> dict[str, Any]:
        """What the network is given beside the tokens: masks and segments, for a batch of ``copies``."""
        given: dict[str, Any] = {
            name: value.expand(copies, -1).to(self.model.device) for name, value in self._inputs.items()
        }
        return given if self.model.info.kind == "encoder" else given | {"use_cache": False}

    @torch.inference_mode()
    def run(
        self,
        tape: Tape,
        *,
        source: Tensor | None = None,
        target: Tensor | None = None,
        copies: int = 1,
        encoded: Tensor | None = None,
        rows: Sequence[int] | None = None,
    ) -> Outcome:
        """One pass under ``tape`` with the record's ids, or others of the same shape, in a batch of ``copies``.

        ``encoded`` (1 or copies, n, w): the encoder's output, if already known. ``rows``: those whose logits are made,
        (copies, rows, V): with a large vocabulary they are much of the work. All if None.
        """
        given = self.beside(copies)
        ids = self.source if source is None else source
        if encoded is None:
            given["input_ids"] = ids.expand(copies, -1).to(self.model.device)
        if self.target is not None:
            reads = self.target if target is None else target
            given["decoder_input_ids"] = reads.expand(copies, -1).to(self.model.device)
        if encoded is not None:
            states = encoded.expand(copies, -1, -1).to(self.model.device)
            given["encoder_outputs"] = BaseModelOutput(last_hidden_state=states)
        network = self.model.runner
        alone = rows is not None and self.model.output_alone and self.model.head is None
        layer = OutputLayer.of(network) if alone else None
        labels: Tensor | None = None
        with recording(tape), guarded(run_failed()):
            out = (network if layer is None else network.base_model)(**given, output_hidden_states=True)
            if layer is not None:
                logits: Tensor | None = layer.logits(out.last_hidden_state[:, [*(rows or ())]]).cpu()
            else:
                said = self.record.prediction
                labels = None if said is None else predict.logits(self.model, out, said.row)
                logits = vocabulary_logits(out, self.model.info.vocabulary)
                logits = logits if rows is None or logits is None else logits[:, [*rows]]
        return Outcome(logits, _hidden(out, self.model.info.kind), labels)

    @property
    def predicts_words(self) -> bool:
        """Whether the logits of words mean anything: a classifier of BART's has labels in their place, and its output
        layer was not trained with them."""
        return self.model.head is None or self.record.prediction is None

    @torch.inference_mode()
    def encoded(self, cancelled: Callable[[], bool]) -> Tensor | None:
        """(1, n, w) the encoder's output for the unchanged source; None for models that are not encoder-decoders."""
        if self.target is None:
            return None
        inputs = {"input_ids": self.source, **self._inputs}
        given = {name: inputs[name].to(self.model.device) for name in ("input_ids", "attention_mask") if name in inputs}
        with recording(SideBySide(cancelled=cancelled)), guarded(run_failed()):
            states: Tensor = self.model.runner.get_encoder()(**given).last_hidden_state
        return states

    def scored(self) -> tuple[Ints, Ints | None]:
        """The T rows whose predictions are compared, and the ids that follow them; None for the first run's own best.

        A model that writes: every step of the record. A model that fills masks: its masks, or without
        any, every token that is not special.
        """
        record = self.record
        if record.output is not None:
            rows = np.array([step.row for step in record.steps], np.int64)
            rows = rows if len(rows) else np.arange(len(record.output))
            return rows, record.output.ids[rows]
        source, mask = record.source, self.model.tokenizer.mask_token_id
        masks = np.flatnonzero(source.ids == mask) if mask is not None else np.zeros(0, np.int64)
        if not len(masks):
            masks = np.flatnonzero(~source.special)
        return (masks if len(masks) else np.arange(len(source))), None

    def labels(self, rows: Ints, ids: Sequence[int]) -> tuple[str, ...]:
        """The labels of tokens at their rows."""
        if self.record.output is None:
            return tuple(tokenize.label(self.model.tokenizer, i) for i in ids)
        inputs = self.record.attention("decoder").query.ids.tolist()
        return tuple(
            tokenize.label(self.model.tokenizer, i, inputs[: row + 1]) for row, i in zip(rows, ids, strict=True)
        )

    def guesses(self, scores: Scores, rows: Ints) -> Guesses:
        """The scores of one run with the labels of its best tokens."""
        best = scores.best.tolist()
        return Guesses(
            scores.log_probability.numpy(), scores.best.numpy(), self.labels(rows, best), scores.probability.numpy()
        )

    def compared(self, was: Outcome, now: Outcome) -> Compared:
        """The predictions of two runs at the rows that are scored."""
        rows, ids = self.scored()
        if was.logits is None or now.logits is None or not self.predicts_words:
            return Compared(rows, (), None, None, np.zeros(0, np.float32), np.zeros(0, np.bool_))
        at = torch.from_numpy(rows.copy())
        first = was.logits[0, at]  # (T, V)
        targets = first.argmax(-1) if ids is None else torch.from_numpy(ids.copy())
        before, after = score(first, first, targets), score(first, now.logits[0, at], targets)
        labels = self.labels(rows, targets.tolist())
        guesses = self.guesses(before, rows), self.guesses(after, rows)
        return Compared(rows, labels, *guesses, after.divergence.numpy(), after.same.numpy())

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the new record: heads that were scaled in the old one are not scaled here."""
        names = self.record.provenance.settings.get("ablated", ())
        if not isinstance(names, tuple) or not names:
            return ()
        notice = later(
            "The record that this run is compared with was made with scaled heads ({heads}); “before” is the "
            "model with all its heads unchanged.",
            heads=shown([str(name) for name in names]),
        )
        return (notice,)

    def said(self, outcome: Outcome, index: int = 0) -> Prediction | None:
        """The prediction of the model's head in one run of a pass; None where the record has no prediction."""
        said = self.record.prediction
        if said is None or outcome.labels is None:
            return None
        return predict.prediction(self.model, outcome.labels[index], len(said.logits), said.row)

    def kept(self, tape: Tape, outcome: Outcome | None = None) -> Record:
        """The record of the pass on ``tape`` with the record's own tokens; of its ``outcome``, what its head says."""
        record = self.record
        query = None if self.target is None else record.attention("decoder").query
        result = Result(
            source=record.source,
            text=record.source_text,
            pair=record.pair_text,
            target=record.target_text,
            query=query,
            output=record.output,
            prediction=None if outcome is None else self.said(outcome),
            turns=record.turns,
        )
        heads = ablated(tape)
        settings = {"mode": ABLATED if heads else ONE_PASS, "ablated": heads}
        return collect(self.model, tape, result, started=self.started, settings=settings, notices=self.notices)

    def edited(self, tape: Tape, outcome: Outcome, named: Tokens, part: Part, position: int) -> Record:
        """The record of the pass on ``tape`` in which ``named`` replaced the source or the decoder's inputs: its texts,
        words and spans are those of the new ids, and its output contains the new token too. Of its ``outcome`` comes
        what its head says; a decoder that is classified reads the text that its encoder reads, and is so no longer."""
        record, query, output = self.record, None, self.record.output
        source, source_text, target_text = record.source, record.source_text, record.target_text
        pair_text = record.pair_text
        old = source if part == "source" else record.attention("decoder").query
        if output is None or (record.cross is not None and part == "source"):
            source_text, pair_text, source = respelled(self.model, named)
            query = None if record.cross is None else record.attention("decoder").query
        else:
            text, _, whole = respelled(self.model, tokenize.join(named, output.take(slice(-1, None))))
            reads, output = whole.take(slice(0, -1)), whole.take(slice(1, None))
            if record.cross is not None:
                query, target_text = reads, text
            else:
                source, prompt = reads, len(reads) if target_text is None else record.steps[0].row + 1
                source_text = tokenize.from_ids(self.model.tokenizer, reads.ids[:prompt].tolist())[0]
                if target_text is not None:
                    target_text = tokenize.from_ids(self.model.tokenizer, whole.ids[prompt:].tolist())[0]
        said = self.said(outcome)
        result = Result(
            source=source,
            text=source_text,
            pair=pair_text,
            target=target_text,
            query=query,
            output=output,
            prediction=None if said is None or said.row is not None else said,
            turns=record.turns if len(source) == len(record.source) else (),
        )
        edit = f"{part} {position}: {old.labels[position]} -> {named.labels[position]}"
        settings = {"mode": EDITED, "edited": edit}
        return collect(self.model, tape, result, started=self.started, settings=settings, notices=self.notices)


def renamed(model: Model, old: Tokens, ids: list[int], position: int) -> Tokens:
    """The tokens with another one at a position, labelled for that position; the others keep their labels."""
    tokens = tokenize.from_ids(model.tokenizer, ids)[1]

    def put(values: tuple[Any, ...], new: Any) -> tuple[Any, ...]:
        return (*values[:position], new, *values[position + 1 :])

    special = old.special.copy()
    special[position] = tokens.special[position]
    return replace(
        old,
        ids=tokens.ids,
        special=special,
        pieces=put(old.pieces, tokens.pieces[position]),
        labels=put(old.labels, tokens.labels[position]),
    )


def respelled(model: Model, named: Tokens) -> tuple[str, str | None, Tokens]:
    """The decoded text of the tokens (both texts of a pair), and the tokens with its spans and words."""
    cuts = [0, *(np.flatnonzero(np.diff(named.segments)) + 1).tolist(), len(named)]
    decoded = [tokenize.from_ids(model.tokenizer, named.ids[a:b].tolist()) for a, b in pairwise(cuts)]
    whole = tokenize.join(*(part for _, part in decoded))
    second = decoded[1][0] if len(decoded) > 1 else None
    return decoded[0][0], second, replace(named, spans=whole.spans, words=whole.words)


@dataclass(frozen=True)
class Scores:
    """Numbers of one run against the first, each (T,): log p of the targets in nats, the best token and its
    probability, KL(first || this) in nats, and whether the logits are bit-equal."""

    log_probability: Tensor
    best: Tensor
    probability: Tensor
    divergence: Tensor
    same: Tensor


@torch.inference_mode()
def score(before: Tensor, after: Tensor, targets: Tensor) -> Scores:
    """Compare the logits (T, V) of two runs, ``targets`` (T,) being the ids whose probability counts."""
    parts: list[tuple[Tensor, ...]] = []
    for start in range(0, len(targets), _ROWS):
        rows = slice(start, start + _ROWS)
        was, now = before[rows].log_softmax(-1), after[rows].log_softmax(-1)  # (rows, V)
        best = now.max(-1)
        p = was.exp()
        divergence = torch.where(p > 0, p * (was - now), 0.0).sum(-1).clamp_(min=0.0)
        target_log_p = now.gather(1, targets[rows, None])[:, 0]
        same = (before[rows] == after[rows]).all(-1)
        parts.append((target_log_p, best.indices, best.values.exp(), divergence, same))
    return Scores(*(torch.cat(part) for part in zip(*parts, strict=True)))


def vocabulary_logits(out: Any, vocabulary: int) -> Tensor | None:
    """The logits over the vocabulary, or None for a model that does not predict tokens."""
    logits = out.get("prediction_logits", out.get("logits"))
    fits = logits is not None and logits.dim() == 3 and logits.shape[-1] == vocabulary
    return logits.cpu() if fits else None


def _hidden(out: Any, kind: str) -> dict[Kind, tuple[Tensor, ...]]:
    if kind == "encoder-decoder":
        encoder = out.encoder_hidden_states  # None where the encoder's output was given
        found: dict[Kind, tuple[Tensor, ...]] = {} if encoder is None else {"encoder": _host(encoder)}
        return found | {"decoder": _host(out.decoder_hidden_states)}
    return {"encoder": _host(out.hidden_states)} if kind == "encoder" else {"decoder": _host(out.hidden_states)}


def _host(states: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(part.cpu() for part in states)
