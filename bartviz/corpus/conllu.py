"""Trees of words, read from CoNLL-U, and the tokens that their words are made of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.errors import TextError
from bartviz.reading.rows import MAX_LINE, too_long
from bartviz.text.clean import clean
from bartviz.text.tokens import Tokens

Arc = tuple[int, int, int, str]  # where a word begins and ends in the text, the place of its head (-1: root), relation
Tree = tuple[Arc, ...]
_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_DIGITS = 6  # of the number of a word
SIGN = "\x1f"  # between the parts of a word, which have no control characters
_NONE = ("", "_")
VALUES = ("upos", "xpos", "lemma")  # what is noted of each word, as columns of a corpus
_GLOBAL = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
_TEXT = re.compile(r"#\s*(?:text|sentence[-_]text)\s*[=:]\s*(.*)")
_FIRST = re.compile(r"1(?:-\d+)?[\t ]")
_ESCAPES = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|", "\\": "\\"}
_ESCAPE = re.compile(r"\\([stnrp\\])")


@dataclass(frozen=True)
class _Sentence:
    """The lines of a sentence, numbered."""

    line: int
    comments: tuple[str, ...]
    rows: tuple[tuple[int, str], ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class _Word:
    """A word, or a range of words that are written as one."""

    number: str
    form: str
    head: str
    relation: str
    after: str  # white space
    values: tuple[str, ...]  # of VALUES


def sentences(lines: Iterable[str | TextError]) -> Iterator[tuple[int, dict[str, str] | TextError]]:
    """The sentences of a CoNLL-U file: the line of each, its text, and its words, forms, heads and relations as
    ``placed`` reads them; without these where no word has a head.

    Without a comment with the text it is put together from the forms and from what is noted of spaces after them.
    """
    for sentence in _blocks(lines):
        if isinstance(sentence, tuple):
            yield sentence
            continue
        try:
            yield sentence.line, _texts(sentence)
        except TextError as error:
            yield sentence.line, error


def _blocks(lines: Iterable[str | TextError]) -> Iterator[_Sentence | tuple[int, TextError]]:
    """Blank lines end a sentence, and so do a comment behind words, and a word with the number 1."""
    comments: list[str] = []
    rows: list[tuple[int, str]] = []
    columns: tuple[str, ...] = _COLUMNS
    first = length = 0
    begun = False  # the word with the number 1 was there

    def ended() -> Iterator[_Sentence | tuple[int, TextError]]:
        nonlocal first, length
        if length > MAX_LINE:
            yield first, too_long()
        elif rows or any(map(_TEXT.match, comments)):  # else it is said of what follows
            yield _Sentence(first, tuple(comments), tuple(rows), columns)
        comments.clear()
        rows.clear()
        first = length = 0

    for number, line in enumerate(lines, start=1):
        if isinstance(line, TextError):
            yield number, line
            continue
        stripped = line.rstrip("\r\n")
        comment = stripped.startswith("#")
        again = begun and _FIRST.match(stripped) is not None
        if not stripped.strip() or (rows and comment) or again:
            yield from ended()
            begun = False
        if stripped.strip():
            first = first or number
            length += len(stripped)
            if comment:
                comments.append(stripped)
                if found := _GLOBAL.match(stripped):
                    columns = tuple(found[1].split())
            elif length <= MAX_LINE:
                rows.append((number, stripped))
                begun = begun or stripped[:2] in ("1\t", "1 ")
    yield from ended()


def _wrong(line: int, reason: str) -> TextError:
    return TextError(f"Line {line:,} is not CoNLL-U: {reason}")


def _texts(sentence: _Sentence) -> dict[str, str]:
    """Raises TextError for a sentence that is not CoNLL-U."""
    surfaces: list[tuple[_Word, int]] = []  # what is written, and for how many words
    words: list[_Word] = []
    heads: list[int] = []  # lines of the words
    covered = 0
    for line, row in sentence.rows:
        word = _word(line, row, sentence.columns)
        if "." in word.number:  # an empty node is not written
            continue
        first, dash, last = word.number.partition("-")
        last = last if dash else first
        if not all(part.isdecimal() and len(part) <= _DIGITS for part in (first, last)) or int(last) < int(first):
            raise _wrong(line, "the first field numbers the words.")
        if int(first) != len(words) + 1:
            raise _wrong(line, "the first field numbers the words, one after the other.")
        if dash:
            surfaces.append((word, int(last) - int(first) + 1))
            covered = int(last)
            continue
        if int(first) > covered:
            surfaces.append((word, 1))
        words.append(word)
        heads.append(line)
    if not words:
        raise TextError("It has no words.")
    if sum(count for _surface, count in surfaces) != len(words):
        raise _wrong(heads[-1], "the words of a range are missing.")
    said = next((found[1].strip() for comment in sentence.comments if (found := _TEXT.match(comment))), "")
    written = "".join(part for surface, _count in surfaces for part in (surface.form, surface.after))
    text = said if said not in _NONE else written.strip()
    if len(words) > len(text):
        raise TextError("It has more words than letters.")
    if all(word.head in _NONE for word in words):
        return {"text": text}
    numbers = {word.number: place for place, word in enumerate(words)} | {"0": -1}
    for line, word in zip(heads, words, strict=True):
        if word.head not in numbers:
            raise _wrong(line, "the head of a word is not in the sentence.")
    forms = [(surface.form, place) for surface, count in surfaces for place in range(count)]
    lines = [
        SIGN.join((form, str(place), str(numbers[word.head]), word.relation))
        for (form, place), word in zip(forms, words, strict=True)
    ]
    values = zip(*(word.values for word in words), strict=True)
    noted = {f"={name}": SIGN.join(column) for name, column in zip(VALUES, values, strict=True)}
    return {"text": text, "tree": "\n".join(lines), **noted}


def _word(line: int, row: str, columns: Sequence[str]) -> _Word:
    """The fields of a line. Raises TextError."""
    cells = _fields(row, len(columns))
    if len(cells) != len(columns) or SIGN in row:
        fields = "ten" if len(columns) == len(_COLUMNS) else str(len(columns))
        raise _wrong(line, f"a word has {fields} fields separated by tabs; this one has {len(cells)}.")
    named = dict(zip(columns, cells, strict=True))
    if "ID" not in named or "FORM" not in named:
        raise _wrong(line, "the columns ID and FORM are not named.")
    misc = _misc(named.get("MISC", ""))
    after = "" if misc.get("SpaceAfter", "").lower() == "no" else " "
    if "SpacesAfter" in misc:
        after = _unescaped(misc["SpacesAfter"])
    values = tuple(named.get(name.upper(), "") for name in VALUES)
    form = _unescaped(misc["SpacesInToken"]) if "SpacesInToken" in misc else named["FORM"]
    return _Word(named["ID"], form, named.get("HEAD", ""), named.get("DEPREL", ""), after, values)


def _fields(row: str, count: int) -> list[str]:
    """The cells of a line: between tabs, without those of nothing at its end; where there is no tab, between spaces, if
    these give as many as there are columns."""
    if "\t" in row:
        cells = row.split("\t")
        while len(cells) > count and not cells[-1].strip():
            cells.pop()
        return cells
    wide = re.split(" {2,}", row.strip())
    return wide if len(wide) == count else row.split()


def _misc(cell: str) -> Mapping[str, str]:
    return dict(part.strip().partition("=")[::2] for part in cell.split("|"))


def _unescaped(spaces: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES[found[1]], spaces)


def placed(text: str, tree: str) -> Tree:
    """The words of ``sentences`` at their positions in the text, which has been cleaned. Raises TextError.

    Composed and decomposed characters are the same, and so is all white space.
    """
    arcs: list[Arc] = []
    plain, places = _folded(text)
    at = start = stop = 0
    for line in tree.split("\n") if tree else ():
        form, place, head, relation = line.split(SIGN)
        if place == "0":  # else another word of the same form, such as the article in "im"
            written = _folded(clean(form).text)[0].strip()
            found = plain.find(written, at)
            if found < 0 or not all(map(_is_between, plain[at:found])):
                raise TextError("Its words are not those of its text.")
            at = found + len(written)
            start, stop = places[found][0], places[at - 1][1]
        arcs.append((start, stop, int(head), relation.partition(":")[0]))
    if arcs and not all(map(_is_between, plain[at:])):
        raise TextError("Its words are not those of its text.")
    return tuple(arcs)


def _is_between(char: str) -> bool:
    """Whether a character may be between words: white space, or one that is not seen."""
    return char == " " or unicodedata.category(char) == "Cf"


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text, decomposed and with one space for all white space, and where each character begins and ends in it."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text, [(place, place + 1) for place in range(len(text))]
    chars: list[tuple[str, int, int]] = []
    marks: list[tuple[str, int, int]] = []
    for place, whole in enumerate(text):
        for char in " " if whole.isspace() else unicodedata.normalize("NFD", whole):
            here = (char, place, place + 1)
            if unicodedata.combining(char):
                marks.append(here)
                continue
            chars += sorted(marks, key=_order)
            marks.clear()
            if char == " " and chars and chars[-1][0] == " ":
                here = (" ", chars.pop()[1], place + 1)
            chars.append(here)
    chars += sorted(marks, key=_order)
    return "".join(char for char, _first, _last in chars), [(first, last) for _char, first, last in chars]


def _order(mark: tuple[str, int, int]) -> int:
    return unicodedata.combining(mark[0])


def word_tokens(tree: Tree, tokens: Tokens) -> NDArray[np.bool_]:
    """(W, n) which tokens each word of the tree is made of."""
    return spanned([(arc[0], arc[1]) for arc in tree], tokens)


def spanned(words: Sequence[tuple[int, int]], tokens: Tokens) -> NDArray[np.bool_]:
    """(W, n) which tokens words of the first text are made of, by where they begin and end in it."""
    spans = [
        (-1, -1) if span is None or segment else span
        for span, segment in zip(tokens.spans, tokens.segments, strict=True)
    ]
    first, last = (np.array(ends) for ends in zip(*spans, strict=True))
    starts, stops = (np.array([word[place] for word in words])[:, None] for place in (0, 1))
    found: NDArray[np.bool_] = (first < stops) & (last > starts)
    return found
