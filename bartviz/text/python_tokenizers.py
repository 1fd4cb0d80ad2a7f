"""Tokenizers that transformers has only in Python, with the part of the text that each token covers.

The originals return pieces without positions. The ids here are theirs, cut by their own vocabularies and merges;
positions are found by going along the text, letter by letter, and a text where this is not exact is refused.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from bartviz.errors import ModelError, TextError
from bartviz.language import later
from bartviz.text.labels import SPACE, Scheme, Span
from bartviz.text.tokenize import Encoder, Raw

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MAX_WORD = 200
"""Characters of a word that is merged here: the time of Python's merges grows with their square."""


class PythonEncoder(Encoder):
    """The common part: added tokens are split off first, and tokens are put around the rest."""

    _pieces: dict[int, str]

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        self._added: dict[str, int] = dict(tokenizer.added_tokens_encoder)
        self._strips = {token.content: token for token in tokenizer.added_tokens_decoder.values()}
        self._split: Callable[[str], list[str]] = tokenizer.tokens_trie.split

    def _name(self, token_id: int) -> str | None:
        return self._pieces.get(token_id)

    def _encode(self, text: str, pair: str | None, *, target: bool, allow_special: bool) -> list[Raw]:
        texts = (text,) if pair is None else (text, pair)
        inside = [list(self._text(part, n, allow_special=allow_special)) for n, part in enumerate(texts)]
        return self._around(inside, target=target)

    def _around(self, inside: Sequence[list[Raw]], *, target: bool) -> list[Raw]:
        """The tokens of one text or two, with those that the model expects around them: none."""
        del target
        return [token for tokens in inside for token in tokens]

    def _text(self, text: str, segment: int, *, allow_special: bool) -> Iterator[Raw]:
        start = 0
        parts = self._split(text) if allow_special else [text]
        for n, part in enumerate(parts):
            if allow_special and part in self._added:
                number = self._added[part]
                yield Raw(number, segment, number in self.special, (start, start + len(part)))
            else:
                before, after = (self._strips.get(parts[i]) if 0 <= i < len(parts) else None for i in (n - 1, n + 1))
                shown = part.lstrip() if before is not None and before.rstrip else part
                skipped = len(part) - len(shown)
                shown = shown.rstrip() if after is not None and after.lstrip else shown
                for number, (first, last) in self._plain(shown) if shown else ():
                    yield Raw(number, segment, False, (start + skipped + first, start + skipped + last))
            start += len(part)

    @abstractmethod
    def _plain(self, text: str) -> Iterator[tuple[int, Span]]:
        """The ids and positions of a text without added tokens."""


class M2M100Encoder(PythonEncoder):
    """One SentencePiece model and a vocabulary; the language comes first, ``</s>`` last."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        languages: dict[str, int] = tokenizer.lang_token_to_id
        self.special |= {number: name for name, number in languages.items()}
        self.scheme = Scheme("space", SPACE, plain=frozenset(self.special.values()))
        self._processor, self._vocabulary = tokenizer.sp_model, tokenizer.encoder
        self._pieces = dict(tokenizer.decoder) | self.special
        self._source = int(tokenizer.get_lang_id(tokenizer.src_lang))
        self._target = self._source if tokenizer.tgt_lang is None else int(tokenizer.get_lang_id(tokenizer.tgt_lang))
        self._end = int(tokenizer.eos_token_id)

    def _around(self, inside: Sequence[list[Raw]], *, target: bool) -> list[Raw]:
        first = Raw(self._target if target else self._source, 0, True, None)
        return [first, *super()._around(inside, target=target), Raw(self._end, len(inside) - 1, True, None)]

    def _plain(self, text: str) -> Iterator[tuple[int, Span]]:
        made = self._processor.encode(text, return_type="offset_mapping")
        unknown = self._vocabulary[self.unknown_piece]
        for piece, span in zip(made["pieces"], made["offsets"], strict=True):
            yield self._vocabulary.get(piece, unknown), tuple(span)


class MergedEncoder(PythonEncoder):
    """Byte pairs of words, merged by the tokenizer's own ``bpe``."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        self._bpe: Callable[[str], str] = tokenizer.bpe
        self._vocabulary: dict[str, int] = tokenizer.encoder
        self._pieces = dict(tokenizer.decoder) | {i: name for name, i in self._added.items()}
        self._missing = int(self._vocabulary[str(tokenizer.unk_token)])

    def _merged(self, word: str, places: Sequence[Span], mark: str) -> Iterator[tuple[int, Span]]:
        """The pieces of a word, ``places`` being where each of its letters is in the text."""
        if len(word) > MAX_WORD:
            raise TextError(
                later(
                    "A word of this text has more than {limit:,} characters, which this tokenizer would take "
                    "minutes to split. Put spaces into it.",
                    limit=MAX_WORD,
                )
            )
        end = 0
        for piece in self._bpe(word).split(" "):
            start, end = end, end + len(piece.removesuffix(mark))
            if not start < end <= len(places):
                raise _inexact()
            number = self._id(piece)
            number = self._missing if number in self.special else number
            yield number, (places[start][0], places[end - 1][1])
        if end != len(places):
            raise _inexact()

    def _id(self, piece: str) -> int:
        return self._vocabulary.get(piece, self._missing)


class BlenderbotSmallEncoder(MergedEncoder):
    """Lower case, punctuation apart, a line end as ``__newln__``; a piece that continues ends with ``@@``."""

    _WORD = re.compile(r"\S+\n?")
    _PART = re.compile(r"'|\n|[.,!?()]?[^.,!?()'\n]+|[.,!?()]")
    _LINE_END = "__newln__"

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        self.scheme = Scheme("joiner", "@@", plain=frozenset(self.special.values()))

    def _plain(self, text: str) -> Iterator[tuple[int, Span]]:
        for word in self._WORD.finditer(text):
            for part in self._PART.finditer(word[0]):
                start = word.start() + part.start()
                if part[0] == "\n":
                    yield from self._merged(self._LINE_END, [(start, start + 1)] * len(self._LINE_END), "@@")
                    continue
                lowered = [(letter, n) for n, char in enumerate(part[0], start) for letter in char.lower()]
                yield from self._merged(part[0], [(n, n + 1) for _, n in lowered], "@@")

    def _id(self, piece: str) -> int:
        return self._vocabulary.get(piece.lower(), self._missing)


class BioGptEncoder(MergedEncoder):
    """Moses' words, whose last piece ends with ``</w>``; ``</s>`` comes first."""

    _ESCAPED = re.compile("&(?:amp|#124|lt|gt|apos|quot|#91|#93);")
    _SIGNS: ClassVar = dict(zip(("amp", "#124", "lt", "gt", "apos", "quot", "#91", "#93"), "&|<>'\"[]", strict=True))

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        self.scheme = Scheme("suffix", "</w>", plain=frozenset(self.special.values()))
        self._words: Callable[[str, str], list[str]] = tokenizer.moses_tokenize
        self._language: str = tokenizer.lang
        self._first = int(tokenizer.sep_token_id)

    def _around(self, inside: Sequence[list[Raw]], *, target: bool) -> list[Raw]:
        del target
        return [token for n, tokens in enumerate(inside) for token in (Raw(self._first, n, True, None), *tokens)]

    def _plain(self, text: str) -> Iterator[tuple[int, Span]]:
        if re.search(rf"\S{{{MAX_WORD + 1}}}", text):
            next(self._merged("x" * (MAX_WORD + 1), (), ""))
        position = 0
        for word in filter(None, self._words(text, self._language)):
            places, position = self._places(word, text, position)
            yield from self._merged(word, places, "</w>")

    def _places(self, word: str, text: str, position: int) -> tuple[list[Span], int]:
        """Where the letters of a word are in the text, from ``position`` on, and the position behind them."""
        if word == "@-@" and not text[position:].lstrip().startswith(word):
            letters = [("-", 3)]
        else:
            letters, start = [], 0
            for found in self._ESCAPED.finditer(word):
                letters += [(letter, 1) for letter in word[start : found.start()]]
                letters.append((self._SIGNS[found[0][1:-1]], len(found[0])))
                start = found.end()
            letters += [(letter, 1) for letter in word[start:]]
        places: list[Span] = []
        for letter, count in letters:
            while (
                position < len(text) and text[position] != letter and (text[position].isspace() or text[position] < " ")
            ):
                position += 1
            if text[position : position + 1] != letter:
                raise _inexact()
            places += [(position, position + 1)] * count
            position += 1
        return places, position


class ByT5Encoder(PythonEncoder):
    """A token for each byte, and ``</s>`` at the end."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        self.scheme = Scheme("bytes", "latin-1", plain=frozenset(self.special.values()))
        self._offset = int(tokenizer.offset)
        self._pieces = {byte + self._offset: chr(byte) for byte in range(256)} | self.special
        self._pieces |= {i: name for name, i in self._added.items()}
        self._end = int(tokenizer.eos_token_id)

    def _around(self, inside: Sequence[list[Raw]], *, target: bool) -> list[Raw]:
        del target
        return [token for n, part in enumerate(inside) for token in (*part, *self._closing(part, n))]

    def _closing(self, part: list[Raw], segment: int) -> list[Raw]:
        """``</s>``, unless the text ends with one."""
        return [] if part and part[-1].id == self._end else [Raw(self._end, segment, True, None)]

    def _plain(self, text: str) -> Iterator[tuple[int, Span]]:
        for n, char in enumerate(text):
            yield from ((byte + self._offset, (n, n + 1)) for byte in char.encode())


def _inexact() -> ModelError:
    return ModelError(
        later("The tokenizer changes this text in a way that cannot be followed letter by letter. Try another text.")
    )


ENCODERS: dict[str, Callable[[Any], Encoder]] = {
    "M2M100Tokenizer": M2M100Encoder,
    "BlenderbotSmallTokenizer": BlenderbotSmallEncoder,
    "BioGptTokenizer": BioGptEncoder,
    "ByT5Tokenizer": ByT5Encoder,
}
