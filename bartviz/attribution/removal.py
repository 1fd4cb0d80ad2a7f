"""Words of the source taken away: what stands in their place, and the probability of the explained tokens then.

Letters in shapes: W words that can be taken away, n tokens, T steps, B texts in one batch, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, get_args
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis import removals
from bartviz.analysis.intervals import Doubles
from bartviz.analysis.removals import Measure
from bartviz.analysis.words import Word, words
from bartviz.arrays import Bools, Floats, Ints
from bartviz.attribution.erasure import replacement
from bartviz.attribution.question import Question
from bartviz.errors import SettingError, choices
from bartviz.experiments.replay import SideBySide, vocabulary_logits
from bartviz.language import later
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.models.output import OutputLayer
from bartviz.record.record import Record
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.tape.tape import recording
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens

Operator = Literal["delete", "mask", "exchange", "fill-in"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
"""What becomes of a word that is taken away: it is left out; each of its tokens becomes the mask token (the unknown
one, where there is none); a word of other texts stands in its place; a masked model's guess stands there, which is
asked for all missing words at once and may not give the word itself."""
FILLER = "bert-tiny-en"  # fills gaps in the texts of the models that ship
Ids = tuple[int, ...]
ALL = slice(None)
_WHOLE: WeakKeyDictionary[Model, Tensor] = WeakKeyDictionary()


class Run(NamedTuple):
    """Tokens of a text that stay or go together: those of a word, or one that stays (``word`` is -1)."""

    word: int
    ids: Ids
    segment: int
    row: int  # of the first token


@dataclass(frozen=True)
class Text:
    """The tokens of a text without some words: ids, segments, the row of the explained token, and where the words were
    that are gone."""

    ids: Ids
    segments: Ids
    row: int
    gaps: tuple[tuple[int, int], ...] = ()  # word, position


@dataclass(frozen=True, eq=False)
class Reading:
    """A question about T steps, and the W words of the source that can be taken away: those that are not special.

    A model without cross-attention reads what it explains, so a reading of it has one step: of a decoder alone, with
    the words up to its row; of a model that fills masks, with the other words. ``places``: the index of each among all
    words of the source, as in ``Attribution.words().source``.
    """

    question: Question
    words: tuple[Word, ...]
    places: tuple[int, ...]
    steps: slice  # among those of the question that it is part of

    @classmethod
    def of(cls, question: Question, steps: slice = ALL) -> Reading:
        question = question.only(steps)
        row, cross = int(question.rows[0]), question.kind == "cross"
        record, seen = question.record, _seen(question.record)
        spelled = words(record.source, *(() if record.reads_own_text else record.texts))
        found = [
            (place, word)
            for place, word in enumerate(spelled)
            if not word.special
            and seen[word.start]
            and (cross or (word.end <= row + 1 if question.kind == "decoder" else not word.start <= row < word.end))
        ]
        return cls(question, tuple(word for _, word in found), tuple(place for place, _ in found), steps)

    @classmethod
    def each(cls, question: Question) -> tuple[Reading, ...]:
        """The readings of all steps: one where there is cross-attention, else one for each step."""
        if question.kind == "cross":
            return (cls.of(question),)
        return tuple(cls.of(question, slice(step, step + 1)) for step in range(len(question.rows)))

    @property
    def row(self) -> int:
        """Of the last step."""
        return int(self.question.rows[-1])

    def scores(self, values: Floats) -> Floats:
        """(T, W) the sum of the numbers (T, n) of each word's tokens."""
        sums = [values[:, word.start : word.end].sum(axis=1) for word in self.words]
        return np.stack(sums, axis=1) if sums else np.zeros((len(values), 0), np.float32)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The tokens that the step can read, in order, without padding."""
        tokens, last = self.question.record.source, len(self.question.record.source)
        seen = _seen(self.question.record)
        if self.question.kind == "decoder":
            last = self.row + 1
        return runs(tokens, [range(word.start, word.end) for word in self.words], [n for n in range(last) if seen[n]])

    def without(self, gone: Sequence[int], stand_ins: Callable[[int], Ids]) -> Text:
        """The text in which other tokens stand in place of some words."""
        text = spliced(self.runs, frozenset(gone), stand_ins, self.row)
        if self.question.kind == "cross":
            return Text(text.ids, text.segments, self.row, text.gaps)
        if self.question.kind == "decoder":
            ids = text.ids or (replacement(self.question.model),)
            return Text(ids, text.segments or (0,), len(ids) - 1, text.gaps)
        return text

    def values(self, texts: Sequence[Text]) -> Doubles:
        """(texts, T) the probability of each step's token in each text; or, against another token, the difference of
        their logits."""
        found = np.zeros((len(texts), len(self.question.rows)))
        for some in batches(self.question, [len(text.ids) for text in texts]):
            f = self.question.of_steps(self.logits([texts[place] for place in some])).double()  # (B, T)
            found[some] = (f if self.question.against is not None else f.exp()).numpy()
        return found

    @torch.inference_mode()
    def logits(self, texts: Sequence[Text]) -> Tensor:
        """(B, T, V) of the steps, for texts of one length."""
        question, model = self.question, self.question.model
        rows = torch.from_numpy(question.rows.copy()).expand(len(texts), -1)  # (B, T)
        given: dict[str, Any] = {"input_ids": torch.tensor([text.ids for text in texts], device=model.device)}
        if question.replay.target is not None:
            target = question.replay.target[:, : self.row + 1]
            given["decoder_input_ids"] = target.expand(len(texts), -1).to(model.device)
        else:
            rows = torch.tensor([[text.row] for text in texts])
        at = torch.arange(len(texts))[:, None], rows
        if model.info.kind != "encoder":
            given["use_cache"] = False
        elif getattr(model.config, "type_vocab_size", 0) > 1:
            given["token_type_ids"] = torch.tensor([text.segments for text in texts], device=model.device)
        layer = OutputLayer.of(model.runner) if model.output_alone and model.head is None else None
        with recording(question.tape(len(texts))), guarded(run_failed()):
            if layer is not None:
                return layer.logits(model.runner.base_model(**given).last_hidden_state[at]).cpu()
            logits = vocabulary_logits(model.runner(**given), model.info.vocabulary)
        assert logits is not None  # ``asked`` refuses other models
        return logits[at]


def runs(tokens: Tokens, groups: Sequence[Iterable[int]], kept: Sequence[int]) -> tuple[Run, ...]:
    """Those of the tokens that are ``kept``, the tokens of each group (a word) in one."""
    word_of = {token: word for word, group in enumerate(groups) for token in group}
    ids, segments = tokens.ids.tolist(), tokens.segments.tolist()
    found = list[Run]()
    for _, group in groupby(kept, key=lambda token: word_of.get(token, -1 - token)):
        some = list(group)
        found.append(Run(word_of.get(some[0], -1), tuple(ids[n] for n in some), segments[some[0]], some[0]))
    return tuple(found)


def spliced(parts: Sequence[Run], gone: frozenset[int], stand_ins: Callable[[int], Ids], row: int = -1) -> Text:
    """The tokens with others in place of the words that are gone, and where ``row`` is now."""
    ids, segments, gaps, now = list[int](), list[int](), list[tuple[int, int]](), row
    for part in parts:
        if part.row <= row < part.row + len(part.ids):
            now = len(ids) + row - part.row
        taken = part.word in gone
        if taken:
            gaps.append((part.word, len(ids)))
        new = stand_ins(part.word) if taken else part.ids
        ids += new
        segments += [part.segment] * len(new)
    return Text(tuple(ids), tuple(segments), now, tuple(gaps))


def batches(question: Question, lengths: Sequence[int]) -> Iterable[list[int]]:
    """The places of texts of one length, as many as one pass should hold."""
    by_length = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for _, group in groupby(by_length, key=lambda place: lengths[place]):
        places = list(group)
        for batch in question.batches(len(places)):
            yield places[batch.start : batch.stop]


class Removal:
    """Takes words of a reading away, by one operator.

    pool: words of other texts, as ids, for ``exchange``; without any, the other words of the text itself. filler: the
    model whose guesses stand in a gap; None: ``filler_of(model)``. Raises SettingError for an operator that the model
    has not.
    """

    def __init__(
        self,
        reading: Reading,
        operator: Operator,
        random: np.random.Generator,
        *,
        pool: Sequence[Ids] = (),
        filler: Model | None = None,
    ) -> None:
        if operator not in OPERATORS:
            raise SettingError(
                later("There is no operator {name}: choose {names}.", name=operator, names=choices(OPERATORS))
            )
        self.reading = reading
        self._fill: _Filling | None = None
        own = [tuple(reading.question.record.source.ids[word.start : word.end].tolist()) for word in reading.words]
        self._fixed: list[Ids] = [()] * len(own)
        if operator == "mask":
            self._fixed = [(replacement(reading.question.model),) * len(ids) for ids in own]
        elif operator == "exchange":
            self._fixed = [_other(ids, pool or own, random) for ids in own]
        elif operator == "fill-in":
            self._fill = _Filling(reading, filler or filler_of(reading.question.model))

    def compared(
        self,
        scores: Floats,
        by_chance: Ints,
        random: np.random.Generator,
        measures: Iterable[Measure] = tuple(removals.MEASURES),
    ) -> dict[Measure, tuple[Doubles, Doubles]]:
        """Each measure of the orders by M methods' scores (M, T, W), as (M, T), and of random orders (R, W) as (R, T).

        Words with equal scores are in random order.
        """
        methods, steps, words = scores.shape
        ranked = np.stack([removals.order(row, random) for row in scores.reshape(-1, words)])  # (M T, W)
        found = removals.measured(np.concatenate([ranked, by_chance]), self.values, measures)
        own = np.arange(steps)
        return {
            measure: (values[: len(ranked)].reshape(methods, steps, steps)[:, own, own], values[len(ranked) :])
            for measure, values in found.items()
        }

    def texts(self, sets: Bools) -> list[Text]:
        """The text without each of these sets of words (sets, W)."""
        gone = [np.flatnonzero(row).tolist() for row in sets]
        if self._fill is None:
            return [self.reading.without(some, self._fixed.__getitem__) for some in gone]
        guessed = self._fill.guesses(gone)
        return [self.reading.without(some, words.__getitem__) for some, words in zip(gone, guessed, strict=True)]

    def values(self, sets: Bools) -> Doubles:
        """(sets, T) the probability of each explained token without each of these sets of words (sets, W); or against
        another token, the difference of their logits."""
        return self.reading.values(self.texts(sets))


def filler_of(model: Model) -> Model:
    """The model that fills the gaps in another one's texts: itself, if it fills masks; ``bert-tiny-en`` for those that
    ship and read English. Raises SettingError for others."""
    if fills(model):
        return model
    if model.info.source == "embedded":
        return load(FILLER)
    raise SettingError(
        later(
            "This model fills no masks of its own, and which language it reads is not known: give a model that fills "
            "masks in that language, or choose {names}.",
            names=choices(OPERATORS[:3]),
        )
    )


def fills(model: Model) -> bool:
    """Whether a model guesses the words at its masks."""
    return model.info.kind == "encoder" and model.tokenizer.mask_token_id is not None and model.head is None


class _Filling:
    """A masked model's guesses for the words that are missing, as ids of the model that is explained."""

    def __init__(self, reading: Reading, filler: Model) -> None:
        if not fills(filler):
            raise _cannot_fill()
        self.reading, self.filler, self.model = reading, filler, reading.question.model
        record = reading.question.record
        groups: list[Iterable[int]] = [range(word.start, word.end) for word in reading.words]
        self._texts = [record.source_text, record.pair_text or ""]
        self._spans = [_place(record.source, word) for word in reading.words]
        tokens = record.source
        if filler is not self.model:
            first, second = (_with_mask_of(filler, self.model, text) for text in self._texts)
            pair = None if record.pair_text is None else second
            tokens = tokenize.encode(filler.tokenizer, first, pair=pair, allow_special=True)
            groups = [_covering(tokens, *place) for place in self._spans]
        self._runs = runs(tokens, groups, range(len(tokens)))
        own = {part.word: part.ids[0] for part in self._runs}
        self._own = [own.get(word, -1) for word in range(len(reading.words))]
        self._allowed = _whole_words(filler)
        self._ids = dict[tuple[int, bool], Ids]()

    def guesses(self, sets: Sequence[Sequence[int]]) -> list[dict[int, Ids]]:
        """For each set of missing words the ids that stand in their places."""
        mask = (int(self.filler.tokenizer.mask_token_id),)
        texts = [spliced(self._runs, frozenset(gone), lambda word: mask) for gone in sets]
        found: list[dict[int, Ids]] = [{} for _ in sets]
        for some in batches(self.reading.question, [len(text.ids) for text in texts]):
            logits = self._logits([texts[place] for place in some])  # (B, n, V)
            for row, place in zip(logits, some, strict=True):
                found[place] |= {word: self._best(row[at], word) for word, at in texts[place].gaps}
        return found

    def _best(self, logits: Tensor, word: int) -> Ids:
        """The ids of the guess, from the filler's logits (V,) at the word's mask."""
        allowed = self._allowed.clone()
        if self._own[word] >= 0:
            allowed[self._own[word]] = False
        best = int(torch.where(allowed, logits, -torch.inf).argmax())
        if self.filler is self.model:
            return (best,)
        segment, start, _ = self._spans[word]
        spaced = self._texts[segment][:start][-1:].isspace()
        if (best, spaced) not in self._ids:
            guess = self.filler.tokenizer.decode([best]).strip()
            self._ids[best, spaced] = _words_ids(self.model, guess, spaced=spaced)
        return self._ids[best, spaced]

    @torch.inference_mode()
    def _logits(self, texts: Sequence[Text]) -> Tensor:
        filler = self.filler
        given: dict[str, Any] = {"input_ids": torch.tensor([text.ids for text in texts], device=filler.device)}
        if getattr(filler.config, "type_vocab_size", 0) > 1:
            given["token_type_ids"] = torch.tensor([text.segments for text in texts], device=filler.device)
        tape = self.reading.question.tape(len(texts))
        if filler is not self.model:
            tape = SideBySide(runs=[{}] * len(texts), cancelled=self.reading.question.cancelled)
        with recording(tape), guarded(run_failed()):
            logits = vocabulary_logits(filler.runner(**given), filler.info.vocabulary)
        if logits is None:
            raise _cannot_fill()
        return logits


def _cannot_fill() -> SettingError:
    return SettingError(later("Gaps are filled by a model that fills masks, such as BERT: give one."))


def _with_mask_of(filler: Model, model: Model, text: str) -> str:
    """The text with the filler's mask in the place of the model's own, every other sign where it was."""
    own, other = model.tokenizer.mask_token, str(filler.tokenizer.mask_token)
    return text if own is None or len(other) > len(own) else text.replace(own, other.ljust(len(own)))


def _whole_words(model: Model) -> Tensor:
    """(V,) which tokens are words by themselves, letters alone; made once for each model."""
    if (known := _WHOLE.get(model)) is not None:
        return known
    size, special = model.info.vocabulary, set(model.tokenizer.all_special_ids)
    written = model.tokenizer.batch_decode([[token] for token in range(min(size, len(model.tokenizer)))])
    whole = torch.zeros(size, dtype=torch.bool)
    for token, text in enumerate(written):
        whole[token] = text.strip().isalpha() and token not in special
    return _WHOLE.setdefault(model, whole)


def _words_ids(model: Model, word: str, *, spaced: bool) -> Ids:
    """A word's tokens within a text, after a space or at its beginning."""
    tokens = tokenize.encode(model.tokenizer, f" {word}" if spaced else word)
    return tuple(tokens.ids[~tokens.special].tolist())


def _other(own: Ids, pool: Sequence[Ids], random: np.random.Generator) -> Ids:
    """A word of the pool other than this one, or nothing where there is none."""
    others = [ids for ids in pool if ids != own] if len(pool) < 100 else pool
    for _ in range(100 if others else 0):
        if (drawn := others[int(random.integers(len(others)))]) != own:
            return drawn
    return ()


def _place(tokens: Tokens, word: Word) -> tuple[int, int, int]:
    """A word's segment, start and end in its text; nothing of it for one without spans."""
    spans = [span for span in tokens.spans[word.start : word.end] if span is not None]
    if not spans:
        return 0, 0, 0
    return int(tokens.segments[word.start]), min(start for start, _ in spans), max(end for _, end in spans)


def _covering(tokens: Tokens, segment: int, start: int, end: int) -> list[int]:
    """The tokens that overlap a part of the text."""
    return [
        place
        for place, span in enumerate(tokens.spans)
        if span is not None and tokens.segments[place] == segment and span[0] < end and start < span[1]
    ]


def _seen(record: Record) -> Bools:
    """(n,) which source tokens are not padding."""
    return np.asarray((record.encoder or record.attention("decoder")).mask.any(axis=0))
