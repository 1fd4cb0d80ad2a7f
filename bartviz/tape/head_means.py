"""The mean output of every head over the positions of a text, or of many: what mean ablation puts in a head's place.

Letters in shapes: B texts of a batch, Q rows, L layers, H heads, d head width.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record.attention import Kind
from bartviz.tape.tape import Tape


@dataclass
class Averaging(Tape):
    """A tape that also keeps, for each layer, the mean output of its heads for each text: ``means`` (B, 1, H, d).

    ``rows``: for a kind, which rows count, (B, Q) or (Q,) bool; all of them by default.
    """

    rows: Mapping[Kind, Tensor] = field(default_factory=dict)
    means: dict[tuple[Kind, int], Tensor] = field(default_factory=dict)

    def outputs_of(self, kind: Kind, layer: int, outputs: Tensor) -> Tensor:
        """Keep the mean over the rows; the outputs themselves are those of any tape."""
        counted = self.rows.get(kind, torch.ones(outputs.shape[1], dtype=torch.bool))
        weights = counted.reshape(-1, outputs.shape[1]).to(outputs)[..., None, None]  # (B or 1, Q, 1, 1)
        self.means[kind, layer] = (outputs * weights).sum(dim=1, keepdim=True) / weights.sum(dim=1, keepdim=True)
        return super().outputs_of(kind, layer, outputs)


@dataclass(frozen=True, eq=False, repr=False)
class HeadMeans:
    """The mean output of every head of a model over the positions of some texts, before the output projection.

    ``outputs``: for each kind (L, H, d); ``fingerprint`` of the model; ``texts`` that were read, and ``positions``, the
    rows of each kind that were averaged. ``bartviz.head_means`` computes it.

    >>> means = bartviz.head_means(model, [("It is late.", "Es ist spät.")])
    >>> means.positions["encoder"], means.outputs["encoder"][3, 1].shape  # layer 3, head 1
    (6, (32,))
    """

    outputs: Mapping[Kind, Floats]
    fingerprint: str
    texts: int
    positions: Mapping[Kind, int]

    def __post_init__(self) -> None:
        for values in self.outputs.values():
            values.setflags(write=False)

    def __repr__(self) -> str:
        return f"<HeadMeans of {self.texts:,} texts: {', '.join(self.outputs)}>"

    @property
    def digest(self) -> str:
        """Sixteen characters that are equal for equal means."""
        whole = hashlib.sha256(self.fingerprint.encode())
        for kind, outputs in sorted(self.outputs.items()):
            whole.update(kind.encode() + np.ascontiguousarray(outputs).tobytes())
        return whole.hexdigest()[:16]

    def check(self, fingerprint: str) -> None:
        """Raise SettingError for the means of another model."""
        if self.fingerprint != fingerprint:
            raise SettingError(
                later("The means are of another model, or of other weights: compute them with bartviz.head_means.")
            )

    def toward(self) -> dict[tuple[Kind, int], Tensor]:
        """What a tape scales toward: (H, d) for each kind and layer."""
        return dict(self._layers())

    def _layers(self) -> Iterator[tuple[tuple[Kind, int], Tensor]]:
        for kind, outputs in self.outputs.items():
            for layer, of_layer in enumerate(outputs):
                yield (kind, layer), torch.from_numpy(np.array(of_layer))


Mean = bool | HeadMeans
"""What a silenced head's output becomes: 0 (False), its mean over the text's positions (True), or given means."""
