"""Lines 9 to 11: masks, and the number that is added for them."""

from __future__ import annotations

import numpy as np

from bartviz.analysis import mask_patterns, mask_value
from bartviz.analysis.masks import shape
from bartviz.arrays import Floats
from bartviz.features.textbook.judging import Claim, Evidence, Number, Share, Verdict, below, yes
from bartviz.language import later

SHORT = 512
LONG, WINDOW = 4096, 256  # tokens of a long document; Longformer looks at 256 to each side


def _masks(evidence: Evidence) -> Verdict:
    record, basis, _deep = evidence.written()
    found = {kind: shape(record.attention(kind).mask) for kind in record.kinds}
    n, m = (len(record.attention(kind).query) for kind in ("encoder", "decoder"))
    encoder, decoder, cross = (found[kind] for kind in ("encoder", "decoder", "cross"))
    first = record.attention("decoder").head(0, 0)[0]  # (m,)
    numbers = (
        Number(later("encoder, n × n: open cells"), n * n, encoder.open),
        Number(later("decoder, m × m lower triangle: open cells"), m * (m + 1) // 2, decoder.open),
        Number(later("decoder: no open cell above the diagonal"), yes(True), yes(decoder.causal or m == 1)),
        Number(later("cross, m × n: open cells"), m * n, cross.open),
        Number(later("first decoder row: weight on itself"), 1, float(first[0]), within=1e-6),
    )
    why = later(
        "With n = {n} and m = {m} the three squares are full, a triangle, and full, for a single text.", n=n, m=m
    )
    return Verdict(numbers, why, basis)


def _number(_evidence: Evidence) -> Verdict:
    scores = np.array([1.5, 0.5, 3.0, -1.0], np.float32)  # the third key is closed
    mask = np.array([True, True, False, True])
    numbers = [_weight(scores, mask, name) for name in ("-10,000", "-1e9", "-inf")]
    least = next(small for small in range(-90, -120, -1) if not mask_value.softmax_added(scores, mask, float(small))[2])
    small = float(mask_value.softmax_added(scores, mask, -50.0)[2])
    numbers.append(Number(later("weight after adding {number}", number="-50"), 0, small, core=False))
    for name in ("-10,000", "-1e9", "-inf"):
        row = mask_value.softmax_added(scores, np.zeros(4, np.bool_), mask_value.number_of(name))
        told = "NaN" if np.isnan(row).any() else " ".join(f"{weight:.2f}" for weight in row)
        label = later("a row fully masked by {number}", number=name)
        numbers.append(Number(label, "0.00 0.00 0.00 0.00", told, core=False))
    why = later(
        "In float32 the weight is exactly 0, not just about 0, from {least} on for these scores; but a fully "
        "masked row gets weights all the same: as if unmasked, uniform, or NaN.",
        least=least,
    )
    return Verdict(tuple(numbers), why, later("four scores, softmax step by step in float32"))


def _weight(scores: Floats, mask: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], name: str) -> Number:
    weight = float(mask_value.softmax_added(scores, mask, mask_value.number_of(name))[~mask][0])
    return Number(later("weight after adding {number}", number=name), 0, weight, within=1e-6)


def _patterns(_evidence: Evidence) -> Verdict:
    n, bigram, prefix = 12, mask_patterns.pattern("bigram", 12), mask_patterns.pattern("prefix", 12, prefix=5)
    causal = n * (n + 1) // 2
    window = mask_patterns.pattern("longformer", SHORT, window=32, reach=1)
    long = _cells(LONG, WINDOW)
    share = long / LONG**2
    numbers = (
        Number(later("bigram mask, n = 12: open cells, 2n - 1"), 23, int(bigram.sum())),
        Number(
            later("an arbitrary mask, a prefix of 5, n = 12: triangle and what the prefix adds"),
            causal + 10,
            int(prefix.sum()),
        ),
        Number(
            later("window of 32 to each side and one global token, n = 512: open cells"),
            _cells(SHORT, 32),
            int(window.sum()),
        ),
        Number(later("window of 256 to each side, n = 4,096: open cells of n × n"), below(Share(0.25)), Share(share)),
    )
    why = later(
        "A window's cells grow with n, not with n squared: at 4,096 tokens {share:.1%} of the full square are "
        "left to compute.",
        share=share,
    )
    return Verdict(numbers, why, later("patterns built cell by cell"))


def _cells(n: int, window: int) -> int:
    """The number of open cells for n tokens with a window of ``window`` to each side and one global token."""
    return n * (2 * window + 1) - window * (window + 1) + 2 * (n - window - 1)


CLAIMS: tuple[Claim, ...] = (
    Claim("9", "masks", ("bart chapter", "korean", "seq"), "masks", {"view": "pattern"}, _masks, about="any network"),
    Claim("9b", "masks", ("bert chapter",), "masks", {"about": "padding"}, about="any network"),
    Claim("9c", "masks", ("bart chapter",), "masks", {"view": "pattern"}, about="any network"),
    Claim(
        "10",
        "masks",
        ("bert chapter", "korean", "notes"),
        "masks",
        {"view": "additive", "number": "-10,000", "about": "zero"},
        _number,
    ),
    Claim("11", "masks", ("bert chapter", "notes"), "masks", {"about": "patterns", "pattern": "longformer"}, _patterns),
)
