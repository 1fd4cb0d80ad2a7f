"""A text with some words taken away, and the probability of the explained tokens then.

Letters in shapes: W words that can be taken away, n tokens, T steps, B texts in one batch, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis.intervals import Doubles
from bartviz.analysis.words import Word, words
from bartviz.arrays import Bools, Floats
from bartviz.attribution.erasure import replacement
from bartviz.attribution.question import Question
from bartviz.experiments.replay import vocabulary_logits
from bartviz.models.model import Model
from bartviz.models.output import OutputLayer
from bartviz.record.record import Record
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.tape.tape import recording
from bartviz.text.tokens import Tokens

Ids = tuple[int, ...]
ALL = slice(None)
TIMES = 4  # times as many runs in one batch as where hidden states are kept, as each pass has its price


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
        """(B, T, V) of the steps, for texts of any lengths."""
        question, model = self.question, self.question.model
        rows = torch.from_numpy(question.rows.copy()).expand(len(texts), -1)  # (B, T)
        given = padded(model, texts)
        if question.replay.target is not None:
            target = question.replay.target[:, : self.row + 1]
            given["decoder_input_ids"] = target.expand(len(texts), -1).to(model.device)
        else:
            rows = torch.tensor([[text.row] for text in texts])
        at = torch.arange(len(texts))[:, None], rows
        if model.info.kind != "encoder":
            given["use_cache"] = False
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
    """The places of texts of any lengths, the shortest first, as many as one pass should hold."""
    by_length = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for batch in question.batches(len(lengths), times=TIMES):
        yield by_length[batch.start : batch.stop]


def padded(model: Model, texts: Sequence[Text]) -> dict[str, Any]:
    """What a network is given for texts of any lengths: ids (B, n), for some models segments, and a mask (B, n) where
    some are padding, which a decoder alone needs none of, as it comes last."""
    lengths = [len(text.ids) for text in texts]
    pad, longest = int(model.tokenizer.pad_token_id or 0), max(lengths)

    def rows(parts: Iterable[Ids], filling: int) -> Tensor:
        return torch.tensor([(*part, *(filling,) * (longest - len(part))) for part in parts], device=model.device)

    given: dict[str, Any] = {"input_ids": rows((text.ids for text in texts), pad)}
    if model.info.kind == "encoder" and getattr(model.config, "type_vocab_size", 0) > 1:
        given["token_type_ids"] = rows((text.segments for text in texts), 0)
    if model.info.kind != "decoder" and min(lengths) < longest:
        given["attention_mask"] = rows(((1,) * length for length in lengths), 0)
    return given


def _seen(record: Record) -> Bools:
    """(n,) which source tokens are not padding."""
    return np.asarray((record.encoder or record.attention("decoder")).mask.any(axis=0))
