"""What a model that fills masks puts in the place of missing words.

Letters in shapes: n tokens, B texts in one batch, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from bartviz.analysis.words import Word
from bartviz.attribution.reading import Ids, Reading, Text, batches, runs, spliced
from bartviz.errors import SettingError, choices
from bartviz.experiments.replay import SideBySide, vocabulary_logits
from bartviz.language import later
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.tape.tape import recording
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens

FILLER = "bert-tiny-en"  # fills gaps in the texts of the models that ship
_WHOLE: WeakKeyDictionary[Model, Tensor] = WeakKeyDictionary()


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
            names=choices(("delete", "mask", "exchange")),
        )
    )


def fills(model: Model) -> bool:
    """Whether a model guesses the words at its masks."""
    return model.info.kind == "encoder" and model.tokenizer.mask_token_id is not None and model.head is None


class Filling:
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
