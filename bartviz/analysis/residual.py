"""The residual sum of one token in one layer: what attention and the feed-forward part add to its vector.

Post-norm (BERT, BART): x <- LayerNorm(x + part(x)); pre-norm (GPT-2, T5): x <- x + part(LayerNorm(x)) (Xiong et al.
2020). Letters in shapes: D width of the model, f width of the feed-forward part. NumPy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bartviz.analysis.masks import quote
from bartviz.analysis.readonly import Brief
from bartviz.arrays import Floats
from bartviz.language import _, mark

LIMIT = 1e-4  # how far the result may be from the network's own state, relative to its largest number
Stack = Literal["encoder", "decoder"]
BEFORE = mark("before the layer")
ADDS = {
    "self-attention": mark("self-attention adds"),
    "cross-attention": mark("cross-attention adds"),
    "feed-forward": mark("feed-forward adds"),
}
AFTER = {
    "self-attention": mark("after self-attention"),
    "cross-attention": mark("after cross-attention"),
    "feed-forward": mark("after the layer"),
}


@dataclass(frozen=True, repr=False)
class Residual(Brief):
    """One token's way through one layer.

    ``before`` (D,) enters the layer. ``added`` (D,) each: what self-attention, cross-attention (in a decoder with an
    encoder) and the feed-forward part add, in this order; ``states`` (D,) each: the vector after that sum and, in a
    post-norm model, after LayerNorm. ``inner`` (f,): the feed-forward part's numbers between its two matrices, after
    the activation. ``error``: the largest difference between the last state and the network's own, relative to the
    network's largest number (at least 1).
    """

    model: str
    stack: Stack
    layer: int
    row: int
    token: str
    norm: Literal["post", "pre"]
    before: Floats
    added: Mapping[str, Floats]
    states: Mapping[str, Floats]
    inner: Floats
    error: float

    @property
    def vectors(self) -> dict[str, Floats]:
        """The vectors (D,) in their order, by what they are: before, added, after, added, ..."""
        found = {BEFORE: self.before}
        for name, vector in self.added.items():
            found |= {ADDS[name]: vector, AFTER[name]: self.states[name]}
        return found

    @property
    def after(self) -> Floats:
        """(D,) the vector that leaves the layer."""
        return self.states["feed-forward"]

    @property
    def passed(self) -> bool:
        return self.error <= LIMIT


def length(vector: Floats) -> float:
    """The length (Euclidean norm) of a vector."""
    return float(np.linalg.norm(vector.astype(float)))


def cosine(a: Floats, b: Floats) -> float:
    """The cosine of two vectors; 0 if one of them has no length."""
    sizes = length(a) * length(b)
    return float(a.astype(float) @ b.astype(float)) / sizes if sizes else 0.0


def table(one: Residual) -> pd.DataFrame:
    """One line for each vector: its length, and its cosine with the vector before the layer."""
    vectors = one.vectors
    return pd.DataFrame(
        {
            "vector": list(vectors),
            "length": [length(vector) for vector in vectors.values()],
            "cosine with before": [cosine(vector, one.before) for vector in vectors.values()],
        }
    )


def arrays(one: Residual) -> dict[str, NDArray[np.generic]]:
    """The vectors by their English names, and the inner numbers of the feed-forward part."""
    return {**{name.replace(" ", "_"): vector for name, vector in one.vectors.items()}, "inner": one.inner}


def sentence(one: Residual) -> str:
    """How far the layer moves the token, and which part adds most."""
    lengths = {name: length(vector) for name, vector in one.added.items()}
    most = max(lengths, key=lambda name: lengths[name])
    return _(
        "Layer {layer} adds to the state of {token}: “{part}” adds the longest vector, {most:.2f} compared "
        "with {before:.2f} before the layer. The cosine of before and after is {cosine:.2f}.",
        layer=one.layer,
        token=quote(one.token),
        part=_(most),
        most=lengths[most],
        before=length(one.before),
        cosine=cosine(one.before, one.after),
    )


def feed_forward(one: Residual) -> str:
    """The sizes of the feed-forward part, how many of its inner numbers are above 0, and the position of LayerNorm."""
    made = _(
        "The feed-forward part expands {width:,} numbers to {inner:,}, applies its activation ({share:.0%} "
        "of the results are above 0), and projects them back to {width:,}.",
        width=len(one.before),
        inner=len(one.inner),
        share=float((one.inner > 0).mean()),
    )
    normed = (
        mark("LayerNorm follows each sum, so a length after it says little.")
        if one.norm == "post"
        else mark("LayerNorm comes before each part, so the vector itself is changed by sums only.")
    )
    return f"{made} {_(normed)}"
