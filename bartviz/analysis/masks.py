"""The masks of a record, in words. A mask is (Q, K) bool, True where a row may attend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis import sentence_words
from bartviz.analysis.words import pieces_of
from bartviz.arrays import Bools
from bartviz.errors import SettingError
from bartviz.language import _, later, plural
from bartviz.language.percentages import percent
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Reading, Record
from bartviz.text.labels import CONTINUES
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Shape:
    """A mask in numbers: open cells and all cells, whether it is causal, how many columns are closed (padding)."""

    open: int
    cells: int
    causal: bool
    closed_keys: int

    @property
    def name(self) -> str:
        """In words: "full", "causal", "padding", "causal and padding", or "another pattern"."""
        if self.open == self.cells:
            return _("full")
        if self.causal:
            return _("causal and padding") if self.closed_keys else _("causal")
        return _("padding") if self.closed_keys else _("another pattern")

    @property
    def plain(self) -> str:
        """The same for a beginner: what a row may see."""
        if self.open == self.cells:
            return _("sees the whole text")
        return _("only looks back (causal)") if self.causal and not self.closed_keys else self.name


def shape(mask: Bools) -> Shape:
    """The ``Shape`` of a mask (Q, K)."""
    closed = ~mask.any(axis=0)  # (K,)
    inner = mask[:, ~closed]
    below = (np.arange(mask.shape[0])[:, None] >= np.arange(mask.shape[1])[None, :])[:, ~closed]
    square = mask.shape[0] == mask.shape[1] > 1
    causal = square and not inner[~below].any() and bool(inner[below].all())
    return Shape(int(mask.sum()), mask.size, causal, int(closed.sum()))


def notice(record: Record) -> str:
    """One sentence on the masks of this record, with numbers."""
    shapes = {kind: shape(record.attention(kind).mask) for kind in record.kinds}
    parts = [
        _(
            "{kind} {shape}, {open:,} of {cells:,} cells open",
            kind=sentence_words.before_noun(kind),
            shape=found.name,
            open=found.open,
            cells=found.cells,
        )
        for kind, found in shapes.items()
    ]
    return _("The masks of this text: {masks}.", masks="; ".join(parts))


def plainly(record: Record) -> str:
    """The same for beginners: what a decoder that writes may not see; else as ``notice``."""
    if record.decoder is None:
        if all(record.attention(kind).mask.all() for kind in record.kinds):
            return _("The mask hides nothing here: every word may look at every word.")
        return notice(record)
    found = shape(record.decoder.mask)
    if not found.causal:
        return notice(record)
    return _(
        "The decoder must predict each word without seeing it, so its causal mask only lets it look back: "
        "{hidden:,} of {cells:,} cells are hidden.",
        hidden=found.cells - found.open,
        cells=found.cells,
    )


def painted(record: Record, kind: Kind) -> str:
    """One sentence on the mask that is painted: which it is, and what the model itself leaves open in it."""
    found = shape(record.attention(kind).mask)
    return _(
        "Paint the {kind} mask, and the model runs with it. Its own leaves {open:,} of {cells:,} cells open.",
        kind=sentence_words.before_noun(kind),
        open=found.open,
        cells=found.cells,
    )


def row_sentence(attention: Attention, row: int, query: Tokens | None = None, *, plain: bool = False) -> str:
    """One or two sentences: which keys this row may attend to, and why not to the others; ``query`` replaces the labels
    of rows by what they predict. ``plain``: for beginners, who are told how many keys those are where that is enough.

    Raises SettingError for a row that does not exist.
    """
    rows = attention.shape[2]
    if not 0 <= row < rows:
        raise no_row(row, rows)
    name = _row_name(attention, row, query)
    seen = np.flatnonzero(attention.mask[row])  # (open keys,)
    if seen.size == 0:
        return _("{row} cannot look at anything: its weights are uniform and mean nothing.", row=name)
    if plain and (said := _counted(attention, row, query)):
        return said
    keys = listed(attention.key.labels, seen)
    if seen.size == attention.shape[3]:
        return plural(
            "{row} may look at all {count:,} token: {keys}.",
            "{row} may look at all {count:,} tokens: {keys}.",
            int(seen.size),
            row=name,
            keys=keys,
        )
    return plural(
        "{row} may look at {count:,} token: {keys}. Closed: {reasons}.",
        "{row} may look at {count:,} tokens: {keys}. Closed: {reasons}.",
        int(seen.size),
        row=name,
        keys=keys,
        reasons="; ".join(_reasons(attention, row)),
    )


def weights_sentence(
    attention: Attention, layer: int, head: int, row: int, query: Tokens | None = None, *, plain: bool = False
) -> str:
    """One sentence: which keys have the largest weights of a head in this row, two at most; the rest as of
    ``row_sentence``."""
    seen = np.flatnonzero(attention.mask[row])  # (open keys,)
    if seen.size == 0:
        return row_sentence(attention, row, query, plain=plain)
    weights = attention.head(layer, head)[row]
    largest = seen[np.argsort(-weights[seen], kind="stable")][:2]
    written = [percent(float(weights[key])) if plain else f"{weights[key]:.3f}" for key in largest]
    keys = [f"{in_word(attention.key, int(key))} ({said})" for key, said in zip(largest, written, strict=True)]
    name = in_word(query or attention.query, row) if plain else _row_name(attention, row, query)
    if len(keys) == 1:
        return _("{row} looks only at {best} in this head.", row=name, best=keys[0])
    return _("{row} looks most at {best} in this head, then at {next}.", row=name, best=keys[0], next=keys[1])


def _counted(attention: Attention, row: int, query: Tokens | None) -> str:
    """How many keys a row may attend to; empty where others are hidden than those that come later."""
    ahead, padded, other = _hidden(attention, row)
    if padded or other:
        return ""
    token, all_ = in_word(query or attention.query, row), attention.shape[3]
    writes = attention.kind != "encoder" and query is not None and query is not attention.query
    if not ahead:
        if writes:
            return plural(
                "To write {token}, the decoder may look at {count:,} token: all that there is.",
                "To write {token}, the decoder may look at all {count:,} tokens.",
                all_,
                token=token,
            )
        return plural(
            "{token} may look at {count:,} token: all that there is.",
            "{token} may look at all {count:,} tokens.",
            all_,
            token=token,
        )
    numbers = {"token": token, "seen": all_ - ahead, "count": all_}
    if writes:
        may = _("To write {token}, the decoder may look at {seen:,} of {count:,} tokens.", **numbers)
        hidden = _("{token} itself is hidden.", token=token)
        if ahead > 1:
            after = [quote(label) for label in attention.key.labels[all_ - ahead + 1 :]]
            hidden = _(
                "{token} itself is hidden, and so is what comes after it ({names}).", token=token, names=_begins(after)
            )
    else:
        may = _("{token} may look at {seen:,} of {count:,} tokens.", **numbers)
        hidden = plural(
            "The token that comes later is hidden.", "The {count:,} tokens that come later are hidden.", ahead
        )
    return f"{may} {hidden}"


def _row_name(attention: Attention, row: int, query: Tokens | None) -> str:
    """The token of an encoder's row; of a decoder's row also whether it is the one that it reads or predicts."""
    predicts = query is not None and query is not attention.query
    token = in_word(query or attention.query, row)
    if attention.kind == "encoder":
        return token
    return _("The row that predicts {token}", token=token) if predicts else _("The row that reads {token}", token=token)


def no_row(row: int, rows: int) -> SettingError:
    """The error for a row that is not there."""
    return SettingError(later("There is no row {row}: choose 0 to {last}.", row=row, last=rows - 1))


def _hidden(attention: Attention, row: int) -> tuple[int, int, int]:
    """How many keys are closed to a row since they come later, since they are padding, which no row may attend to, and
    by a pattern of the model."""
    hidden = ~attention.mask[row]  # (K,)
    padding = hidden & ~attention.mask.any(axis=0)
    later = hidden & ~padding & (np.arange(hidden.size) > row) & (attention.kind == "decoder")
    return int(later.sum()), int(padding.sum()), int((hidden & ~padding & ~later).sum())


def _reasons(attention: Attention, row: int) -> list[str]:
    """Why keys are closed to a row, in words."""
    ahead, padded, other = _hidden(attention, row)
    parts = [plural("{count:,} token that comes later", "{count:,} tokens that come later", ahead)] * bool(ahead)
    parts += [_("{count:,} of padding, to every row", count=padded)] * bool(padded)
    if other:
        parts.append(
            plural("{count:,} token by the model's own pattern", "{count:,} tokens by the model's own pattern", other)
        )
    return parts


def table(record: Record, reading: Reading = "reads") -> pd.DataFrame:
    """Every row of every mask: kind, row, query, how many keys are open and closed, and which are open.

    ``reading``: whether a decoder row's query is the token that it reads or the one that it predicts."""
    import pandas as pd

    lines = []
    for kind in record.kinds:
        attention = record.attention(kind)
        keys = attention.shape[3]
        for row, query in enumerate(record.rows(kind, reading).labels):
            seen = np.flatnonzero(attention.mask[row])
            lines.append(
                (kind, row, query, seen.size, keys - seen.size, _ends([attention.key.labels[key] for key in seen]))
            )
    return pd.DataFrame(lines, columns=["kind", "row", "query", "open", "closed", "may look at"])


_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")


def in_word(tokens: Tokens, index: int) -> str:
    """A token in a sentence, quoted, with the word that it is a piece of."""
    return piece(tokens.labels[index], pieces_of(tokens).get(index))


def piece(label: str, word: str | None) -> str:
    """The label of a token in a sentence, quoted, with its word if it is a piece of one."""
    if word is None:
        return quote(label)
    return _("{piece} of {word}", piece=quote(label.removeprefix(CONTINUES)), word=quote(word))


def quote(label: str) -> str:
    """A token or word in a sentence, quoted; a very long one is cut with an ellipsis."""
    shown = label if len(label) <= 32 else label[:31] + "…"
    return f"“\u2068{shown}\u2069”" if _RIGHT_TO_LEFT.search(shown) else f"“{shown}”"  # else it moves its neighbours


def count(tokens: int) -> str:
    """How many tokens, in words."""
    return plural("{count:,} token", "{count:,} tokens", tokens)


def listed(labels: Sequence[str], positions: Iterable[int]) -> str:
    """The tokens at these positions in a sentence, quoted: a full stop among them does not end it. Of a long list only
    the ends, and how many are between them."""
    return _ends([quote(labels[position]) for position in positions])


def _begins(names: Sequence[str]) -> str:
    """All names, or of many the first four, and how many more there are."""
    if len(names) <= 5:
        return ", ".join(names)
    return _("{names} and {count} more", names=", ".join(names[:4]), count=len(names) - 4)


def _ends(names: Sequence[str]) -> str:
    """All names, or of many the first and the last ones."""
    if len(names) <= 12:
        return " ".join(names)
    return _(
        "{first} … {count:,} more … {last}", first=" ".join(names[:6]), count=len(names) - 12, last=" ".join(names[-6:])
    )
