"""The decoding loops: feed a token, read the logits, choose the next; for a single text or for many beams.

Letters in shapes: B beams, V vocabulary, t tokens so far, S source tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from transformers import PreTrainedModel

from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.beam_tree import BeamTree, Hypothesis
from bartviz.record.checks import Check
from bartviz.record.steps import Candidate, StepNumbers
from bartviz.record.vocabulary import END_TOKEN, FORCED_END_TOKEN, LENGTH_LIMIT, Stop
from bartviz.run import beam_search, rules
from bartviz.run.beam_tape import Cached, cached, follow
from bartviz.run.candidates import Row, Summary
from bartviz.run.sampling import Sampling
from bartviz.run.step import Stepper
from bartviz.tape.tape import Tape, Tapes, recording
from bartviz.text import tokenize

# Per network: the longest text whose steps were compared with one pass, and the largest difference so far.
_COMPARED: WeakKeyDictionary[PreTrainedModel, tuple[int, float]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Forced:
    """A token that must come at its position, and the rule that says so."""

    token: int
    rule: str


@dataclass(frozen=True)
class Task:
    """A text to generate. start: the decoder's first tokens; source (1, S): the encoder's, or None; longest: maximum
    number of tokens; forced: by position among the new tokens; on_step: called with the steps done and their maximum;
    use_rules: whether the checkpoint's rules apply.
    """

    model: Model
    start: tuple[int, ...]
    source: Tensor | None
    longest: int
    active: Sequence[rules.Rule]
    forced: Mapping[int, Forced]
    summary: Summary
    on_step: Callable[[int, int], None]
    use_rules: bool = True

    @property
    def ends(self) -> tuple[int, ...]:
        return rules.end_tokens(self.model.generation)

    def report(self, done: int) -> None:
        self.on_step(done, self.longest - len(self.start))


@dataclass
class Written:
    """A generated text: all tokens of the decoder, the start included, and a step for each new one."""

    ids: list[int]
    tape: Tape
    steps: list[StepNumbers] = field(default_factory=list)
    stopped: Stop = LENGTH_LIMIT
    tree: BeamTree | None = None
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """A token, the rule that decided it, and the probabilities (V,) from which it was drawn, if it was."""

    token: int
    rule: str | None
    filtered: Tensor | None = None


Draw = Callable[[Tensor, Tensor], Choice]


def single(task: Task, tape: Tape, sampling: Sampling | None) -> Written:
    """One text: at every step the most probable token that the rules allow (greedy), or a sampled one."""
    text = _Text(task, tape, sampling)
    stepper = Stepper.start(task.model, task.source)
    logits = stepper.step(torch.tensor([task.start]))  # (1, V)
    while text.take(logits):
        logits = stepper.step(torch.tensor([[text.last]]))
    return text.written(stepper)


def together(tasks: Sequence[Task], tapes: Sequence[Tape], sampling: Sampling | None) -> list[Written]:
    """Several texts of one encoder-decoder, each as ``single`` writes it, on its own tape; every step is taken by all
    texts that have not ended.

    A matrix that is read for one text serves the others too: eight texts of the small translator take about half
    the time of one after another (``make bench``). Sums of many rows round differently from those of one row, by about
    1e-7 of a number.
    """
    texts, steppers = [_Text(task, tape, sampling) for task, tape in zip(tasks, tapes, strict=True)], []
    for task, tape in zip(tasks, tapes, strict=True):
        with recording(tape):
            steppers.append(Stepper.start(task.model, task.source))
    lengths = [task.source.shape[1] for task in tasks if task.source is not None]
    joined, writing = Stepper.joined(steppers), list(range(len(texts)))
    while writing:
        with recording(Tapes([tapes[one] for one in writing], [lengths[one] for one in writing])):
            logits = joined.step(torch.tensor([[texts[one].last] for one in writing]))  # (n, V)
        kept = [row for row, one in enumerate(writing) if texts[one].take(logits[row : row + 1])]
        for one in {*writing}.difference(writing[row] for row in kept):
            tapes[one].part()
        if kept and len(kept) < len(writing):
            joined.reorder(torch.tensor(kept))
        writing = [writing[row] for row in kept]
    return [text.written(stepper) for text, stepper in zip(texts, steppers, strict=True)]


class _Text:
    """A text while it is written, token by token."""

    def __init__(self, task: Task, tape: Tape, sampling: Sampling | None) -> None:
        self._task = task
        self._written = Written(list(task.start), tape)
        self._draw = None if sampling is None else _drawing(task, sampling)
        self._first: Tensor | None = None  # (V,)

    @property
    def last(self) -> int:
        """The last token so far."""
        return self._written.ids[-1]

    def take(self, logits: Tensor) -> bool:
        """Choose the next token from its logits (1, V); False if the text ends with it."""
        task, written = self._task, self._written
        if self._first is None:
            self._first = logits[0]
        choice = _chosen(task, self._draw, len(written.steps), written.ids, logits)
        row = len(written.ids) - 1
        step = task.summary.step(len(written.steps), row, logits[0], choice.token, choice.rule, choice.filtered)
        written.steps.append(step)
        written.ids.append(choice.token)
        task.report(len(written.steps))
        return choice.token not in task.ends and len(written.ids) < task.longest

    def written(self, stepper: Stepper) -> Written:
        """The whole text, once it has ended."""
        assert self._first is not None
        self._written.stopped = stopped(self._written.steps[-1], self._task)
        self._written.checks = (_compared(self._task, stepper, self._written, self._first),)
        return self._written


def _chosen(task: Task, draw: Draw | None, position: int, ids: Sequence[int], logits: Tensor) -> Choice:
    """The token at a position of a text, after the tokens ``ids``, from its logits (1, V)."""
    so_far = torch.tensor([ids])  # (1, t)
    drawn = None if draw is None else draw(so_far, logits.float())
    if position in task.forced:
        return Choice(task.forced[position].token, task.forced[position].rule)
    if drawn is not None:
        return drawn
    greedy = rules.choose(task.active, so_far, logits)
    return Choice(greedy.token, greedy.rule)


def choices(task: Task, sampling: Sampling | None, ids: Sequence[int], logits: Tensor) -> list[Choice]:
    """The choices of ``single`` at each position of a text whose tokens are known, from the logits (T, V) of one pass.

    ids: all tokens of the decoder, the start included; the first of ``logits`` follows the start.
    """
    draw, first = None if sampling is None else _drawing(task, sampling), len(task.start)
    return [
        _chosen(task, draw, position, ids[: first + position], logits[position : position + 1])
        for position in range(len(logits))
    ]


def _drawing(task: Task, sampling: Sampling) -> Draw:
    """A function that samples a token from logits (1, V).

    It must be called at every step, even where the token is forced: a branch then draws the same random numbers.
    """
    generator = sampling.generator()

    def draw(ids: Tensor, logits: Tensor) -> Choice:
        applied = rules.apply(task.active, ids, logits)
        if bool(torch.isneginf(applied.scores).all()):
            raise SettingError(later("The rules forbid every token. Loosen them, or leave them out."))
        p = sampling.probabilities(applied.scores)  # (1, V)
        token = int(torch.multinomial(p, 1, generator=generator))
        return Choice(token, applied.deciding(0, token), p[0])

    return draw


def with_beams(task: Task, tape: Tape, settings: beam_search.Settings) -> Written:
    """The best text of a beam search, with the tree of all continuations it considered."""
    stepper = Stepper.start(task.model, task.source)
    search = beam_search.Search(task.start, settings, longest=task.longest, ends=task.ends)
    tree = _Tree(task, search)
    first = logits = stepper.step(torch.tensor([task.start]))  # (1, V): all beams start equal
    ended: Cached | None = None
    best: int | None = None
    while True:
        tree.advance(logits)
        if search.best is not None and search.best != best:
            best = search.best
            ended = cached(tape, search.nodes[best].beam)
        task.report(len(tree.rows))
        if search.done:
            break
        stepper.reorder(search.rows if len(logits) > 1 else torch.zeros_like(search.rows))
        logits = stepper.step(search.ids[:, -1:])  # (B, V)
    assert best is not None
    assert ended is not None
    path = tree.path(best)
    steps = tree.steps(path)
    ids = [*task.start, *(step.token for step in steps)]
    own_tape = follow(tape, [search.nodes[number].beam for number in path], ended)
    written = Written(ids, own_tape, steps, stopped(steps[-1], task), tree.whole(settings, best))
    written.checks = (_compared(task, stepper, written, first[0]),)
    return written


def _compared(task: Task, stepper: Stepper, written: Written, first: Tensor) -> Check:
    """Check the first step's numbers against its raw logits (V,), and an encoder-decoder's steps against one pass.

    The last step of a text is compared with one pass over all tokens before it: for the first text of a network, and
    for each that is more than twice as long as any compared before. The largest difference so far counts for every text
    of that network.
    """
    check = task.summary.compared(written.steps[0], first)
    if task.source is None:
        return check
    network = task.model.network
    longest, worst = _COMPARED.get(network, (0, 0.0))
    if len(written.steps) > 2 * longest:
        with recording(
            Tape(scale_heads=written.tape.scale_heads, toward=written.tape.toward, cancelled=written.tape.cancelled)
        ):
            logits = stepper.at_once(written.ids[:-1])
        worst = max(worst, task.summary.compared(written.steps[-1], logits).value or 0.0)
        _COMPARED[network] = (len(written.steps), worst)
    return replace(check, value=max(check.value or 0.0, worst))


def stopped(last: StepNumbers, task: Task) -> Stop:
    """Why a text ended. An end token that the limit forced against the model's own choice counts as the limit."""
    ended = last.token in task.ends
    forced = last.rule == FORCED_END_TOKEN and last.best[0][0] not in task.ends
    return END_TOKEN if ended and not forced else LENGTH_LIMIT


class _Tree:
    """The continuations that the search considered, with the model's own numbers."""

    def __init__(self, task: Task, search: beam_search.Search) -> None:
        self._task = task
        self._search = search
        self._nodes: list[Hypothesis] = []
        self.rows: list[list[Row]] = []  # per step, one for each beam

    def advance(self, logits: Tensor) -> None:
        """One step of the search, from raw logits (B, V), or (1, V) while all beams are equal."""
        search, position = self._search, len(self.rows)
        self.rows.append(self._task.summary.rows(logits))
        logits = logits.float().expand(len(search.rows), -1)  # (B, V)
        applied = rules.apply(self._task.active, search.ids, logits.log_softmax(dim=-1))
        forced = self._task.forced.get(position)
        scores = applied.scores if forced is None else _only(applied.raw, forced.token)
        before = search.ids.tolist()
        for number in search.advance(scores):
            node = search.nodes[number]
            rule = applied.deciding(node.beam, node.token) if forced is None else forced.rule
            logit = float(logits[node.beam, node.token])
            log_p = logit - self._row(number).log_z
            label = self._task.summary.label(node.token, before[node.beam])
            total = log_p + (0.0 if node.parent is None else self._nodes[node.parent].total)
            token = Candidate(node.token, label, math.exp(log_p), logit)
            self._nodes.append(
                Hypothesis(node.step, node.parent, token, total, node.score, node.rank, node.state, rule)
            )

    def _row(self, number: int) -> Row:
        node = self._search.nodes[number]
        rows = self.rows[node.step]
        return rows[node.beam if len(rows) > 1 else 0]

    def path(self, number: int) -> list[int]:
        """The node indices of a text, first token first."""
        path = [number]
        while (parent := self._nodes[path[-1]].parent) is not None:
            path.append(parent)
        return path[::-1]

    def steps(self, path: Sequence[int]) -> list[StepNumbers]:
        """The numbers of a text's steps, from the raw logits of its own beam."""
        nodes = [(self._nodes[number], self._row(number)) for number in path]
        first = len(self._task.start) - 1
        return [
            StepNumbers(
                node.step,
                first + index,
                row.best,
                row.log_z,
                row.bits,
                node.token.token_id,
                node.token.logit,
                node.rule,
            )
            for index, (node, row) in enumerate(nodes)
        ]

    def whole(self, settings: beam_search.Settings, best: int) -> BeamTree:
        nodes = list(self._nodes)
        nodes[best] = replace(nodes[best], state="best")
        for number, text in self._texts().items():
            nodes[number] = replace(nodes[number], text=text)
        return BeamTree(settings.beams, settings.length_penalty, settings.early_stopping, tuple(nodes), best)

    def _texts(self) -> dict[int, str]:
        """The decoded texts of the finished nodes, and the part decoded so far at each node on the way."""
        texts: dict[int, str] = {}
        for number, node in enumerate(self._nodes):
            if node.state != "finished":
                continue
            path = self.path(number)
            text, tokens = tokenize.from_ids(self._task.model.tokenizer, [self._nodes[n].token.token_id for n in path])
            start = len(text)  # of the following token: a character of several tokens is complete with the last
            for ancestor, span in zip(reversed(path), reversed(tokens.spans), strict=True):
                if span is not None:
                    texts.setdefault(ancestor, text[: min(span[1], start)])
                    start = span[0]
                else:
                    texts.setdefault(ancestor, text[:start])
            texts[number] = text
        return texts


def _only(scores: Tensor, token: int) -> Tensor:
    """Scores (B, V) with every token but one set to minus infinity."""
    kept = torch.full_like(scores, -torch.inf)
    kept[:, token] = scores[:, token]
    return kept
