"""One part of a corpus -> its sums: what a worker does, with a model that it loads once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType

import numpy as np
import torch

from bartviz.analysis.own_measures import Own
from bartviz.arrays import Floats
from bartviz.callbacks import never
from bartviz.corpus import head_ablation, text_values
from bartviz.corpus.batch_measures import Edges, scores_of, visible
from bartviz.corpus.edges import tables
from bartviz.corpus.encode import Encoded, Padded, Side, encode, padding_token
from bartviz.corpus.looks import Looks
from bartviz.corpus.measure import batches, measure, run
from bartviz.corpus.read import Bad, Line
from bartviz.corpus.relations import Relations
from bartviz.corpus.run_folder import Files, Job, Shard
from bartviz.corpus.sums import Bins, Partial
from bartviz.errors import Cancelled, TextError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from bartviz.run.batch import start_token
from bartviz.tape.tape import Tape, depths
from bartviz.text.clean import Truncate

PROBED = 32
"""Texts that own measures are asked about before a run, so that one that fails does so at once, and for bins."""
REPEATED = 24  # random tokens that are read twice
SEQUENCES = 64


@dataclass(frozen=True)
class Measuring:
    """What measures every head of a model over parts of a corpus."""

    model: Model
    cancelled: Callable[[], bool] = never
    functions: Mapping[str, Own] = field(default_factory=dict)

    def files(self, job: Job) -> Files:
        """The files of a part."""
        return measured(self.model, job, self.cancelled, self.functions).files()


def measured(
    model: Model, job: Job, cancelled: Callable[[], bool] = never, functions: Mapping[str, Own] = MappingProxyType({})
) -> Shard:
    """The sums of a part of the corpus. The same part gives the same sums, bit by bit, on the same machine.

    functions: measures of the caller's own, whose bins the job has. ``cancelled`` is looked at after every text and
    every layer. Raises Cancelled.
    """
    rows: list[Encoded] = []
    bad = list(job.bad)
    for line in job.lines:
        try:
            labels = job.edges is not None or bool(functions)
            rows.append(encode(model, line, labels=labels, truncate=job.truncate, cancelled=cancelled))
        except TextError as error:
            bad.append(Bad(line.number, line.file, line.line, error.args[0]))
        if cancelled():
            raise Cancelled(later("The run was stopped."))
    bad.sort(key=lambda row: row.number)
    found: list[tuple[Sequence[Encoded], Kind, Edges]] = []
    relations: dict[Kind, Relations] = {}
    looks: dict[Kind, Looks] = {}
    kept: dict[str, bytes] = {}
    sums = _sums(model, rows, job, found, relations, looks, kept, cancelled, functions) if rows else {}
    looks = {kind: one.kept() for kind, one in looks.items()}
    if job.edges is not None:
        kept |= tables(rows, found)
    cut = sum(row.cut for row in rows)
    return Shard(sums, len(rows), tuple(bad), kept, relations, cut, looks)


def _sums(
    model: Model,
    rows: list[Encoded],
    job: Job,
    edges: list[tuple[Sequence[Encoded], Kind, Edges]],
    relations: dict[Kind, Relations],
    looks: dict[Kind, Looks],
    kept: dict[str, bytes],
    cancelled: Callable[[], bool],
    functions: Mapping[str, Own],
) -> dict[Kind, Partial]:
    """The sums; the edges of each batch are added to ``edges``, what heads follow of trees to ``relations``, what they
    look at to ``looks``, and the file of the values of each text to ``kept``."""
    texts = np.array([row.line.number for row in rows], np.int64)
    values: dict[Kind, np.ndarray] = {}
    even: dict[Kind, np.ndarray] = {}
    names: dict[Kind, tuple[str, ...]] = {}
    for batch in batches(rows):
        batch_rows = [rows[index] for index in batch]
        for kind, found in measure(model, batch_rows, job.edges, cancelled, functions).items():
            if found.edges is not None:
                edges.append((batch_rows, kind, found.edges))
            if found.relations is not None and found.relations.distances:
                relations[kind] = relations[kind] + found.relations if kind in relations else found.relations
            looks[kind] = looks[kind] + found.looks if kind in looks else found.looks
            if kind not in values:
                values[kind] = np.empty((len(rows), *found.values.shape[1:]), np.float32)
                even[kind] = np.empty((len(rows), found.even.shape[1]), np.float32)
                names[kind] = found.names
            values[kind][batch], even[kind][batch] = found.values, found.even
    if job.silence:
        _silence(model, rows, job, values, even)
        names = {kind: (*known, *head_ablation.measures(model)) for kind, known in names.items()}
    if job.values:
        kept[text_values.NAME] = text_values.packed([row.line for row in rows], values, names)
    return {kind: Partial.of(kind, names[kind], values[kind], even[kind], texts, job.own) for kind in values}


def _silence(
    model: Model, rows: Sequence[Encoded], job: Job, values: dict[Kind, np.ndarray], even: dict[Kind, np.ndarray]
) -> None:
    """Add to the values what silencing each head changes, NaN for texts that are not drawn."""
    drawn = head_ablation.chosen([row.line.number for row in rows], job.silence)
    found = head_ablation.outcomes(model, [rows[index] for index in drawn], job.mean) if drawn else {}
    count = len(head_ablation.measures(model))
    for kind, known in values.items():
        added = np.full((*known.shape[:3], count), np.nan, np.float32)
        if drawn:
            added[drawn] = found[kind]
        values[kind] = np.concatenate([known, added], axis=3)
        even[kind] = np.pad(even[kind], ((0, 0), (0, count)), constant_values=np.nan)


def probed(
    model: Model, lines: Iterable[Line | Bad], functions: Mapping[str, Own], truncate: Truncate | None = None
) -> dict[str, Bins]:
    """The bins of measures of the caller's own, from their values for the first texts that can be used.

    Raises SettingError where a function fails.
    """
    found: dict[str, list[Floats]] = {name: [] for name in functions}
    for row in islice(_encoded(model, lines, truncate), PROBED):
        for values in measure(model, [row], functions=functions).values():
            for place, name in enumerate(functions, start=-len(functions)):
                found[name].append(values.values[..., place].ravel())
    return {name: Bins.around(np.concatenate(values)) for name, values in found.items() if values}


def _encoded(model: Model, lines: Iterable[Line | Bad], truncate: Truncate | None) -> Iterator[Encoded]:
    for line in lines:
        if isinstance(line, Line):
            with suppress(TextError):
                yield encode(model, line, labels=True, truncate=truncate)


def random(model: Model, cancelled: Callable[[], bool] = never) -> Shard:
    """Induction and duplicate tokens of self-attention, on random tokens that are read twice, less what the same
    positions get where the second tokens are others: a head that looks so far back whatever stands there is neither.

    An encoder-decoder reads them on both sides. Generated texts have negative ids.
    """
    generator = np.random.default_rng(0)
    special = set(model.tokenizer.all_special_ids)
    known = np.array(
        [token for token in range(min(len(model.tokenizer), model.info.vocabulary)) if token not in special]
    )
    length = REPEATED if model.info.positions is None else min(REPEATED, model.info.positions // 2 - 1)
    first, other = (
        np.stack([generator.choice(known, length, replace=len(known) < length) for _ in range(SEQUENCES)])
        for _ in range(2)
    )
    with model.creating():
        repeated, control = (
            _at_distance(model, np.concatenate([first, second], axis=1), cancelled) for second in (first, other)
        )
    sums = {
        kind: Partial.of(
            kind, ("induction", "duplicate"), np.maximum(values - control[kind][0], 0), even, np.arange(-SEQUENCES, 0)
        )
        for kind, (values, even) in repeated.items()
    }
    return Shard(sums, SEQUENCES)


def _at_distance(
    model: Model, ids: np.ndarray, cancelled: Callable[[], bool]
) -> dict[Kind, tuple[np.ndarray, np.ndarray]]:
    """For each kind of self-attention over sequences (B, 2 T): the mean weights (B, L, H, 2) of the rows of the second
    half on the token T - 1 and T positions before, and what even attention would give (B, 2)."""
    length = ids.shape[1] // 2
    source, inputs = _padded(model, ids), None
    if model.info.kind == "encoder-decoder":
        start = np.full((SEQUENCES, 1), start_token(model))
        inputs = _padded(model, np.concatenate([start, ids], axis=1))
    tape = Tape(cancelled=cancelled)
    run(model, source, inputs, tape)
    found: dict[Kind, tuple[np.ndarray, np.ndarray]] = {}
    for kind, depth in depths(model.network).items():
        if kind == "cross":
            continue
        shift = int(kind == "decoder" and inputs is not None)
        rows = np.arange(length, 2 * length) + shift  # the second time
        columns = np.stack([rows - length + 1, rows - length], axis=-1)  # (T, 2): induction, duplicate
        layers = [scores_of(tape, kind, layer).softmax(dim=-1) for layer in range(depth)]
        picked = [weights[:, :, torch.from_numpy(rows)[:, None], torch.from_numpy(columns)] for weights in layers]
        values = torch.stack([one.mean(dim=2) for one in picked], dim=1).cpu().numpy()  # (B, L, H, 2)
        read = source if kind == "encoder" or inputs is None else inputs
        seen = visible(kind, read, read).sum(dim=-1)[:, torch.from_numpy(rows)].float()  # (B, T)
        even = np.broadcast_to((1 / seen).mean(dim=-1, keepdim=True).cpu().numpy(), (SEQUENCES, 2))
        found[kind] = values, even
    return found


def _padded(model: Model, ids: np.ndarray) -> Padded:
    nothing = np.zeros(ids.shape[1], np.int64)
    sides = [Side(row, nothing, nothing, nothing, nothing, nothing, nothing) for row in ids.astype(np.int64)]
    return Padded.of(sides, padding_token(model), model.device)
