"""Distance in a position table: cosines, how linear a shift is, and T5's relative bias.

Letters in shapes: P rows of the table, e width of the embeddings, D shifts, H heads. NumPy alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bartviz.arrays import Ints
from bartviz.errors import SettingError
from bartviz.language import _, later

SHIFTS = 16
Floats = NDArray[np.floating]  # of 32 or 64 bits


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
        raise SettingError(later("Sines and cosines come in pairs: choose an even width."))
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
    """How well one linear map per shift 1 ... D maps each position to the position that many tokens later: errors (D,)
    each.

    An error is the length of the residual divided by the spread of the position vectors around their mean: 0 is exact,
    1 is as bad as predicting the mean. ``seen`` on the positions that the map was fitted to, ``held`` on the others
    (every second one). ``control``: fitted in the same way to a sinusoidal table of the same size, held out. ``exact``:
    the sinusoidal table with the rotation that the formula gives.
    """

    shifts: Ints
    seen: Floats
    held: Floats
    control: Floats
    exact: Floats


def shift(positions: Floats) -> Shift:
    """The best linear shift (least squares, smallest norm, with a constant) of a position table (P, e), compared with
    the sinusoidal one's. Raises SettingError with fewer than 8 positions."""
    rows, width = positions.shape
    if rows < 8:
        raise SettingError(
            later("A shift needs at least 8 positions to be fitted and tested, and there are {count}.", count=rows)
        )
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
            "shift": found.shifts,
            "learned, positions it was fitted to": found.seen,
            "learned, other positions": found.held,
            "sinusoidal, fitted, other positions": found.control,
            "sinusoidal, by its rotation": found.exact,
        }
    )


def shift_sentence(found: Shift) -> str:
    """One sentence: what the errors say about this table."""
    one, last = float(found.held[0]), float(found.held[-1])
    verdict = _("no better than the mean position")
    if one < 0.9:
        verdict = _("better than nothing, far from exact")
    if one < 0.3:
        verdict = _("so this table has learned a sense of distance too")
    return _(
        "For a sinusoidal table the shift is a rotation, exact up to rounding (error at most {error:.0e}). "
        "For the learned one the best linear map misses held-out positions by {one:.2f} for a shift of 1 and "
        "{last:.2f} for {shift} (1 = predicting the mean): {verdict}.",
        error=found.exact.max(),
        one=one,
        last=last,
        shift=found.shifts[-1],
        verdict=verdict,
    )


def distances(bias: Floats) -> tuple[Ints, Floats]:
    """A relative bias (H, Q, K) by distance key - query: distances (M,), and (H, M) its mean over each diagonal."""
    heads, rows, columns = bias.shape
    steps = np.arange(1 - rows, columns)
    return steps, np.stack([[np.diagonal(bias[head], step).mean() for step in steps] for head in range(heads)])
