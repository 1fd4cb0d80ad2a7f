"""The table of colours, each for the light and the dark theme: figures, pages and printed sheets take theirs from it.

Kinds: encoder teal, decoder vermilion, cross violet. Roles: query violet, key orange, value blue. Words: six,
which repeat.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bartviz.record.attention import Kind

Pair = tuple[str, str]  # in the light theme, in the dark one

KIND: dict[Kind, Pair] = {
    "encoder": ("#148377", "#45b7a4"),
    "decoder": ("#c24e1c", "#dc7443"),
    "cross": ("#6d53b3", "#8b7dcd"),
}
# From the background to the kind's colour in even steps of CIELAB lightness: 11 in the light, 12 in the dark.
RAMPS: dict[Kind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "encoder": (
        ("#ffffff", "#c6e6e0", "#8dccc2", "#55b1a4", "#299487", "#10766b", "#085850", "#003c37"),
        ("#0e1117", "#122f2e", "#164d47", "#1b6d61", "#258f7f", "#40b19e", "#7ccfc1", "#c2ebe3"),
    ),
    "decoder": (
        ("#ffffff", "#fad8c8", "#f4b193", "#e9895f", "#d56334", "#b34618", "#883210", "#602006"),
        ("#0e1117", "#422216", "#6e351c", "#9c4a23", "#c76435", "#e5885b", "#f4b291", "#ffdbc8"),
    ),
    "cross": (
        ("#ffffff", "#e3dcf4", "#c6bae7", "#aa98d9", "#8e78ca", "#7258b6", "#563f93", "#39296b"),
        ("#0e1117", "#2c254b", "#473c7a", "#6556a5", "#8375c5", "#a397da", "#c3bbea", "#e4dffb"),
    ),
}
QUERY, KEY, VALUE = "#7048c8", "#d97b0f", "#3f97dd"
LETTERS = {QUERY: ("#6238bd", "#a98bea"), KEY: ("#b0620a", "#e9963a"), VALUE: ("#2270b3", "#5fb0ee")}  # of text
# Of words, in reading order, then again from the first: under a word or beside its label, never the colour of a number.
# Found by search, so that all are told apart with any kind of colour vision: see tests/drawing/test_colors.py.
WORDS: tuple[Pair, ...] = (
    ("#0a86d1", "#26aef7"),
    ("#9a6e00", "#e6b45b"),
    ("#e75c8b", "#d35871"),
    ("#2f3a91", "#b1dcf9"),
    ("#988e55", "#fcdeb5"),
    ("#67283c", "#a9773b"),
)


@dataclass(frozen=True)
class Palette:
    """The neutral colours of one theme: what has a meaning, such as the frame of a cell (``line``) or the hatching over
    ``masked``, has a contrast of 3:1; ``grid`` is behind charts and has none."""

    background: str
    ink: str
    faint: str
    grid: str
    masked: str
    hatch: str
    line: str


LIGHT = Palette("#ffffff", "#1d2430", "#667085", "#e4e7ec", "#e9eaec", "#7f858f", "#858d9b")
DARK = Palette("#0e1117", "#e8eaee", "#98a2b3", "#2a303b", "#272b33", "#767d8a", "#646d7c")


PRIMARY = ("#3b4a63", "#7d93bc")  # of what is chosen or pressed, in the light theme and in the dark one


_NEUTRAL = {"page": "background", "line": "line", "hatch": "hatch"}


def word_palette() -> list[list[str]]:
    """``WORDS`` for scripts: those of the light theme, those of the dark one."""
    return [list(shades) for shades in zip(*WORDS, strict=True)]


def word_places(numbers: Iterable[int]) -> list[int]:
    """The places of words' numbers on ``WORDS``, which repeats; one below 0, a word without a colour, stays so."""
    return [number % len(WORDS) if number >= 0 else number for number in numbers]


def underline(number: int) -> str:
    """The style of a chip under which the colour of its word is drawn; empty for one without a colour."""
    (place,) = word_places([number])
    return "" if place < 0 else f"--word:var(--bv-word{place});"


def variables() -> str:
    """The style that names these colours for all others: ``--bv-encoder``, ``--bv-primary`` and so on."""
    roles = (("query", LETTERS[QUERY]), ("key", LETTERS[KEY]), ("value", LETTERS[VALUE]))
    words = ((f"word{number}", pair) for number, pair in enumerate(WORDS))
    neutral = (
        ("primary", PRIMARY),
        *((name, (getattr(LIGHT, part), getattr(DARK, part))) for name, part in _NEUTRAL.items()),
    )
    named = (*KIND.items(), *roles, *words, *neutral)
    lines = (f"--bv-{name}: light-dark({light}, {dark});" for name, (light, dark) in named)
    return f":root {{ {' '.join(lines)} }}"
