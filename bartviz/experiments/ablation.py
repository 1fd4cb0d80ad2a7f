"""Silence or scale heads and run the same tokens again: one set of heads, or every head in turn.

Michel, Levy and Neubig 2019. The factor multiplies a head's output before the output projection, in that run only
(``tape/tape.py``, ``Tape.factors``); the network itself never changes. A head whose ablation costs little is not
useless: others may do the same work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis import prediction
from bartviz.analysis.ablation import Ablation, Sweep
from bartviz.analysis.edits import changed_rows
from bartviz.analysis.measures import padding
from bartviz.analysis.prediction import LabelChange
from bartviz.arrays import Floats, Ints
from bartviz.callbacks import never, silent
from bartviz.errors import SettingError, TextError, choices
from bartviz.experiments.replay import Outcome, Replay, SideBySide, score
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record
from bartviz.record.vocabulary import GREEDY, ONE_PASS
from bartviz.run import generate
from bartviz.run.batch import Heads, head_factors
from bartviz.run.options import Options
from bartviz.run.prepare import Prepared, prepare
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.head_means import Averaging, HeadMeans, Mean
from bartviz.tape.tape import Tape

LARGEST = 16.0  # factor
TOKENS = 512  # in one batch of runs: a larger batch is no faster on a CPU
_LENGTHS = {"max_new_tokens": int, "min_new_tokens": int, "no_repeat_ngram_size": int, "use_rules": bool}
LOGITS = 32 << 20  # logits in one batch of runs

Factors = dict[Head, float]
Toward = Mapping[tuple[Kind, int], Tensor]


@torch_defaults()
def ablate(
    model: Model,
    record: Record,
    heads: Heads,
    *,
    mean: Mean = False,
    write: bool = True,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[str, float | None], None] = silent,
) -> Ablation:
    """The changes in a record when heads are silenced ("cross L2H5", ...), or scaled (a mapping to factors 0..16).

    The record's own tokens are given in both runs (teacher forcing), so that its rows stay comparable.
    mean: what a silenced head's output becomes in place of 0, which it may never have been: True its mean over the
        positions of this text, without padding, or what ``bartviz.head_means`` computed over a corpus (mean ablation,
        Wang et al. 2023). With a factor f, an output z and a mean m it is f z + (1 - f) m. The mean of a decoder's text
        contains positions that a row may not see; that of a corpus does not.
    write: let the model also write its own output, without and with the change.
    on_progress: gets a note and 0..1 or None.

    Raises SettingError for a head or factor that does not exist or a record or means of another model, Cancelled.

    >>> found = bartviz.ablate(model, record, ["cross L2H0"])
    >>> found.effect < 0  # nats: the same output is less likely without this head
    True
    >>> found.written[1].target_text  # what the model writes without it
    'Ich möchte ein Auto kaufen.'
    >>> bartviz.ablate(model, record, ["cross L2H0"], mean=True).effect < 0
    True
    """
    replay = Replay(model, record)
    factors = _check_factors(model, heads)
    on_progress(later("Running the text again"), None)
    toward = _toward(replay, mean, cancelled)
    tapes = Tape(cancelled=cancelled), Tape(scale_heads=factors, toward=toward, cancelled=cancelled)
    was, now = (replay.run(tape) for tape in tapes)
    rows, labels, before, after, divergence, _ = replay.compared(was, now)
    first_pass, changed = replay.kept(tapes[0], was), replay.kept(tapes[1], now)
    on_progress(later("Comparing the attention"), None)
    attention = {
        kind: changed_rows(first_pass.attention(kind), changed.attention(kind), cancelled=cancelled)[0][
            :, :, ~padding(record, kind)
        ].mean(axis=2)
        for kind in record.kinds
    }
    written = _written(model, record, factors, toward, cancelled, on_progress) if write else None
    distance = np.where(padding(record, record.kinds[-1]), np.float32(0), _distance(was, now)[0])
    said = first_pass.prediction
    return Ablation(
        record,
        factors,
        rows,
        labels,
        before,
        after,
        divergence,
        distance,
        attention,
        changed,
        written,
        said,
        mean=mean is not False,
    )


@torch_defaults()
def ablate_sweep(
    model: Model,
    record: Record,
    *,
    kinds: Sequence[Kind] | Kind | None = None,
    keep: bool = False,
    factor: float = 0.0,
    mean: Mean = False,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[int, int], None] = silent,
) -> Sweep:
    """The effect of each head on the record's own tokens: every head of ``kinds`` (all) is scaled by ``factor`` in
    turn.

    ``keep``: scale all *other* heads of its layer instead, so that only it remains (Michel et al. 2019, "all heads but
    one"). Several runs share one pass; if no encoder head changes, the encoder runs only once.
    ``mean``: scale toward each head's mean instead of 0, as in ``ablate``. ``on_progress`` gets the number of heads
    done and their total. Raises SettingError, Cancelled.

    >>> sweep = bartviz.ablate_sweep(model, record, kinds="cross")
    >>> most = sweep.heads[sweep.ranked()[0]]  # the head whose silencing costs this output most
    >>> sweep.to_dataframe().columns.tolist()  # a line for each head, the largest effect first
    ['kind', 'layer', 'head', 'log_probability', 'divergence', 'changed', 'distance']
    """
    replay = Replay(model, record)
    chosen_kinds = tuple(record.kinds if kinds is None else [kinds] if isinstance(kinds, str) else kinds)
    if not chosen_kinds or any(kind not in record.kinds for kind in chosen_kinds):
        raise SettingError(
            later("This record has heads of the kinds {kinds}: choose at least one.", kinds=choices(record.kinds))
        )
    heads = tuple(head for kind in record.kinds if kind in chosen_kinds for head in heads_of(record, kind))
    _check_factors(model, {heads[0]: factor})
    groups = [_factors(record, head, factor, keep) for head in heads]
    measurements = _Measurements(replay, _toward(replay, mean, cancelled), cancelled)
    done = 0
    for start, stop in _batches(groups, measurements.batch_size):
        measurements.measure(groups[start:stop])
        done += stop - start
        on_progress(done, len(groups))
    change, divergence, changed, labels, distance = zip(*measurements.lines, strict=True)
    return Sweep(
        heads,
        factor,
        keep,
        measurements.baseline,
        len(measurements.rows),
        np.array(change, np.float32),
        np.array(divergence, np.float32),
        np.array(changed, np.int64),
        np.array(distance, np.float32),
        mean is not False,
        *np.array([astuple(one) for one in labels], np.float32).T,
    )


def heads_of(record: Record, kind: Kind) -> tuple[Head, ...]:
    """Every head of one kind, layer by layer."""
    layers, heads = record.attention(kind).shape[:2]
    return tuple(Head(kind, layer, head) for layer in range(layers) for head in range(heads))


class _Measurements:
    """The unchanged run as baseline, and one line of numbers for each run compared with it."""

    def __init__(self, replay: Replay, toward: Toward, cancelled: Callable[[], bool]) -> None:
        self.replay, self.toward, self.cancelled = replay, toward, cancelled
        self.encoded = replay.encoded(cancelled)  # (1, n, w) or None
        self.first = replay.run(SideBySide(runs=({},), cancelled=cancelled), encoded=self.encoded)
        self.rows, ids = replay.scored()
        self.real = ~padding(replay.record, replay.record.kinds[-1])
        self.at = torch.from_numpy(self.rows.copy())
        self.baseline, self.targets, self.logits = float("nan"), torch.zeros(0, dtype=torch.int64), None
        if self.first.logits is not None and replay.predicts_words:
            self.logits = self.first.logits[0, self.at]  # (T, V)
            self.targets = self.logits.argmax(-1) if ids is None else torch.from_numpy(ids.copy())
            self.own = score(self.logits, self.logits, self.targets)
            self.baseline = float(self.own.log_probability.double().sum())
        self.said = replay.said(self.first)
        self.lines: list[tuple[float, float, int, LabelChange, float]] = []

    @property
    def batch_size(self) -> int:
        """How many runs fit into one pass."""
        tokens = self.replay.source.shape[1] + (0 if self.replay.target is None else self.replay.target.shape[1])
        most = TOKENS // tokens
        if self.first.logits is not None:
            most = min(most, LOGITS // self.first.logits.numel())
        return max(1, most)

    def measure(self, groups: Sequence[Factors]) -> None:
        """Run these ablations in one batch, and keep the numbers of each."""
        encoder = any(head.kind == "encoder" for group in groups for head in group)
        tape = SideBySide(runs=groups, toward=self.toward, cancelled=self.cancelled)
        after = self.replay.run(tape, copies=len(groups), encoded=None if encoder else self.encoded)
        distances = _distance(self.first, after)[:, self.real]  # (B, rows that are no padding)
        for index, distance in enumerate(distances):
            labels = self._labels(after, index)
            if self.logits is None or after.logits is None:
                self.lines.append((float("nan"), float("nan"), 0, labels, float(distance.mean())))
                continue
            other = score(self.logits, after.logits[index, self.at], self.targets)
            change = float((other.log_probability.double() - self.own.log_probability.double()).sum())
            turned = int((other.best != self.own.best).sum())
            self.lines.append((change, float(other.divergence.mean()), turned, labels, float(distance.mean())))

    def _labels(self, after: Outcome, index: int) -> LabelChange:
        """What becomes of the head's prediction."""
        return prediction.change(self.said, self.replay.said(after, index), ~self.replay.record.source.special)


def _toward(replay: Replay, mean: Mean, cancelled: Callable[[], bool]) -> Toward:
    """What heads are scaled toward; nothing for 0. Raises SettingError for the means of another model."""
    if isinstance(mean, HeadMeans):
        mean.check(replay.model.info.fingerprint)
        return mean.toward()
    if not mean:
        return {}
    record = replay.record
    tape = Averaging(
        rows={kind: torch.from_numpy(~padding(record, kind)) for kind in record.kinds}, cancelled=cancelled
    )
    replay.run(tape)
    return tape.means


def _check_factors(model: Model, heads: Heads) -> Factors:
    factors = head_factors(model, heads)
    if not factors:
        raise SettingError(later('Name at least one head, such as "encoder L0H0".'))
    if not all(0 <= factor <= LARGEST for factor in factors.values()):
        raise SettingError(later("A factor is between 0 (silent) and {largest:g}; 1 changes nothing.", largest=LARGEST))
    return factors


def _factors(record: Record, head: Head, factor: float, keep: bool) -> Factors:
    if not keep:
        return {head: factor}
    others = range(record.attention(head.kind).shape[1])
    return {Head(head.kind, head.layer, other): factor for other in others if other != head.head}


def _batches(groups: Sequence[Factors], most: int) -> Iterator[tuple[int, int]]:
    """Start and stop of each batch: at most ``most`` runs, and those that change the encoder apart from the others."""
    encoder = [any(head.kind == "encoder" for head in group) for group in groups]
    start = 0
    for stop in range(1, len(groups) + 1):
        if stop == len(groups) or stop - start == most or encoder[stop] != encoder[start]:
            yield start, stop
            start = stop


def _distance(before: Outcome, after: Outcome) -> Floats:
    """(B, rows) 1 - cosine of the last hidden states; exactly 0 where they are bit-equal."""
    was, now = before.last.double(), after.last.double()  # (1, rows, w), (B, rows, w)
    distance = (1 - torch.nn.functional.cosine_similarity(was, now, dim=-1)).clamp(min=0.0)
    kept: Tensor = torch.where((before.last == after.last).all(-1), 0.0, distance).float()
    return np.asarray(kept.numpy())


def _written(
    model: Model,
    record: Record,
    factors: Factors,
    toward: Toward,
    cancelled: Callable[[], bool],
    on_progress: Callable[[str, float | None], None],
) -> tuple[Record, Record] | None:
    """The model's own greedy output for the record's source, without and with the change."""
    write = own_writing(model, record, cancelled, on_progress)
    if write is None:
        return None
    settings = record.provenance.settings
    greedy = record.provenance.mode == GREEDY and not settings.keys() & {"forced", "ablated"}
    return (record if greedy else write({})), write({"ablate": factors, "toward": toward if factors else {}})


def own_writing(
    model: Model, record: Record, cancelled: Callable[[], bool], on_progress: Callable[[str, float | None], None]
) -> Callable[[Mapping[str, Any]], Record] | None:
    """What lets a model write its own greedy output for a record's source, given options that change the network; None
    if the model writes none. Raises SettingError."""
    if model.info.kind == "encoder" or (record.cross is None and not _generated(record)):
        return None
    if model.head is not None and record.prediction is not None:  # fine-tuned to label what it reads, not to write
        return None
    seen = ~padding(record, "encoder") if record.cross is not None else slice(record.steps[0].row + 1)
    prepared = _prepared(model, record.source_text, record.source.ids[seen])
    if prepared is None:
        return None
    found = _lengths(record)

    def write(change: Mapping[str, Any]) -> Record:
        options = Options(
            **found,
            **change,
            cancelled=cancelled,
            on_step=lambda step, _: on_progress(later("Writing: token {step}", step=step), None),
        )
        return generate.write(model, prepared, generate.start_of(model, prepared), {}, options, time.perf_counter())

    return write


def _lengths(record: Record) -> dict[str, Any]:
    """The record's decode() settings that also apply to greedy search. Raises SettingError."""
    settings = record.provenance.settings
    options = {name: settings[name] for name in _LENGTHS if name in settings}
    wrong = [name for name, value in options.items() if not isinstance(value, _LENGTHS[name])]
    if wrong:
        raise SettingError(later("The record's setting {name} cannot be read. Run its text again.", name=wrong[0]))
    return options


def _generated(record: Record) -> bool:
    return bool(record.steps) and record.provenance.mode != ONE_PASS


def _prepared(model: Model, text: str, ids: Ints) -> Prepared | None:
    """The text, with special tokens in it read as such if only that gives these ids; None if neither does."""
    for special in (False, True):
        with suppress(TextError):
            prepared = prepare(model, text, allow_special=special)
            if np.array_equal(prepared.tokens.ids, ids):
                return prepared
    return None
