"""patch(): the outputs of heads in one run put into another, and what that recovers of the difference between them.

Letters in shapes: B runs in one batch, L layers, H heads, Q rows, d head width, T rows that are scored, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis.edits import Part
from bartviz.analysis.measures import padding
from bartviz.analysis.patching import BYS, By, Patching
from bartviz.arrays import Floats
from bartviz.attribution.attribute import captured
from bartviz.callbacks import never, silent
from bartviz.errors import SettingError, TextError, choices
from bartviz.experiments.ablation import LOGITS, TOKENS
from bartviz.experiments.edits import token_id
from bartviz.experiments.replay import Replay, SideBySide
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.run.branches import scaled
from bartviz.safety.torch_defaults import torch_defaults

LEAST = 0.1  # nats between the differences of the two runs: a share of less would be noise


class Put(NamedTuple):
    """Outputs of one layer that are taken from the clean run: of one head or all (None), at one row or all (None)."""

    kind: Kind
    layer: int
    head: int | None = None
    row: int | None = None


@dataclass
class Keeping(SideBySide):
    """A tape for one run, which keeps the outputs (1, Q, H, d) of its heads."""

    outputs: dict[tuple[Kind, int], Tensor] = field(default_factory=dict)

    def outputs_of(self, kind: Kind, layer: int, outputs: Tensor) -> Tensor:
        self.outputs[kind, layer] = outputs = super().outputs_of(kind, layer, outputs)
        return outputs


@dataclass
class Patched(SideBySide):
    """A tape for runs in one batch, into each of which other outputs of the clean run are put."""

    clean: Mapping[tuple[Kind, int], Tensor] = field(default_factory=dict)
    puts: Sequence[Sequence[Put]] = ()

    def outputs_of(self, kind: Kind, layer: int, outputs: Tensor) -> Tensor:
        outputs = super().outputs_of(kind, layer, outputs)
        here = [(run, put) for run, puts in enumerate(self.puts) for put in puts if put[:2] == (kind, layer)]
        if not here:
            return outputs
        changed, clean = outputs.clone(), self.clean[kind, layer]
        for run, put in here:
            rows, heads = (slice(None) if i is None else slice(i, i + 1) for i in (put.row, put.head))
            changed[run, rows, heads] = clean[0, rows, heads]
        return changed


@torch_defaults()
def patch(
    model: Model,
    clean: str | Record,
    corrupted: str | Record,
    answers: tuple[str | int, str | int] | None = None,
    *,
    by: By = "head",
    kinds: Sequence[Kind] | Kind | None = None,
    step: int | None = None,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[int, int], None] = silent,
) -> Patching:
    """Put heads' outputs of a run on the clean text into a run on the corrupted one, one after the other: which of them
    brings the clean answer back (activation patching; Meng et al. 2022, Wang et al. 2023)?

    clean, corrupted: two texts, or records. The decoder of an encoder-decoder reads the clean run's output in both.
    answers: two tokens, as text, ``#id`` or id, whose logits are compared; None: the clean run's first choice and the
        corrupted one's.
    by: what is put back at a time: a "head" at all rows, all heads of a layer at one "position", or one "head and
        position".
    kinds: of attention; None is all in which the two runs have the same rows. Encoder heads need texts of equally many
        tokens, and so do models that are not encoder-decoders.
    step: of the clean record, from 0, or a mask of the text. None: the first at which the first choices differ, or with
        ``answers`` the one where the runs are furthest apart; of a decoder alone, what follows the text.
    Raises SettingError where the runs differ by less than 0.1 nats (a share of nothing is not defined) or agree on the
    token, for an answer, kind or step that is not there, and for a record of another model or with padding; TextError
    for texts that cannot be aligned; BudgetError, Cancelled.

    >>> found = bartviz.patch(model, "I want to buy a car.", "I want to buy a house.")
    >>> found.answers
    ('Auto', 'Haus')
    >>> found.recovered["cross"].shape  # (layers, heads): the share that each head recovers
    (4, 8)
    """
    expect_model(model)
    if by not in BYS:
        raise SettingError(later("There is no {name} to put back: choose {names}.", name=by, names=choices(BYS)))
    records = [one if isinstance(one, Record) else captured(model, one, None, cancelled) for one in (clean, corrupted)]
    pair = _Pair(model, records[0], records[1], cancelled)
    chosen, missing = _kinds(pair, kinds)
    row, ids = _question(pair, answers, step)
    was, now = (float(logits[row, ids[0]] - logits[row, ids[1]]) for logits in (pair.was, pair.now))
    if abs(was - now) < LEAST:
        raise SettingError(
            later(
                "The two texts tell these answers apart by almost the same number of nats ({clean:.2f} and "
                "{corrupted:.2f}), so there is no share of a difference: choose other texts or answers.",
                clean=was,
                corrupted=now,
            )
        )
    sizes = {kind: _sizes(records[0], kind) for kind in chosen}
    every = [Put(kind, layer) for kind, (layers, *_) in sizes.items() for layer in range(layers)]
    each = [[put] for kind in chosen for put in _places(kind, sizes[kind], by)]
    shares: list[float] = []
    for logits in pair.runs([every, *each]):
        patched = (logits[:, row, ids[0]] - logits[:, row, ids[1]]).double()  # (B,)
        shares += ((patched - now) / (was - now)).tolist()
        on_progress(len(shares), 1 + len(each))
    recovered: dict[Kind, Floats] = {}
    start = 1
    for kind in chosen:
        shape = [size for size, axis in zip(sizes[kind], _axes(by), strict=True) if axis]
        stop = start + math.prod(shape)
        recovered[kind] = np.array(shares[start:stop], np.float32).reshape(shape)
        start = stop
    return Patching(
        model=model.info.name,
        by=by,
        row=row,
        answers=pair.labels(row, ids),
        ids=ids,
        clean=was,
        corrupted=now,
        recovered=recovered,
        everything=shares[0],
        rows={kind: pair.rows(records[0], kind) for kind in chosen},
        corrupted_rows={kind: pair.rows(records[1], kind) for kind in chosen},
        missing=missing,
    )


class _Pair:
    """The clean run and the corrupted one, and runs between them. Raises SettingError, TextError, Cancelled."""

    def __init__(self, model: Model, clean: Record, corrupted: Record, cancelled: Callable[[], bool]) -> None:
        self.clean, self.corrupted = Replay(model, clean), Replay(model, corrupted)
        self._cancelled = cancelled
        if any(padding(record, kind).any() for record in (clean, corrupted) for kind in record.kinds):
            raise SettingError(
                later("A record from a batch has padding, which no text can be aligned with: give the text.")
            )
        if clean.cross is None and not self.aligned:
            raise TextError(_not_aligned(clean, corrupted))
        keeping = Keeping(runs=[scaled(clean)], cancelled=cancelled)
        was = self.clean.run(keeping).logits
        if was is None:
            raise SettingError(
                later(
                    "This model predicts no tokens, so there are no answers to compare: choose one that writes, or "
                    "that fills masks."
                )
            )
        self.outputs, self.was = keeping.outputs, was[0]  # of (kind, layer): (1, Q, H, d); (Q, V)
        silenced = any(head.kind == "encoder" for head in scaled(corrupted))
        self._encoded = None if silenced else self.corrupted.encoded(cancelled)
        self.now = next(self.runs([[]]))[0]  # (Q, V)

    @property
    def aligned(self) -> bool:
        """Whether the two texts have equally many tokens."""
        return len(self.clean.record.source) == len(self.corrupted.record.source)

    def runs(self, puts: Sequence[Sequence[Put]]) -> Iterator[Tensor]:
        """The logits (B, Q, V) of corrupted runs, batch by batch, into which these outputs are put."""
        replay, factors = self.corrupted, scaled(self.corrupted.record)
        target = self.clean.target
        tokens = replay.source.shape[1] + (0 if target is None else target.shape[1])
        rows = replay.source.shape[1] if target is None else target.shape[1]
        most = max(1, min(TOKENS // tokens, LOGITS // (rows * replay.model.info.vocabulary)))
        for batch in _batches(puts, most):
            tape = Patched(runs=[factors] * len(batch), cancelled=self._cancelled, clean=self.outputs, puts=batch)
            encoder = any(put.kind == "encoder" for one in batch for put in one)
            encoded = None if encoder else self._encoded
            logits = replay.run(tape, target=target, copies=len(batch), encoded=encoded).logits
            assert logits is not None  # other models are refused
            yield logits

    def labels(self, row: int, ids: tuple[int, int]) -> tuple[str, str]:
        """The labels of two tokens that could stand after a row."""
        first, second = self.clean.labels(np.array([row, row]), ids)
        return first, second

    def rows(self, record: Record, kind: Kind) -> tuple[str, ...]:
        """The tokens at the rows of a kind; the decoder of an encoder-decoder reads the clean ones in both runs."""
        read = self.clean.record if record.cross is not None and kind != "encoder" else record
        return read.attention(kind).query.labels


def _question(
    pair: _Pair, answers: tuple[str | int, str | int] | None, step: int | None
) -> tuple[int, tuple[int, int]]:
    """The row at which the runs are compared, and the ids of the two answers. Raises SettingError, TextError."""
    model, record = pair.clean.model, pair.clean.record
    rows, _ids = pair.clean.scored()
    if step is not None and not 0 <= step < len(rows):
        raise SettingError(
            later("There is no step {step} to compare: choose 0 to {last}.", step=step, last=len(rows) - 1)
        )
    if step is not None:
        rows = rows[step : step + 1]
    elif model.info.kind == "decoder":
        rows = np.array([len(record.source) - 1])
    at = torch.from_numpy(rows.copy())
    was, now = pair.was[at], pair.now[at]  # (T, V) each
    if answers is None:
        first, second = was.argmax(-1), now.argmax(-1)  # (T,) each
        differs = (first != second).nonzero()[:, 0].tolist()
        if not differs:
            raise SettingError(
                later(
                    "The first choice is the same after both texts, so nothing tells them apart: name two answers, or "
                    "give other texts."
                )
            )
        place = differs[0]
        return int(rows[place]), (int(first[place]), int(second[place]))
    old = record.source if record.output is None else record.output
    part: Part = "source" if record.cross is None else "target"
    a, b = (token_id(model, answer, old, int(rows[0]), part=part) for answer in answers)
    if a == b:
        raise SettingError(later("A token cannot be compared with itself: name another one."))
    apart = (was[:, a] - was[:, b] - now[:, a] + now[:, b]).abs()  # (T,)
    return int(rows[int(apart.argmax())]), (a, b)


def _kinds(pair: _Pair, kinds: Sequence[Kind] | Kind | None) -> tuple[tuple[Kind, ...], tuple[Kind, ...]]:
    """The kinds of attention whose outputs are put back, and those that are left out as their rows differ."""
    there = pair.clean.record.kinds
    missing: tuple[Kind, ...] = () if pair.aligned else ("encoder",)
    if kinds is None:
        return tuple(kind for kind in there if kind not in missing), missing
    named = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if not named or any(kind not in there for kind in named):
        raise SettingError(
            later("This record has heads of the kinds {kinds}: choose at least one.", kinds=choices(there))
        )
    if set(named) & set(missing):
        raise TextError(_not_aligned(pair.clean.record, pair.corrupted.record))
    return tuple(kind for kind in there if kind in named), ()


def _not_aligned(clean: Record, corrupted: Record) -> str:
    return later(
        "The two texts have {clean} and {corrupted} tokens, so their rows do not correspond: give two texts of equally "
        "many tokens, such as one with a single word replaced.",
        clean=len(clean.source),
        corrupted=len(corrupted.source),
    )


def _axes(by: By) -> tuple[bool, bool, bool]:
    """Whether what is put back has a layer, a head and a row of its own."""
    return True, by != "position", by != "head"


def _sizes(record: Record, kind: Kind) -> tuple[int, int, int]:
    layers, heads, rows, _columns = record.attention(kind).shape
    return layers, heads, rows


def _places(kind: Kind, sizes: tuple[int, int, int], by: By) -> list[Put]:
    """All that is put back of a kind, each alone, in the order of an array of its shares."""
    layers, heads, rows = (range(size) if axis else [None] for size, axis in zip(sizes, _axes(by), strict=True))
    return [Put(kind, layer or 0, head, row) for layer, head, row in product(layers, heads, rows)]


def _batches(puts: Sequence[Sequence[Put]], most: int) -> Iterator[Sequence[Sequence[Put]]]:
    """At most so many runs at a time, in their order: those that change the encoder apart from the others."""
    for _encoder, group in groupby(puts, key=lambda one: any(put.kind == "encoder" for put in one)):
        runs = list(group)
        for start in range(0, len(runs), most):
            yield runs[start : start + most]
