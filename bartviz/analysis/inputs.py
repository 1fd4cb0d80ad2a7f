"""What the first layer gets: the vectors that are summed for each token, and what a position table knows of distance.

Letters in shapes: n tokens, e width of the embeddings, w width of the model (w = e but for ELECTRA and ALBERT), P rows
of the position table, D shifts. NumPy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bartviz.attention import Bools, Ints, Tokens
from bartviz.errors import SettingError

LIMIT = 1e-5  # how far the sum may be from the network's own first hidden state
SHIFTS = 16
Floats = NDArray[np.floating]  # of 32 or 64 bits
Stack = Literal["encoder", "decoder"]
PARTS = ("token", "position", "segment")


@dataclass(frozen=True)
class Inputs:
    """The embeddings of one text, read from the model's own matrices.

    ``parts``: token, position, segment, as far as the model has them, (n, e) each; the token part is scaled already.
    ``rows`` (n,): the rows of the position table that were read, or None. ``summed`` (n, e): their sum. ``normed``
    (n, e): after LayerNorm, None where there is none. ``entered`` (n, w): what the first layer reads, after a
    projection where the model has one. ``own`` (n, w): the network's own first hidden state, from a pass of its own.
    ``table`` (P, e): the position table from the row of the first position on, None where the model has none.
    """

    model: str
    family: str
    stack: Stack
    tokens: Tokens
    parts: Mapping[str, Floats]
    scale: float
    rows: Ints | None
    summed: Floats
    normed: Floats | None
    entered: Floats
    own: Floats
    table: Floats | None

    @property
    def error(self) -> float:
        """The largest difference between what was summed here and the network's own first hidden state."""
        return float(np.abs(self.entered - self.own).max(initial=0.0))

    @property
    def passed(self) -> bool:
        return self.error <= LIMIT

    @property
    def nbytes(self) -> int:
        arrays = [*self.parts.values(), self.summed, self.normed, self.entered, self.own, self.table]
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def stages(self) -> dict[str, Floats]:
        """Every vector that is shown, in the order in which it comes to be."""
        found = {name: self.parts[name] for name in PARTS if name in self.parts} | {"sum": self.summed}
        found |= {} if self.normed is None else {"after LayerNorm": self.normed}
        return found | ({"projected": self.entered} if self.entered.shape != self.summed.shape else {})


def norms(one: Inputs) -> dict[str, Floats]:
    """The length of each part, of the sum, and of what comes after it: (n,) each."""
    return {name: np.linalg.norm(part.astype(float), axis=-1) for name, part in one.stages.items()}


def shares(one: Inputs) -> dict[str, Floats]:
    """How much of the sum each part is, (n,) each: part · sum / |sum|². They add up to 1; a part may point against."""
    whole = one.summed.astype(float)
    square = np.maximum((whole**2).sum(-1), np.finfo(float).tiny)
    return {name: (part.astype(float) * whole).sum(-1) / square for name, part in one.parts.items()}


def sentence(one: Inputs) -> str:
    """What to notice in this text."""
    if "position" not in one.parts:
        return f"{one.model} adds nothing to its token embeddings: where a token stands only the attention knows."
    inside = ~one.tokens.special if (~one.tokens.special).any() else np.ones(len(one.tokens), np.bool_)
    lengths, part = norms(one), shares(one)
    ratio = float(lengths["token"][inside].mean() / max(lengths["position"][inside].mean(), 1e-12))
    longer = f"{ratio:.1f} times as long as its position's" if ratio >= 1 else f"{ratio:.2f} of its position's length"
    row = int(np.flatnonzero(inside)[part["position"][inside].argmax()])
    return (
        f"A token's vector is on average {longer}; most position is in “{one.tokens.labels[row]}”, "
        f"{part['position'][row]:.0%} of its sum."
    )


def formula(one: Inputs) -> str:
    """The sum in words."""
    scaled = "" if one.scale == 1 else f"{one.scale:.4g} × "
    terms = [f"{scaled}token", *(name for name in PARTS[1:] if name in one.parts)]
    steps = [" + ".join(terms)]
    steps += ["LayerNorm"] if one.normed is not None else []
    steps += [f"projection to {one.entered.shape[1]}"] if one.entered.shape != one.summed.shape else []
    return ", then ".join(steps)


def table(one: Inputs) -> pd.DataFrame:
    """One line for each token: id, position row, segment, lengths of the parts, shares in the sum."""
    given: dict[str, Any] = {"token": one.tokens.labels, "id": one.tokens.ids}
    if one.rows is not None:
        given["position row"] = one.rows
    if "segment" in one.parts:
        given["segment"] = one.tokens.segments
    given |= {f"length: {name}": value for name, value in norms(one).items()}
    return pd.DataFrame(given | {f"share: {name}": value for name, value in shares(one).items()})


def arrays(one: Inputs) -> dict[str, Any]:
    """For NPZ: every part (n, e), the sum, what entered the first layer, the network's own, the position table."""
    found: dict[str, Any] = {name.replace(" ", "_"): part for name, part in one.stages.items()}
    found |= {"entered": one.entered, "own": one.own, "ids": one.tokens.ids}
    return found | ({} if one.table is None else {"positions": one.table})


def pieces(tokens: Tokens) -> pd.DataFrame:
    """From text to ids, one line for each token."""
    return pd.DataFrame(
        {
            "position": np.arange(len(tokens)), "token": tokens.labels, "piece in the vocabulary": tokens.pieces,
            "id": tokens.ids, "special": tokens.special, "word": pd.array(list(tokens.words), dtype="Int64"),
            "segment": tokens.segments,
            "from": pd.array([None if span is None else span[0] for span in tokens.spans], dtype="Int64"),
            "to": pd.array([None if span is None else span[1] for span in tokens.spans], dtype="Int64"),
        }
    )  # fmt: skip


def told(tokens: Tokens) -> str:
    """How many pieces the words became, and which word took the most."""
    inside = [word for word, special in zip(tokens.words, tokens.special, strict=True) if not special]
    counts = {word: inside.count(word) for word in dict.fromkeys(inside) if word is not None}
    special = int(tokens.special.sum())
    added = f"{special} special token{'s' if special != 1 else ''}" if special else "no special token"
    if not counts:
        return f"The model gets {len(tokens)} ids, {added} among them."
    most = max(counts, key=lambda word: counts[word])
    names = "".join(
        label.removeprefix("⋯") for label, word in zip(tokens.labels, tokens.words, strict=True) if word == most
    )
    cut = f"; “{names}” is cut into {counts[most]} pieces" if counts[most] > 1 else "; no word is cut"
    words = f"{len(counts)} word{'s' if len(counts) != 1 else ''}"
    return f"The model does not see letters: {words} became {len(tokens)} ids, {added} among them{cut}."


@dataclass(frozen=True)
class Split:
    """A text as one tokenizer cuts it; ``unknown`` (n,) marks tokens that the vocabulary does not have."""

    model: str
    how: str
    vocabulary: int
    tokens: Tokens
    unknown: Bools

    @property
    def count(self) -> int:
        """The tokens of the text, special tokens not counted."""
        return int((~self.tokens.special).sum())


def splits(found: tuple[Split, ...]) -> pd.DataFrame:
    """One line for each tokenizer: how many tokens, how many of them unknown, how large the vocabulary is."""
    return pd.DataFrame(
        {
            "model": [one.model for one in found], "cuts into": [one.how for one in found],
            "tokens": [one.count for one in found], "unknown": [int(one.unknown.sum()) for one in found],
            "special": [int(one.tokens.special.sum()) for one in found],
            "vocabulary": [one.vocabulary for one in found],
        }
    )  # fmt: skip


def sinusoidal(rows: int, width: int) -> Floats:
    """The encoding of Vaswani et al. 2017, section 3.5, (rows, width): sines in even, cosines in odd dimensions."""
    angle = np.arange(rows)[:, None] * _rates(width)[None]  # (rows, ceil(width / 2))
    made = np.zeros((rows, width))
    made[:, 0::2] = np.sin(angle)
    made[:, 1::2] = np.cos(angle[:, : width // 2])
    return made


def rotation(width: int, shift: int) -> Floats:
    """The matrix R (width, width), of even width, with PE(p + shift) = PE(p) R for every p: each pair of a sine and a
    cosine turns by the angle shift / 10000^(2i / width). Raises SettingError for an odd width."""
    if width % 2:
        raise SettingError("Sines and cosines come in pairs: choose an even width.")
    turn, found = shift * _rates(width), np.zeros((width, width))
    even, odd = np.arange(0, width, 2), np.arange(1, width, 2)
    found[even, even], found[odd, even] = np.cos(turn), np.sin(turn)
    found[even, odd], found[odd, odd] = -np.sin(turn), np.cos(turn)
    return found


def _rates(width: int) -> Floats:
    rates: Floats = 10_000.0 ** (-2 * np.arange((width + 1) // 2) / width)
    return rates


def similarity(positions: Floats) -> Floats:
    """Cosine similarity (P, P) of every two positions; 0 with a row of zeros."""
    lengths = np.linalg.norm(positions, axis=1, keepdims=True)
    unit = positions.astype(float) / np.where(lengths > 0, lengths, 1)
    found: Floats = (unit @ unit.T).clip(-1, 1)
    return found


@dataclass(frozen=True)
class Shift:
    """How far one linear map for each shift 1 ... D takes a position to the one so many places on: errors (D,) each.

    An error is the length of what is missed by the length of the position vectors' spread around their mean: 0 is
    exact, 1 as bad as always saying the mean. ``seen`` on the positions that the map was fitted to, ``held`` on the
    others (every second one). ``control``: fitted in the same way to a sinusoidal table of the same size, held out.
    ``exact``: the sinusoidal table with the rotation that the formula gives.
    """

    shifts: Ints
    seen: Floats
    held: Floats
    control: Floats
    exact: Floats


def shift(positions: Floats) -> Shift:
    """The best linear shift (least squares, smallest norm, with a constant) of a position table (P, e), beside the
    sinusoidal one's. Raises SettingError with fewer than 8 positions."""
    rows, width = positions.shape
    if rows < 8:
        raise SettingError(f"A shift needs at least 8 positions to be fitted and tested, and there are {rows}.")
    wave = sinusoidal(rows, width + width % 2)
    shifts = np.arange(1, min(SHIFTS, rows // 4) + 1)
    learned = [_fitted(positions.astype(float), int(k)) for k in shifts]
    waves = [_fitted(wave, int(k))[1] for k in shifts]
    exact = [_error(wave[:-k] @ rotation(wave.shape[1], int(k)), wave[k:]) for k in shifts]
    seen, held = np.array(learned).T
    return Shift(shifts, seen, held, np.array(waves), np.array(exact))


def _fitted(table: Floats, k: int) -> tuple[float, float]:
    """Errors of the map fitted to every second position: on those, and on the others."""
    given, wanted = np.hstack([table[:-k], np.ones((len(table) - k, 1))]), table[k:]
    matrix = np.linalg.lstsq(given[::2], wanted[::2], rcond=1e-10)[0]  # (e + 1, e)
    return _error(given[::2] @ matrix, wanted[::2]), _error(given[1::2] @ matrix, wanted[1::2])


def _error(made: Floats, wanted: Floats) -> float:
    spread = np.linalg.norm(wanted - wanted.mean(axis=0))
    return float(np.linalg.norm(made - wanted) / max(spread, np.finfo(float).tiny))


def shift_table(found: Shift) -> pd.DataFrame:
    """One line for each shift."""
    return pd.DataFrame(
        {
            "shift": found.shifts, "learned, positions it was fitted to": found.seen,
            "learned, other positions": found.held, "sinusoidal, fitted, other positions": found.control,
            "sinusoidal, by its rotation": found.exact,
        }
    )  # fmt: skip


def shift_sentence(found: Shift) -> str:
    """What the errors say of this table."""
    one, last = float(found.held[0]), float(found.held[-1])
    verdict = (
        "so this table has learned a sense of distance too"
        if one < 0.3
        else "better than nothing, far from exact"
        if one < 0.9
        else "no better than the mean position"
    )
    return (
        f"For a sinusoidal table the shift is a rotation, exact but for rounding (error at most "
        f"{found.exact.max():.0e}). For the learned one the best linear map misses positions that it was not fitted "
        f"to by {one:.2f} for a shift of 1 and {last:.2f} for {found.shifts[-1]} (1 = saying the mean): {verdict}."
    )


def distances(bias: Floats) -> tuple[Ints, Floats]:
    """A relative bias (H, Q, K) by distance key - query: distances (M,), and (H, M) its mean over each diagonal."""
    heads, rows, columns = bias.shape
    steps = np.arange(1 - rows, columns)
    return steps, np.stack([[np.diagonal(bias[head], step).mean() for step in steps] for head in range(heads)])
