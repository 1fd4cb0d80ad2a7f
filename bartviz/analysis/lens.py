"""What a model would say if it stopped after an earlier layer: its output layer reads the states of every layer.

Of a decoder, or of an encoder that fills masks, that is the logit lens (nostalgebraist 2020); of the encoder of an
encoder-decoder, the whole decoder reads each layer's states (DecoderLens, Langedijk et al. 2024). An early layer never
learned to be read so: a bad first choice there is no proof that the layer knows nothing. NumPy alone.

Letters in shapes: L layers of the stack, T steps, k best tokens that are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.masks import quote
from bartviz.analysis.readonly import Brief
from bartviz.analysis.residual import Stack
from bartviz.arrays import Floats, Ints
from bartviz.language import _, mark

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Lens(Brief):
    """The predictions of a model from each layer of one stack, for the tokens of a record.

    Index 0 of the first axis are the embeddings, index l the states after layer l - 1 as everywhere else in bartviz,
    index L the states that the model uses itself. ``steps`` (T,) labels and ``ids`` (T,) of the tokens that the record
    has; ``rows`` (T,) of the last stack predict them. For each layer and step: ``labels``, ``best`` (L + 1, T, k) and
    ``probabilities`` (L + 1, T, k), the largest first; ``probability`` (L + 1, T) and ``rank`` (L + 1, T), from 1, of
    the record's token; ``entropy`` (L + 1, T) in bits over the vocabulary.
    """

    model: str
    stack: Stack
    decodes: bool  # whether a decoder reads the states of an encoder
    rows: Ints
    ids: Ints
    steps: tuple[str, ...]
    best: Ints
    labels: tuple[tuple[tuple[str, ...], ...], ...]
    probabilities: Floats
    probability: Floats
    rank: Ints
    entropy: Floats

    def __repr__(self) -> str:
        return f"<Lens of the {self.stack}: {self.layers} layers, {len(self.steps)} steps>"

    @property
    def layers(self) -> int:
        """L"""
        return len(self.rank) - 1

    @property
    def settled(self) -> Ints:
        """(T,) the first index from which on the record's token is the first choice; L + 1 where it is not even at the
        end."""
        first = self.rank == 1  # (L + 1, T)
        kept = np.logical_and.accumulate(first[::-1], axis=0)
        return np.asarray(len(first) - kept.sum(axis=0), np.int64)

    def to_dataframe(self) -> pd.DataFrame:
        """One line for each layer and step (from 0): after which layer, the record's token, its probability and rank,
        the first choice and its probability, the entropy in bits."""
        import pandas as pd

        lines = [
            (
                "embedding" if layer == 0 else f"L{layer - 1}",
                step,
                self.steps[step],
                float(self.probability[layer, step]),
                int(self.rank[layer, step]),
                self.labels[layer][step][0],
                float(self.probabilities[layer, step, 0]),
                float(self.entropy[layer, step]),
            )
            for layer in range(self.layers + 1)
            for step in range(len(self.steps))
        ]
        columns = ["after", "step", "token", "probability", "rank", "first choice", "its probability", "entropy"]
        return pd.DataFrame(lines, columns=columns)


def layer_name(index: int) -> str:
    """The name of a line: the embeddings, or the states after a layer, which is counted from 0."""
    return _("embeddings") if index == 0 else _("after layer {layer}", layer=index - 1)


def sentence(one: Lens) -> str:
    """After which layer most of the record's tokens are the first choice and stay so, and which of them comes last."""
    settled, count = one.settled, len(one.steps)
    there = [int((settled <= index).sum()) for index in range(one.layers + 1)]
    index = next((index for index, same in enumerate(there) if 2 * same > count), None)
    if index is None:
        return _("Even after the last layer most of the {count} tokens are not the model's first choice.", count=count)
    late = int(settled.argmax())
    token = quote(one.steps[late])
    if count == 1:
        alone = mark("After layer {layer}, {token} becomes the model's first choice and stays so.")
        early = mark("{token} is the first choice from the embeddings on.")
        return _(alone if index else early, layer=index - 1, token=token)
    most = mark("After layer {layer}, {same} of {count} tokens are the model's first choice, and stay so.")
    said = _(
        most if index else mark("Of {count} tokens, {same} are the first choice from the embeddings on."),
        layer=index - 1,
        same=there[index],
        count=count,
    )
    if settled[late] == index:
        return said
    last = mark("The last to come is {token}, after layer {layer}.")
    never = mark("{token} is not the first choice even after the last layer.")
    return f"{said} {_(never if settled[late] > one.layers else last, layer=int(settled[late]) - 1, token=token)}"


def arrays(one: Lens) -> dict[str, NDArray[np.generic]]:
    """The numbers of every layer and step by their names."""
    names = ("ids", "best", "probabilities", "probability", "rank", "entropy")
    return {name: getattr(one, name) for name in names}
