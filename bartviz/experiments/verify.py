"""verify(): run a record's texts and tokens through its model again, and compare every number that it shows.

Nothing of how the record says it was made is taken for granted where it can be computed: texts, tokens, attention,
steps, rules, draws and beams. ``NOT_COMPARED`` names the fields that cannot be, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bartviz.analysis.measures import row_blocks
from bartviz.arrays import Floats
from bartviz.callbacks import never
from bartviz.errors import SettingError
from bartviz.experiments.replay import Replay
from bartviz.experiments.same_texts import other_tokens, wrong_texts
from bartviz.language import later, mark
from bartviz.models.model import Model, expect_model
from bartviz.record.attention import Attention, Kind
from bartviz.record.beam_tree import BeamTree, Hypothesis
from bartviz.record.checks import LIMITS, LOGITS, TEXT, Check, worst
from bartviz.record.prediction import Prediction
from bartviz.record.record import ModelInfo, Provenance, Record
from bartviz.record.sample import Sample
from bartviz.record.steps import Candidate, Step
from bartviz.record.turns import Turn
from bartviz.record.vocabulary import BRANCHED_AT, WRITTEN
from bartviz.run import predict
from bartviz.run.branches import scaled
from bartviz.run.candidates import Summary
from bartviz.run.rerun import Rerun, rerun
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape

WEIGHTS = mark("weights of the model")
MODEL = mark("description of the model")
REPEATED = mark("queries, keys and values of a second run")
REPEAT_LIMIT = 1e-3  # the same computation in other shapes, relative to the largest number of a layer
SETTINGS = mark("scale, mask, bias and output matrices")
SETTINGS_LIMIT = 1e-4  # they are read from the model; a bias may be computed on another device
SHOWN = mark("weights of every head")
SHOWN_LIMIT = 1e-3  # of a weight
PREDICTION = mark("logits of the labels")
LABELS_LIMIT = 1e-3  # of a logit
CHOICES = mark("choices and rules of decoding")
DRAWN = mark("probabilities of drawing")
DRAWN_LIMIT = 1e-3  # of a probability
BEAMS = mark("continuations of the beam search")
SCORES = mark("scores of the beam search")
SCORES_LIMIT = 1e-3  # relative to the number, at least of 1

_FIRST_RUN = mark("versions, time, duration, notices and number format of the first run, and what only it could check")
_NAME = mark("the name of the model, and where it was found")
_MADE = mark("settings that leave no trace in texts and numbers")
_KEPT = mark("rules of the tokens that were kept from an earlier text")
NOT_COMPARED: Mapping[type, Mapping[str, str]] = {
    ModelInfo: dict.fromkeys(("name", "source"), _NAME),  # the same model may be found elsewhere
    Provenance: dict.fromkeys(("versions", "dtype", "seconds", "made", "notices", "checks"), _FIRST_RUN)
    | {"settings": _MADE},  # of a text that the model wrote they are compared
    Record: {"turns": _FIRST_RUN},  # of a template, which the tokenizer may no longer have
    Turn: dict.fromkeys(("role", "start", "stop"), _FIRST_RUN),
}
"""Fields of a record that no second run can compare, with their description in ``Verification.not_compared``."""


@dataclass(frozen=True)
class Verification(Sequence[Check]):
    """The checks of a second run, in order; true if all passed.

    ``not_compared``: what no second run can compare, in words.
    """

    checks: tuple[Check, ...]
    not_compared: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.passed

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    @overload
    def __getitem__(self, index: int) -> Check: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Check, ...]: ...
    def __getitem__(self, index: int | slice) -> Check | tuple[Check, ...]:
        return self.checks[index]

    def __repr__(self) -> str:
        failed = [
            check.name if check.kind is None else f"{check.kind} {check.name}" for check in self if not check.passed
        ]
        result = f"failed: {', '.join(failed)}" if failed else f"{len(self)} checks passed"
        return f"<Verification: {result}; not compared: {'; '.join(self.not_compared) or 'nothing'}>"


@torch_defaults()
def verify(model: Model, record: Record, *, cancelled: Callable[[], bool] = never) -> Verification:
    """Run a record's tokens through its model again, and compare every number that the record shows.

    The result is true if all checks passed, and iterates over them. It compares: the model's weights (by fingerprint)
    and description; both texts with the tokens, and every token's names, words and positions; for every kind of
    attention queries, keys, values, scale, mask, windows, caps, sinks, bias, output matrices and the weights of every
    head; of every step all candidates, their logits and probabilities, entropy and log p; for a text that the model
    wrote the rules and draws of every step, or the whole tree of a beam search, and why it ended; the logits of a
    fine-tuned head. A check of the record itself that fails is among them. ``not_compared`` lists the rest.

    A record of another model fails the first check, and nothing else is compared. Raises SettingError if the arguments
    are not a model and a record, WeightsOnlyError, BudgetError, Cancelled.

    >>> bool(bartviz.verify(model, record))
    True
    """
    expect_model(model, record)
    record.expect_model()
    same = Check(WEIGHTS, float(model.info.fingerprint != record.model.fingerprint), 0.0)
    if not same.passed:
        return Verification((same,), (later("everything else: it is the record of another model"),))
    replay = Replay(model, record)
    values = any(record.attention(kind).v is not None for kind in record.kinds)
    tape = Tape(values=values, scale_heads=scaled(record), cancelled=cancelled)
    out = replay.run(tape)
    logits = None if out.logits is None else out.logits[0].float()  # (n or m, V)
    again = replay.kept(tape)
    checks = [same, Check(MODEL, float(_described_otherwise(model.info, record.model)), 0.0)]
    checks.append(
        Check(TEXT, float(wrong_texts(model, record, logits) + _other_axes(record) + _other_names(model, record)), 0.0)
    )
    for kind in record.kinds:
        checks += _attention(record.attention(kind), again.attention(kind), kind)
    if logits is not None and len(record.steps):
        checks.append(_steps(record, logits))
    checks += _written(model, record, logits, cancelled)
    if record.prediction is not None or model.head is not None:
        checks.append(Check(PREDICTION, _apart_labels(model, record, out.labels), LABELS_LIMIT))
    own = [check for check in record.check() if check.failed]
    failed = {(check.name, check.kind) for check in checks if not check.passed}
    checks += [check for check in own if (check.name, check.kind) not in failed]
    return Verification(tuple(checks), _not_compared(record))


def _not_compared(record: Record) -> tuple[str, ...]:
    kept = [_KEPT] if BRANCHED_AT in record.provenance.settings else []
    reasons = [reason for of_class in NOT_COMPARED.values() for reason in of_class.values()]
    return tuple(map(later, dict.fromkeys([*reasons, *kept])))


def _described_otherwise(info: ModelInfo, other: ModelInfo) -> int:
    """How many facts differ; a record may lack some, and its model may have been found under another name."""
    pairs = (
        (getattr(info, fact.name), getattr(other, fact.name))
        for fact in fields(ModelInfo)
        if fact.name not in NOT_COMPARED[ModelInfo]
    )
    return sum(said is not None and said != known for known, said in pairs)


def _other_axes(record: Record) -> int:
    """How many tokens of rows and columns are not those of the stack that they belong to."""
    decoder = record.source if record.decoder is None else record.decoder.query
    wrong = 0
    for kind in record.kinds:
        attention = record.attention(kind)
        rows, columns = (
            (record.source if kind == "encoder" else decoder),
            (decoder if kind == "decoder" else record.source),
        )
        wrong += other_tokens(attention.query, rows) + other_tokens(attention.key, columns)
    return wrong


def _other_names(model: Model, record: Record) -> int:
    """How many candidates have a name that is not their token's."""
    if record.decoder is None:
        return 0
    summary, read = Summary(model.tokenizer, 1), record.decoder.query.ids.tolist()
    return sum(
        not 0 <= one.token_id < model.info.vocabulary or one.label != summary.label(one.token_id, read[: step.row + 1])
        for step in record.steps
        for one in (step.chosen, *step.candidates)
    )


def _attention(a: Attention, b: Attention, kind: Kind) -> Iterator[Check]:
    """Every field of a record's attention against that of a second run."""
    if a.shape != b.shape:
        yield Check(REPEATED, math.inf, REPEAT_LIMIT, kind)
        return
    apart = {"numbers": 0.0, "settings": 0.0}
    for field in fields(Attention):
        if field.compare:
            of = "numbers" if field.name in ("q", "k", "v", "sample") else "settings"
            pair = getattr(a, field.name), getattr(b, field.name)
            apart[of] = worst(apart[of], _apart(*(_biases(a, *pair) if field.name == "bias" else pair)))
    yield Check(REPEATED, apart["numbers"], REPEAT_LIMIT, kind)
    yield Check(SETTINGS, apart["settings"], SETTINGS_LIMIT, kind)
    yield Check(SHOWN, _apart_weights(a, b), SHOWN_LIMIT, kind)


def _biases(attention: Attention, first: Floats | None, second: Floats | None) -> tuple[object, object]:
    """Two biases to compare: where a row may not attend, one that was made step by step has 0."""
    if first is None or second is None or first.shape != second.shape:
        return first, second
    return first, np.where(~attention.mask & (first == 0), np.float32(0), second)


def _apart(first: object, second: object) -> float:
    """How far two fields are apart: numbers relative to the largest of their layer; anything else is equal or not."""
    if isinstance(first, Sample) and isinstance(second, Sample):
        return _apart_samples(first, second)
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.shape != second.shape:
            return math.inf
        if first.dtype.kind == "f":
            return _relative(first, second)
        return float(np.count_nonzero(first != second))
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return math.inf
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) / max(abs(second), 1e-12)
    return 0.0 if first == second else math.inf


def _apart_samples(first: Sample, second: Sample) -> float:
    """Of two samples: which heads were looked at, and their values. The kernel's output is compared with the weights
    by the record's own check."""
    if not np.array_equal(first.heads, second.heads):
        return math.inf
    return _apart(first.v, second.v)


def _relative(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    """The largest difference of a layer (the first axis), relative to the layer's largest number."""
    whole = tuple(range(1, a.ndim))
    size = np.maximum(np.abs(b).max(axis=whole, initial=0.0), 1e-6)
    apart = np.abs(a - b).max(axis=whole, initial=0.0)
    return float((apart / size).max(initial=0.0))


def _apart_weights(a: Attention, b: Attention) -> float:
    """The largest difference of two weights."""
    return worst(
        0.0,
        *(
            float(np.abs(a.row_weights(layer, rows) - b.row_weights(layer, rows)).max())
            for layer in range(a.shape[0])
            for rows in row_blocks(a)
        ),
    )


def _steps(record: Record, logits: Tensor) -> Check:
    """All numbers of all steps against the logits (m, V) of a second run, relative to the largest logit of a step."""
    if not _in_vocabulary(record, logits.shape[1]):
        return Check(LOGITS, math.inf, LIMITS[LOGITS])
    largest, most = 0.0, max(len(step.candidates) for step in record.steps)
    for step in record.steps:
        exact = logits[step.row].double()
        log_p = exact.log_softmax(-1)
        scale = max(1.0, float(exact.abs().max()) if bool(exact.isfinite().all()) else 1.0)
        if len(step.candidates) != min(most, len(exact)):
            return Check(LOGITS, math.inf, LIMITS[LOGITS])
        best = exact.topk(len(step.candidates)).values.tolist()
        bits = float(torch.special.entr(log_p.exp()).sum()) / math.log(2)
        chosen = int(record.output.ids[step.row]) if record.output is not None else step.chosen.token_id
        errors = [
            _difference(step.entropy, bits),
            _difference(step.log_probability, float(log_p[chosen])),
            *(_difference(one.logit, value) for one, value in zip(step.candidates, best, strict=True)),
        ]
        for one in (step.chosen, *step.candidates):
            errors += [
                _difference(one.logit, float(exact[one.token_id])),
                _difference(one.probability, float(log_p[one.token_id].exp())),
            ]
        largest = worst(largest, float(step.chosen.token_id != chosen), *(error / scale for error in errors))
    return Check(LOGITS, largest, LIMITS[LOGITS])


def _in_vocabulary(record: Record, size: int) -> bool:
    """Whether the logits have a number for every token of the steps and of the output."""
    ids = [one.token_id for step in record.steps for one in (step.chosen, *step.candidates)]
    ids += [] if record.output is None else record.output.ids.tolist()
    return all(0 <= token < size for token in ids)


def _difference(a: float, b: float) -> float:
    """How far two numbers are apart; the same infinity twice is no difference."""
    return 0.0 if a == b else abs(a - b)


def _written(model: Model, record: Record, logits: Tensor | None, cancelled: Callable[[], bool]) -> Iterator[Check]:
    """The rules, draws and beams of a text that the model wrote; any other record has none."""
    if record.provenance.mode not in WRITTEN or logits is None or not len(record.steps):
        said = sum(step.rule is not None or any(_drawn(step)) for step in record.steps)
        said += (record.beams is not None) + (record.provenance.stopped is not None)
        said += record.provenance.mode in WRITTEN
        if len(record.steps) or said:
            yield Check(CHOICES, float(said), 0.0)
        return
    if not _in_vocabulary(record, logits.shape[1]):
        yield Check(CHOICES, math.inf, 0.0)
        return
    try:
        made = rerun(model, record, logits[[step.row for step in record.steps]], cancelled)
    except SettingError:
        yield Check(CHOICES, math.inf, 0.0)
        return
    wrong = int(made.stopped != record.provenance.stopped) + _other_settings(record, made)
    if made.tree is None:
        wrong += sum(_otherwise(step, made, index) for index, step in enumerate(record.steps))
        wrong += record.beams is not None
    yield Check(CHOICES, float(wrong), 0.0)
    yield from _draws(record, made)
    if made.tree is not None:
        yield from _beams(record, made.tree)


def _other_settings(record: Record, made: Rerun) -> int:
    """How many settings differ; one that is off and one that an older record lacks are the same."""
    said, again = record.provenance.settings, made.settings
    return sum((said.get(key) or None) != (again.get(key) or None) for key in said.keys() | again.keys())


def _otherwise(step: Step, made: Rerun, index: int) -> bool:
    """Whether decode() would have taken another token here, beyond rounding, or by another rule."""
    near = made.short[index] <= LIMITS[LOGITS] * max(1.0, abs(step.chosen.logit))
    same = step.chosen.token_id == made.choices[index].token
    return not near or (same and step.rule != made.choices[index].rule)


def _drawn(step: Step) -> Iterator[bool]:
    return (one.filtered is not None for one in (step.chosen, *step.candidates))


def _draws(record: Record, made: Rerun) -> Iterator[Check]:
    """The probabilities from which each token was drawn."""
    largest, any_drawn = 0.0, False
    for index, step in enumerate(record.steps):
        drawn = made.choices[index].filtered if made.tree is None else None
        any_drawn = any_drawn or drawn is not None or any(_drawn(step))
        for one in (step.chosen, *step.candidates):
            known = None if drawn is None else float(drawn[one.token_id])
            apart = math.inf if (known is None) != (one.filtered is None) else 0.0
            if known is not None and one.filtered is not None:
                apart = abs(known - one.filtered)
            largest = worst(largest, apart)
    if any_drawn:
        yield Check(DRAWN, largest, DRAWN_LIMIT)


def _beams(record: Record, again: BeamTree) -> Iterator[Check]:
    """A tree against that of a second search; continuations of equal scores may change places."""
    tree = record.beams
    if tree is None:
        yield Check(BEAMS, float(len(again.nodes)), 0.0)
        return
    own, other = ({_path(one, place): node for place, node in enumerate(one.nodes)} for one in (tree, again))
    wrong = len(own.keys() ^ other.keys()) + int(len(own) != len(tree.nodes))
    wrong += sum(getattr(tree, name) != getattr(again, name) for name in ("beams", "length_penalty", "early_stopping"))
    wrong += _path(tree, tree.best) != _path(again, again.best)
    ranked = {(node.step, node.rank): node.score for node in again.nodes}
    largest = 0.0
    for path in own.keys() & other.keys():
        node, known = own[path], other[path]
        wrong += _other_hypothesis(node, known)
        largest = worst(largest, *_scores_apart(node, known, ranked))
    rules = [tree.nodes[place].rule for place in tree.path(tree.best)]
    wrong += sum(1 for step, rule in zip(record.steps, rules, strict=False) if step.rule != rule)
    yield Check(BEAMS, float(wrong), 0.0)
    yield Check(SCORES, largest, SCORES_LIMIT)


def _path(tree: BeamTree, node: int) -> tuple[int, ...]:
    """The ids of a continuation, from the first token on."""
    return tuple(tree.nodes[place].token.token_id for place in tree.path(node))


def _other_hypothesis(a: Hypothesis, b: Hypothesis) -> int:
    """How many facts of a continuation differ; its rank and its numbers apart."""
    names = {field.name for field in fields(Hypothesis)} - {"parent", "token", "total", "score", "rank"}
    wrong = sum(1 for name in names if getattr(a, name) != getattr(b, name))
    return wrong + int(a.token.label != b.token.label or a.token.filtered != b.token.filtered)


def _scores_apart(a: Hypothesis, b: Hypothesis, ranked: Mapping[tuple[int, int], float]) -> Iterator[float]:
    """How far the numbers of a continuation are apart, relative to each of at least 1; and the scores of its rank."""
    pairs = [(a.total, b.total), (a.score, b.score), (ranked.get((a.step, a.rank), math.nan), b.score)]
    pairs += [(getattr(a.token, name), getattr(b.token, name)) for name in _numbers(Candidate)]
    return (_difference(one, other) / max(1.0, abs(other)) for one, other in pairs)


def _numbers(of: type[Candidate]) -> tuple[str, ...]:
    """The fields of a candidate that are numbers of the model."""
    return tuple(field.name for field in fields(of) if field.name not in ("token_id", "label", "filtered"))


def _apart_labels(model: Model, record: Record, logits: Tensor | None) -> float:
    """The largest difference between the labels' logits and those of a second run; infinity where those have another
    shape, or the prediction says something else of itself."""
    said = record.prediction
    row = predict.row_read(model, record.source, record.output)
    if said is None:
        if model.head is None or not predict.predicts(model, record.pair_text):
            return 0.0
        return 0.0 if model.head.module is not None and row is None else math.inf
    if logits is None or not predict.predicts(model, record.pair_text):
        return math.inf
    again = predict.prediction(model, logits[0], len(said.logits), row)
    if any(
        getattr(again, field.name) != getattr(said, field.name)
        for field in fields(Prediction)
        if field.name != "logits"
    ):
        return math.inf
    same_shape = again.logits.shape == said.logits.shape
    return float(np.abs(again.logits - said.logits).max()) if same_shape else math.inf
