"""The tables of an atlas that say what heads look at, and how far, from the sums over a corpus.

Letters in shapes: C = L H heads of one kind (layers x heads), V types of tokens, D bins of distances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.ratios import of_ratios
from bartviz.corpus.looks import BINS, LOOKS, Doubles, Look, Looks
from bartviz.record.attention import Kind

if TYPE_CHECKING:
    import pandas as pd

LEAST_TEXTS = 20
"""Texts that a token is in, at least: fewer say little about others, and their intervals hold less often."""
KEPT = 15  # tokens of each head and side, special ones apart
TOKENS = {"kind": str, "layer": int, "head": int, "side": str, "token": str, "special": int, "whole": int, "n": int}
TOKENS |= {"texts": int} | dict.fromkeys(("share", "even", "low", "high", "words_share", "words_even"), float)
DISTANCES = {"kind": str, "layer": int, "head": int, "special": int}
DISTANCES |= dict.fromkeys(("nearest", "farthest", "share", "low", "high", "even"), float)


def tokens(found: Mapping[Kind, Looks], shapes: Mapping[Kind, tuple[int, int]]) -> pd.DataFrame:
    """The tokens with the highest lower ends of their lifts, of each head and side."""
    import pandas as pd

    parts = [_side(kind, shapes[kind], of, side) for kind, of in found.items() if of.rows[1] for side in LOOKS]
    empty = pd.DataFrame({name: pd.Series(dtype=of) for name, of in TOKENS.items()})
    return pd.concat([part for part in parts if len(part)] or [empty], ignore_index=True).astype(TOKENS)


def _side(kind: Kind, shape: tuple[int, int], of: Looks, side: Look) -> pd.DataFrame:
    import pandas as pd

    types, rows = of.types[side], of.rows[1]
    every = types.counts[:, 3] >= LEAST_TEXTS
    counts, base, sums = types.counts[every], types.base[:, every], types.sums[:, every]
    special = 2 * counts[:, 2] > counts[:, 0]  # (V,)
    total, squares, products = sums  # (V, C) each
    lift, low, high = of_ratios(total, squares, products, base[0, :, None], base[1, :, None])
    even, words = base[0] / rows, (np.ones(len(of.given)), 1.0)
    if side == "key":
        words = _words(of)
    else:  # over what the head's mean row gives to other words
        with np.errstate(invalid="ignore", divide="ignore"):
            lift, low, high = (one * rows / of.given for one in (lift, low, high))
    place, head = _chosen(low, special)  # (N,)
    names = types.tokens[every]
    layer, number = np.divmod(head, shape[1])
    return pd.DataFrame(
        {"kind": kind, "layer": layer, "head": number, "side": side, "token": names[place], "special": special[place]}
        | {"whole": counts[place, 1], "n": counts[place, 0], "texts": counts[place, 3]}
        | {"share": lift[place, head] * even[place], "even": even[place]}
        | {"low": low[place, head], "high": high[place, head]}
        | {"words_share": words[0][head], "words_even": words[1]}
    )


def _words(of: Looks) -> tuple[Doubles, float]:
    """The shares of weight on tokens that are not special: of each head (C,), and of even attention."""
    share, even = of.distances[0].sum(axis=-1) / of.rows[1], of.even.sum() / of.rows[1]
    return np.minimum(share, 1), float(np.minimum(even, 1))


def _chosen(low: Doubles, special: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of types and their heads, (N,) each, by head and then from the highest lower end down: so many words
    and so many special tokens as are kept."""
    rank = np.where(np.isnan(low), np.inf, -low)  # (V, C)
    found = []
    for among in (np.flatnonzero(special), np.flatnonzero(~special)):
        best = np.argsort(rank[among], axis=0, kind="stable")[:KEPT]  # (at most KEPT, C)
        found.append(among[best])
    places = np.concatenate(found)
    places = np.take_along_axis(places, np.argsort(np.take_along_axis(rank, places, 0), axis=0, kind="stable"), 0)
    known = np.isfinite(np.take_along_axis(rank, places, 0))  # (up to 2 KEPT, C)
    head, at = np.nonzero(known.T)
    return places.T[head, at], head


def distances(found: Mapping[Kind, Looks], shapes: Mapping[Kind, tuple[int, int]]) -> pd.DataFrame:
    """The share of weight by signed distance, and on special tokens, of each head."""
    import pandas as pd

    parts = [_distances(kind, shapes[kind], of) for kind, of in found.items() if of.rows[1]]
    empty = pd.DataFrame({name: pd.Series(dtype=of) for name, of in DISTANCES.items()})
    return pd.concat(parts or [empty], ignore_index=True).astype(DISTANCES)


def _distances(kind: Kind, shape: tuple[int, int], of: Looks) -> pd.DataFrame:
    import pandas as pd

    _, rows, squares = of.rows
    total, of_squares, products = of.distances  # (C, D) each
    share, low, high = of_ratios(total, of_squares, products, np.array(rows), np.array(squares))
    words, even = _words(of)
    heads = len(share)
    nothing = np.full((heads, 1), np.nan)
    by_head = {
        "share": np.hstack([share, 1 - words[:, None]]),
        "low": np.hstack([low, nothing]),
        "high": np.hstack([np.minimum(high, 1), nothing]),
    }
    bins = np.vstack([BINS, [np.nan, np.nan]])
    layer, number = np.divmod(np.repeat(np.arange(heads), len(bins)), shape[1])
    return pd.DataFrame(
        {"kind": kind, "layer": layer, "head": number, "special": np.tile(np.isnan(bins[:, 0]), heads)}
        | {"nearest": np.tile(bins[:, 0], heads), "farthest": np.tile(bins[:, 1], heads)}
        | {name: values.ravel() for name, values in by_head.items()}
        | {"even": np.tile(np.append(of.even / rows, 1 - even), heads)}
    )
