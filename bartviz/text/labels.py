"""Text as a reader sees it: grapheme clusters, words, and labels without invisible characters.

Independent of tokenizers. A *cluster* is what a reader calls one character (Unicode UAX 29, extended grapheme
cluster): ``e`` with its combining accent, an emoji family, a Korean syllable written as three letters.
Spans are (start, end) in the text, counted in code points as Python does.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import regex

CONTINUES = "⋯"  # before a label: this token continues the word, or the character, of the previous token

Span = tuple[int, int]

# Flags are pairs of letters. They are matched here because ``\X`` counts all letters before each of a run again, which
# takes seconds for a text of them.
_CLUSTER = regex.compile(
    r"\p{GCB=Prepend}*+\p{GCB=Regional_Indicator}{1,2}+[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+|\X"
)
_LETTER = regex.compile(
    r"[^\W\u200c\u200d]"
)  # letters, marks, digits and _; not the joiners, which cannot begin a word
_APOSTROPHES = "'’"
# Characters that form no cluster with others: most Western, Korean and Chinese texts need nothing else (fast path).
_SIMPLE = regex.compile(r"[\t\n\x20-\u02ff\u2010-\u2027\u2030-\u205e\u4e00-\u9fff\uac00-\ud7a3]*")
# Those of them in scripts with spaces between words.
_SPACED = regex.compile(r"[\x20-\u02ff\u2010-\u2027\u2030-\u205e\uac00-\ud7a3]*")
_SIMPLE_WORD = regex.compile(rf"\w+(?:[{_APOSTROPHES}]\w+)*|\S")
# Scripts without spaces between words, in which each piece of the tokenizer counts as a word.
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)
# In these scripts joiners and non-joiners shape the letters, so they are already visible by their effect.
_JOINING = regex.compile(
    r"[\p{Arabic}\p{Syriac}\p{Mongolian}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}"
    r"\p{Kannada}\p{Malayalam}\p{Sinhala}]"
)
_EMOJI = regex.compile(r"\p{Extended_Pictographic}[^\p{Cn}\p{Co}]*(?<![\u200d\p{Cn}])")
_HIDDEN = regex.compile(r"[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0--\x20]", regex.VERSION1)
_BLANK = regex.compile(r"[\s\p{Cc}\p{Cf}]+")
_SIGNS = {"\t": "⇥", "\n": "↵", "\r": "␍", "\u00a0": "⍽"}
_NAMES = {
    "\u00ad": "SHY",
    "\u034f": "CGJ",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
}
_MARKS = 4  # combining marks that a label shows per character; the others are counted
_MARK = regex.compile(r"\p{M}")
_LONG_RUN = regex.compile(r"\p{M}{30}(?=\p{M})")
_MANY_MARKS = regex.compile(rf"(\p{{M}}{{{_MARKS}}})(\p{{M}}++)")


@dataclass(frozen=True)
class Layout:
    """The boundaries of the clusters and words of a text."""

    text: str
    clusters: tuple[int, ...]  # the start of each cluster, and the end of the text
    words: tuple[Span, ...]
    starts: tuple[int, ...]  # of the words

    @classmethod
    def of(cls, text: str) -> Layout:
        if _SIMPLE.fullmatch(text):
            words = tuple(match.span() for match in _SIMPLE_WORD.finditer(text))
            return cls(text, tuple(range(len(text) + 1)), words, tuple(start for start, _ in words))
        clusters = cluster_starts(text)
        words = tuple(_words(text, clusters))
        return cls(text, clusters, words, tuple(start for start, _ in words))

    def whole(self, span: Span) -> Span:
        """The span widened to whole clusters; an empty one to its surrounding cluster."""
        start, end = span
        first = max(bisect_right(self.clusters, start) - 1, 0)
        last = max(bisect_right(self.clusters, max(end - 1, start)), first + 1)
        return (self.clusters[first], self.clusters[min(last, len(self.clusters) - 1)])

    def words_at(self, span: Span) -> tuple[int, int] | None:
        """The first and last index of ``words`` that the span touches, or None if it touches only white space."""
        first = bisect_right(self.starts, span[0]) - 1
        if first < 0 or self.words[first][1] <= span[0]:
            first += 1
        last = bisect_left(self.starts, span[1], first) - 1
        return (first, last) if last >= first else None

    def unspaced(self, position: int) -> bool:
        """Whether a word may end before this character without a space: Chinese, Japanese, Thai, ..."""
        return any(_UNSPACED.match(sign) for sign in self.text[max(position - 1, 0) : position + 1])


def clusters(text: str) -> list[str]:
    """What a reader calls the characters of a text, in order. The time grows with the length of the text alone."""
    found: list[str] = _CLUSTER.findall(text)
    return found


def cluster_starts(text: str) -> tuple[int, ...]:
    """The start of each cluster, and the end of the text."""
    return (*(match.start() for match in _CLUSTER.finditer(text)), len(text))


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """``unicodedata.normalize``, whose time grows with the square of a run of marks: a run of more than 30 is parted by
    U+034F, as in Unicode's stream-safe text."""
    return unicodedata.normalize(form, _LONG_RUN.sub("\\g<0>\u034f", text))


def simple_words(text: str) -> list[Span] | None:
    """The words of ``split_words`` for a text of printable signs that form no cluster with others, in a script with
    spaces between words; None for any other text."""
    if not _SPACED.fullmatch(text) or not text.isprintable():
        return None
    return [match.span() for match in _SIMPLE_WORD.finditer(text)]


def split_words(text: str) -> tuple[Span, ...]:
    r"""The words as a reader would count them: runs of letters and digits, and every other visible character alone.

    ``\w+(?:'\w+)?|[^\w\s]``, over whole clusters rather than code points: an accent stays with its letter, an emoji
    family is one word.
    """
    return Layout.of(text).words


def _words(text: str, clusters: Sequence[int]) -> list[Span]:
    words: list[Span] = []
    start: int | None = None  # of the word that is being read
    for index, (begin, end) in enumerate(pairwise(clusters)):
        letters = _LETTER.match(text, begin) is not None
        following = clusters[index + 2] if index + 2 < len(clusters) else end
        joins = text[begin:end] in _APOSTROPHES and following > end and _LETTER.match(text, end) is not None
        if start is not None and not letters and not joins:
            words.append((start, begin))
            start = None
        if letters and start is None:
            start = begin
        elif start is None and not text[begin:end].isspace():
            words.append((begin, end))
    return words if start is None else [*words, (start, len(text))]


def number_words(layout: Layout, spans: Sequence[Span | None], first: int = 0) -> list[int | None]:
    """The word index of each token, counted from ``first`` and never decreasing; None without a word.

    ``spans`` (None for special tokens, which end a word) must not decrease either. Words that share a token count as
    one. In a script without spaces each token is a word, unless it splits a character.
    """
    words: list[int | None] = []
    current, reached, end = first - 1, -1, 0  # the index, the last of layout.words in it, the end of the last span
    for span in spans:
        touched = None if span is None else layout.words_at(span)
        if span is None or touched is None:
            words.append(None)
            reached = -1
            continue
        if touched[0] > reached or (span[0] >= end and layout.unspaced(span[0])):
            current += 1
        reached, end = touched[1], span[1]
        words.append(current)
    return words


def is_blank(text: str) -> bool:
    """Whether the text is not empty but entirely invisible."""
    return _BLANK.fullmatch(text) is not None


def visible(text: str) -> str:
    """The text with everything made visible: ``␣`` for text that is only spaces, symbols or ``‹names›`` for line ends,
    tabs, zero-width and direction characters, and at most four combining marks per letter, the rest counted."""
    if _SIMPLE.fullmatch(text) and text.isprintable() and text.strip():
        return text
    if text and not text.strip(" "):
        return "␣" * len(text)
    return "".join(map(_visible_cluster, clusters(text)))


def _visible_cluster(cluster: str) -> str:
    if _EMOJI.fullmatch(cluster):
        return _few_marks(cluster)
    if _JOINING.match(cluster):
        hidden = cluster.replace("\u200c", "").replace("\u200d", "")
        if not _HIDDEN.search(hidden):
            return _few_marks(cluster)
    return _few_marks(_HIDDEN.sub(lambda found: _name(found[0]), cluster))


def _name(sign: str) -> str:
    return _SIGNS.get(sign) or f"‹{_NAMES.get(sign) or f'U+{ord(sign):04X}'}›"


def _few_marks(cluster: str) -> str:
    """A lone mark on a dotted circle; for many marks, the first few and the number of the others."""
    if _MARK.match(cluster):
        cluster = "◌" + cluster
    counted: str = _MANY_MARKS.sub(lambda marks: f"{marks[1]}‹+{len(marks[2])}›", cluster)
    return counted
