"""What a model that fills masks puts in the place of missing words.

Letters in shapes: n tokens, W words, B texts in one batch, G gaps, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from bartviz.analysis.words import Word
from bartviz.attribution.reading import Ids, Reading, batches, padded, runs, spliced
from bartviz.errors import SettingError, choices
from bartviz.experiments.replay import SideBySide, vocabulary_logits
from bartviz.language import later
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.models.output import OutputLayer
from bartviz.run.batch import start_token
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.tape.tape import recording
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens

DENOISER = "bart-tiny-denoise"  # fills the gaps in its own texts, and in those of the other models that ship
SPACES = ("Ġ", "▁")  # with which pieces of words begin where a space is before them
_WHOLE: WeakKeyDictionary[Model, tuple[Tensor, Tensor]] = WeakKeyDictionary()


def filler_of(model: Model) -> Model:
    """The model that fills the gaps in another one's texts: itself where it is a masked model; for those that ship the
    denoiser among them, ``bart-tiny-denoise``. Raises SettingError for others."""
    if model.info.kind == "encoder" and fills(model):
        return model
    if model.info.source == "embedded":
        return model if model.info.name == DENOISER else load(DENOISER)
    raise SettingError(
        later(
            "This model fills no masks of its own, and which language it reads is not known: give a model that fills "
            "masks in that language, or choose {names}.",
            names=choices(("delete", "mask", "exchange")),
        )
    )


def known(model: Model) -> bool:
    """Whether ``filler_of`` knows a model that fills the gaps in this one's texts."""
    return model.info.source == "embedded" or (model.info.kind == "encoder" and fills(model))


def fills(model: Model) -> bool:
    """Whether a model can be asked for the words at its masks: a masked model guesses them all at once, one with a
    decoder writes the text again. Whether it was trained to write what is missing, as BART was, cannot be seen."""
    writes = model.info.kind in ("encoder", "encoder-decoder")
    return writes and model.tokenizer.mask_token_id is not None and model.head is None


class Filling:
    """The guesses of a model that fills masks for the words that are missing, as ids of the model that is explained.

    A guess is a whole word, and never the word that is missing. A model with a decoder writes them one after the other:
    it is given the text up to each gap, and chooses the likeliest word there.
    """

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
        self._mask = int(filler.tokenizer.mask_token_id)
        self._start = start_token(filler, tokens) if filler.info.kind == "encoder-decoder" else None
        self._runs = runs(tokens, groups, range(len(tokens)))
        whole, begins = _whole_words(filler)
        self._allowed = whole.repeat(len(reading.words) + 1, 1)  # (W + 1, V), last any gap that the text has itself
        for part in self._runs:
            if part.word >= 0:  # of the words that begin as this one does, with a space or without
                self._allowed[part.word] &= begins == begins[part.ids[0]]
                self._allowed[part.word, part.ids[0]] = False
        self._ids = dict[tuple[int, bool], Ids]()

    def guesses(self, sets: Sequence[Sequence[int]]) -> list[dict[int, Ids]]:
        """For each set of missing words the ids that stand in their places."""
        texts = [spliced(self._runs, frozenset(gone), lambda word: (self._mask,)) for gone in sets]
        found: list[dict[int, Ids]] = [{} for _ in sets]
        for some in batches(self.reading.question, [len(text.ids) for text in texts]):
            given = padded(self.filler, [texts[place] for place in some])
            gaps = [dict(_turned(texts[place].gaps)) for place in some]
            start = self._start
            filled = self._guessed(given, gaps) if start is None else self._written(given, gaps, start)
            for row, place in zip(filled.tolist(), some, strict=True):
                found[place] = {word: self._as_read(row[at], word) for word, at in texts[place].gaps}
        return found

    def _as_read(self, guess: int, word: int) -> Ids:
        """A guess as tokens of the model that is explained."""
        if self.filler is self.model:
            return (guess,)
        segment, start, _ = self._spans[word]
        spaced = self._texts[segment][:start][-1:].isspace()
        if (guess, spaced) not in self._ids:
            text = self.filler.tokenizer.decode([guess]).strip()
            self._ids[guess, spaced] = _words_ids(self.model, text, spaced=spaced)
        return self._ids[guess, spaced]

    def _best(self, logits: Tensor, words: Sequence[int]) -> Tensor:
        """(G,) the guesses at gaps, from the filler's logits (G, V) there."""
        return logits.masked_fill(~self._allowed[list(words)], -torch.inf).argmax(-1)

    def _tape(self, copies: int) -> SideBySide:
        question = self.reading.question
        if self.filler is self.model:
            return question.tape(copies)
        return SideBySide(runs=[{}] * copies, cancelled=question.cancelled)

    @torch.inference_mode()
    def _guessed(self, given: Mapping[str, Tensor], gaps: Sequence[Mapping[int, int]]) -> Tensor:
        """(B, n) the texts with a masked model's guesses, all from one pass."""
        filler, filled = self.filler, given["input_ids"].cpu().clone()
        rows = [(b, at) for b, places in enumerate(gaps) for at in places]
        if not rows:
            return filled
        layer, where = OutputLayer.of(filler.runner) if filler.output_alone else None, tuple(torch.tensor(rows).T)
        with recording(self._tape(len(filled))), guarded(run_failed()):
            if layer is not None:
                logits = layer.logits(filler.runner.base_model(**given).last_hidden_state[where]).cpu()  # (G, V)
            elif (made := vocabulary_logits(filler.runner(**given), filler.info.vocabulary)) is not None:
                logits = made[where]
            else:
                raise _cannot_fill()
        filled[where] = self._best(logits, [gaps[b][at] for b, at in rows])
        return filled

    @torch.inference_mode()
    def _written(self, read: Mapping[str, Tensor], gaps: Sequence[Mapping[int, int]], start: int) -> Tensor:
        """(B, n) the texts as a denoiser writes them: their own tokens, and at the gaps its likeliest words."""
        filler, written = self.filler, read["input_ids"].cpu().clone()
        copies = len(written)
        at = written == self._mask
        rows = at.any(dim=0).nonzero()[:, 0].tolist()
        inputs = torch.cat([torch.full((copies, 1), start), written[:, :-1]], dim=1)  # row n is followed by token n
        layer = OutputLayer.of(filler.runner) if filler.output_alone else None
        network = filler.runner if layer is None else filler.runner.base_model
        given: dict[str, Any] = {"use_cache": True} | {name: read[name] for name in read if name == "attention_mask"}
        with recording(self._tape(copies)), guarded(run_failed()):
            given["encoder_outputs"] = filler.runner.get_encoder()(**read)
            begin = 0
            for row in range(rows[0], rows[-1] + 1) if rows else ():
                out = network(**given, decoder_input_ids=inputs[:, begin : row + 1].to(filler.device))
                given["past_key_values"], begin = out.past_key_values, row + 1
                here = at[:, row].nonzero()[:, 0]
                if len(here):
                    logits = (
                        layer.logits(out.last_hidden_state[here, -1]) if layer is not None else out.logits[here, -1]
                    )
                    best = self._best(logits.cpu(), [gaps[b].get(row, -1) for b in here.tolist()])
                    written[here, row] = best
                    inputs[here, row + 1 : row + 2] = best[:, None]
        return written


def _turned(gaps: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    return ((at, word) for word, at in gaps)


def _cannot_fill() -> SettingError:
    return SettingError(later("Gaps are filled by a model that fills masks, such as BERT or BART: give one."))


def _with_mask_of(filler: Model, model: Model, text: str) -> str:
    """The text with the filler's mask in the place of the model's own, every other sign where it was."""
    own, other = model.tokenizer.mask_token, str(filler.tokenizer.mask_token)
    return text if own is None or len(other) > len(own) else text.replace(own, other.ljust(len(own)))


def _whole_words(model: Model) -> tuple[Tensor, Tensor]:
    """(V,) which tokens are words by themselves, letters alone, and (V,) which begin with a space; made once for each
    model."""
    if (made := _WHOLE.get(model)) is not None:
        return made
    size, special = model.info.vocabulary, set(model.tokenizer.all_special_ids)
    tokens = range(min(size, len(model.tokenizer)))
    whole, begins = torch.zeros(2, size, dtype=torch.bool)
    pieces = model.tokenizer.convert_ids_to_tokens([*tokens])
    for token, text in enumerate(model.tokenizer.batch_decode([[token] for token in tokens])):
        whole[token] = text.strip().isalpha() and token not in special
        begins[token] = (pieces[token] or "")[:1] in SPACES
    return _WHOLE.setdefault(model, (whole, begins))


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
