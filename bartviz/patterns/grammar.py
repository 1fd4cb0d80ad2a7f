"""A pattern as it is written -> its clauses; what cannot be read is refused with its place and what may stand there.

    pattern = clause { "or" clause }
    clause  = "from" tokens [ "just" "read" ] "to" target
    tokens  = both { "or" both }        both = single { "and" single }     single = [ "not" ] ( class | "(" tokens ")" )
    target  = both { "or" both }        both = single { "and" single }     single = [ "not" ] ( path | "(" target ")" )
    path    = step { "of" step }

docs/patterns.md has the classes and steps.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple, NoReturn, TypeVar

import numpy as np

from bartviz.arrays import Array
from bartviz.errors import PatternError, SettingError, choices
from bartviz.language import later
from bartviz.patterns import nodes
from bartviz.patterns.named import NAMED
from bartviz.patterns.nodes import Class, Clause, Plain, Related, Same, Step, Target, To, Tokens, Valued, Written
from bartviz.patterns.pair import ALL, Pair, Side, Unfit
from bartviz.record.attention import Kind
from bartviz.record.turns import ROLES
from bartviz.text.labels import visible

T = TypeVar("T")
LONGEST = 2_000  # characters of a pattern
DEEPEST = 20  # brackets in brackets
FARTHEST = 10_000  # tokens of a distance
# Universal Dependencies, version 2.
PARTS = ("adj", "adp", "adv", "aux", "cconj", "det", "intj", "noun", "num", "part", "pron", "propn", "punct", "sconj",
         "sym", "verb", "x")  # fmt: skip
RELATIONS = (
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop", "csubj",
    "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark", "nmod",
    "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative", "xcomp",
)  # fmt: skip
_CLASSES = ("any", "word", "special", "punctuation", "number", "capitalised", "first", "last")
_STEPS = (
    "itself",
    "previous",
    "next",
    "back",
    "ahead",
    "within",
    "earlier",
    "later",
    "same",
    "link",
    "diagonal",
    "head",
    "dependent",
)
_ALSO = {"capitalized": "capitalised", "words": "word", "links": "link", "numbers": "number", "dependents": "dependent"}
_KEYWORDS = ("from", "to", "or", "and", "not", "of", "just", "read")
_ARTICLES = {"the", "a", "an", "its", "their"}
_NOUNS = {"token", "tokens", "word", "words"}  # after a class: they say nothing new
_PIECE = re.compile(r"""\s*(?:(?P<text>"[^"]*"|'[^']*')|(?P<number>\d+)|(?P<word>[^\W\d][\w-]*)|(?P<sign>[()=]))""")


class _Piece(NamedTuple):
    """A word, number, sign or text of a pattern, and the place of its first character, counted from 1."""

    kind: str
    text: str
    place: int


@dataclass(frozen=True)
class Pattern:
    """A pattern of attention: its text, and the clauses of which one has to hold.

    Made by ``parse``; two that are written alike are equal.
    """

    text: str
    clauses: tuple[Clause, ...]

    def mask(self, pair: Pair, rows: slice = ALL) -> Array:
        """(Q, K) where the rows look that follow the pattern, of what they may see; ``rows``: of these alone. Raises
        Unfit for a kind of attention for which it has no meaning."""
        return reduce(or_, (clause.cells(pair, rows) for clause in self.clauses)) & pair.mask[..., rows, :]

    @cached_property
    def needs(self) -> frozenset[str]:
        """What it reads of a corpus in addition to tokens, among ``nodes.LABELS``, ``COLUMNS``, ``TREE``, ``LINKS``."""
        return frozenset().union(*(clause.needs() for clause in self.clauses))

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns of the corpus that it reads."""
        return frozenset().union(*(clause.columns() for clause in self.clauses))

    def unfit(self, kind: Kind, *, encoder_decoder: bool) -> Unfit | None:
        """Why the pattern has no meaning for a kind of attention; None if it has one."""
        try:
            self.mask(_example(kind, encoder_decoder))
        except Unfit as reason:
            return reason
        return None

    def kinds(self, kinds: Sequence[Kind]) -> tuple[Kind, ...]:
        """Those of a model's kinds of attention for which the pattern has a meaning. Raises SettingError if there are
        none."""
        reasons = {kind: self.unfit(kind, encoder_decoder="cross" in kinds) for kind in kinds}
        refused = [(kind, reason) for kind, reason in reasons.items() if reason is not None]
        if len(refused) == len(kinds):
            raise without_meaning(*refused[0])
        return tuple(kind for kind in kinds if reasons[kind] is None)


def without_meaning(kind: Kind, reason: Unfit) -> SettingError:
    """The error for a kind of attention for which a pattern has no meaning."""
    return SettingError(
        later("The pattern has no meaning for {kind} attention: {reason}.", kind=kind, reason=reason.args[0])
    )


def _example(kind: Kind, encoder_decoder: bool) -> Pair:
    """A text of one token, with which a pattern is tried."""
    one, yes, no = np.zeros(1, np.int64), np.ones(1, np.bool_), np.zeros(1, np.bool_)

    def side(annotated: bool) -> Side:
        return Side(one, no, no, one, one, one, ("a",), ("a",), annotated=annotated)

    source = side(True)
    if kind == "cross":
        return Pair(kind, side(False), source, side(False), yes[:, None])
    own = side(False) if kind == "decoder" and encoder_decoder else source
    return Pair(kind, own, own, own, yes[:, None])


def parse(text: str) -> Pattern:
    """Read a pattern, such as ``from any to previous token``, or the name of one (``named.NAMED``).

    Raises PatternError with the place (``position``, the index of the character), and what is expected there.
    """
    text = NAMED.get(text.strip(), text)
    if (count := len(text)) > LONGEST:
        raise PatternError(
            later("A pattern has at most {limit:,} characters, and this has {count:,}.", limit=LONGEST, count=count),
            LONGEST,
        )
    return Pattern(" ".join(text.split()), _Reader(_pieces(text), len(text) + 1).pattern())


def _pieces(text: str) -> list[_Piece]:
    found, at = [], 0
    while text[at:].strip():
        match = _PIECE.match(text, at)
        if match is None or match.lastgroup is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            if text[at] in "\"'":
                raise PatternError(later("The quotation mark at character {place} is not closed.", place=at + 1), at)
            message = later(
                "Character {place}, {sign}, has no meaning in a pattern.", place=at + 1, sign=_shown(text[at])
            )
            raise PatternError(message, at)
        kind = match.lastgroup
        written = match[kind]
        if kind == "word":
            written = written.lower()
        found.append(_Piece(kind, written, match.start(kind) + 1))
        at = match.end()
    return found


def _shown(text: str) -> str:
    return f"“{visible(text if len(text) <= 24 else text[:23] + '…')}”"


class _Reader:
    """Reads the pieces of a pattern from left to right."""

    def __init__(self, pieces: Sequence[_Piece], end: int) -> None:
        self.pieces, self.at, self.depth = pieces, 0, 0
        self.end = _Piece("end", "", end)

    def pattern(self) -> tuple[Clause, ...]:
        found = [self._clause()]
        while self._takes("or"):
            found.append(self._clause())
        if self._next() is not self.end:
            self._expected(later("“or from ...”, “and”, “of” or the end of the pattern"))
        return tuple(found)

    def _clause(self) -> Clause:
        self._must("from")
        source = self._joined(self._set, nodes.Joined)
        read = self._takes("just")
        if read:
            self._must("read")
        self._must("to")
        return Clause(source, self._joined(self._target, nodes.Targets), read)

    def _joined(self, single: Callable[[], T], join: Callable[[tuple[T, ...], bool], T]) -> T:
        either = [self._both(single, join)]
        while self._is("or") and not self._is("from", 1):
            self.at += 1
            either.append(self._both(single, join))
        return either[0] if len(either) == 1 else join(tuple(either), False)

    def _both(self, single: Callable[[], T], join: Callable[[tuple[T, ...], bool], T]) -> T:
        both = [single()]
        while self._takes("and"):
            both.append(single())
        return both[0] if len(both) == 1 else join(tuple(both), True)

    def _bracket(self, inside: Callable[[], T]) -> T:
        self.depth += 1
        if self.depth > DEEPEST:
            place = self._next().place
            raise PatternError(later("Character {place}: too many brackets in brackets.", place=place), place - 1)
        found = inside()
        if not self._takes(")"):
            self._expected("“)”")
        self.depth -= 1
        return found

    def _set(self) -> Tokens:
        if self._takes("not"):
            return nodes.Without(self._set())
        if self._takes("("):
            return self._bracket(lambda: self._joined(self._set, nodes.Joined))
        self._articles()
        found = self._class()
        if found is None:
            self._unknown(later("a class of tokens"), (*_CLASSES, *PARTS, *ROLES))
        return found

    def _target(self) -> Target:
        if self._takes("not"):
            return nodes.Elsewhere(self._target())
        if self._takes("("):
            return self._bracket(lambda: self._joined(self._target, nodes.Targets))
        steps = [self._step()]
        while self._takes("of"):
            steps.append(self._step())
        return nodes.Path(tuple(steps))

    def _class(self) -> Tokens | None:
        """A class of tokens; None, with nothing read, where there is none."""
        piece = self._next()
        if piece.kind == "text":
            self.at += 1
            found: Tokens = Written(self._quoted(piece))
        elif piece.kind == "word" and self._is("=", 1):
            self.at += 2
            value = self._next()
            if value.kind != "text":
                self._expected(later("the value of the column in quotation marks"))
            self.at += 1
            found = Valued(piece.text, self._quoted(value))
        elif piece.kind == "word" and piece.text in (*_CLASSES, *PARTS, *ROLES):
            self.at += 1
            column = nodes.ROLE if piece.text in ROLES else nodes.UPOS
            found = Class(piece.text) if piece.text in _CLASSES else Valued(column, piece.text)
            if piece.text in ("first", "last") and self._word():
                return Class(f"{piece.text} word")
        else:
            return None
        if self._next().text in _NOUNS and self._next().kind == "word":
            self.at += 1
        return found

    def _step(self) -> Step:
        own = self._articles()
        piece = self._next()
        if piece.kind == "number":
            self.at += 1
            back = self._takes("back")
            if not back and not self._takes("ahead"):
                self._expected(later("“back” or “ahead” behind a number of tokens"))
            return Plain("back" if back else "ahead", self._distance(piece))
        if piece.kind == "word" and not self._is("=", 1):
            found = self._named(piece, own=own)
            if found is not None:
                return found
        tokens = self._class()
        if tokens is None:
            self._unknown(
                later("where a token looks"), (*_STEPS, *_CLASSES, *ROLES, *(f"its {name}" for name in RELATIONS))
            )
        return To(tokens)

    def _named(self, piece: _Piece, *, own: bool) -> Step | None:
        name = piece.text
        if own and name in RELATIONS:
            self.at += 1
            return Related(up=False, relation=name)
        if name not in _STEPS or name in ("back", "ahead"):
            return None
        self.at += 1
        if name in ("previous", "next"):
            way = "back" if name == "previous" else "ahead"
            return Plain(f"word {way}" if self._word() else way, 1)
        if name == "within":
            number = self._next()
            if number.kind != "number":
                self._expected(later("a number of tokens"))
            self.at += 1
            self._noun()
            return Plain("within", self._distance(number))
        if name == "same":
            what = self._next()
            if what.kind != "word" or what.text in _KEYWORDS:
                self._expected(later("“token”, “word”, “position” or the name of a column"))
            self.at += 1
            return Same(what.text)
        if name == "link":
            return nodes.Linked()
        if name == "diagonal":
            return nodes.Diagonal()
        if name in ("head", "dependent"):
            return Related(up=name == "head")
        self._noun()
        return Plain(name)

    def _distance(self, piece: _Piece) -> int:
        if len(piece.text) > len(str(FARTHEST)) or not 1 <= int(piece.text) <= FARTHEST:
            message = later("Character {place}: a distance is from 1 to {most:,}.", place=piece.place, most=FARTHEST)
            raise PatternError(message, piece.place - 1)
        return int(piece.text)

    def _quoted(self, piece: _Piece) -> str:
        inside = piece.text[1:-1].strip()
        if not inside:
            message = later("Character {place}: there is nothing between the quotation marks.", place=piece.place)
            raise PatternError(message, piece.place - 1)
        return inside

    def _articles(self) -> bool:
        """Read articles -> whether one of them was "its"."""
        own = False
        while self._next().text in _ARTICLES and self._next().kind == "word" and not self._is("=", 1):
            own = own or self._next().text in ("its", "their")
            self.at += 1
        return own

    def _word(self) -> bool:
        """Read "token" or "word" -> whether it was "word"."""
        word = self._next().text == "word"
        self._noun()
        return word

    def _noun(self) -> None:
        if self._next().kind == "word" and self._next().text in _NOUNS:
            self.at += 1

    def _next(self, ahead: int = 0) -> _Piece:
        at = self.at + ahead
        if at >= len(self.pieces):
            return self.end
        piece = self.pieces[at]
        return piece._replace(text=_ALSO[piece.text]) if piece.kind == "word" and piece.text in _ALSO else piece

    def _is(self, text: str, ahead: int = 0) -> bool:
        piece = self._next(ahead)
        return piece.kind in ("word", "sign") and piece.text == text

    def _takes(self, text: str) -> bool:
        found = self._is(text)
        self.at += found
        return found

    def _must(self, word: str) -> None:
        if not self._takes(word):
            self._expected(f"“{word}”")

    def _expected(self, what: str) -> NoReturn:
        piece = self._next()
        if piece is self.end:
            message = later("The pattern ends where {expected} is expected.", expected=what)
        else:
            message = later(
                "Character {place}: {expected} is expected, not {found}.",
                place=piece.place,
                expected=what,
                found=_shown(piece.text),
            )
        raise PatternError(message, piece.place - 1)

    def _unknown(self, what: str, known: Sequence[str]) -> NoReturn:
        """Refuse a piece that names nothing, with the name that is like it, or with all names."""
        piece = self._next()
        close = difflib.get_close_matches(piece.text, known, 1) if piece.kind == "word" else []
        names = [name for name in known if not name.startswith("its ")]
        if any(name.startswith("its ") for name in known):
            names.append("its nsubj")
        names = [name for name in names if name not in PARTS] + ["noun"] * ("noun" in names)
        if close and piece.text not in _KEYWORDS:
            names = close
        quoted = later("a word in quotation marks")
        self._expected(later("{what} ({names})", what=what, names=choices([*names, quoted])))
