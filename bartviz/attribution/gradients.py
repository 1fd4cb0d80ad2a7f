"""Attribution by gradients: gradient x input, and integrated gradients.

Letters in shapes: P points of the line, n tokens of a stack, e embedding width, T steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from bartviz.attribution.embedded import Embedded, Embeddings
from bartviz.attribution.erasure import erased
from bartviz.attribution.question import Parts, Question
from bartviz.errors import SettingError
from bartviz.language import later

COMPLETE = 0.01
"""The numbers of a step sum to f at the text minus f at the baseline, up to this share of it."""
ROUNDING = 1e-3  # nats: what float32 leaves of a difference that is nothing
POINTS = (16, 32, 64, 128, 256, 512, 1024)  # of the line: the fewest that are enough


def times_input(question: Question) -> Parts:
    """The gradient of f with respect to a token's embedding, times the embedding (Shrikumar et al. 2016).

    It is the slope of f as the embedding is scaled: numbers are signed and have no fixed sum.
    """
    embedded = Embedded(question)
    own = embedded.of()

    def read(slopes: Embeddings) -> list[Tensor]:
        return [(slope * part).double().sum(-1)[0].cpu() for slope, part in zip(slopes, own, strict=True)]

    found = embedded.gradients(own, range(len(question.rows)), read)
    return _parts([torch.stack(rows) for rows in zip(*found, strict=True)])


def integrated(question: Question) -> Parts:
    """Integrated gradients along the straight line from a baseline, in which the mask token stands in place of every
    word, to the text (Sundararajan, Taly and Yan 2017, equation 1), by Gauss-Legendre quadrature.

    Both sides of an encoder-decoder move together. The numbers of a step sum to f at the text minus f at the baseline
    (there, section 3: completeness): as many points are used as bring the sum within 1% of it, and until
    twice as many move no number by more. Raises SettingError where the sum of 1,024 is not complete.
    """
    embedded = Embedded(question)
    own, base = embedded.of(), embedded.of(*erased(question))
    whole = (embedded.answers(own) - embedded.answers(base))[0].double()  # (T,)
    limit = (COMPLETE * whole.abs()).clamp(min=ROUNDING)
    found = [torch.full((len(whole), part.shape[1]), torch.inf, dtype=torch.float64) for part in own]
    steps = list(range(len(whole)))  # those whose numbers are not settled yet
    for points in POINTS:
        moved = torch.zeros_like(whole)
        for rows, integral in zip(found, _integral(embedded, own, base, steps, points), strict=True):
            moved[steps] = torch.maximum(moved[steps], (integral - rows[steps]).abs().max(1).values)
            rows[steps] = integral
        errors = (torch.stack([rows.sum(1) for rows in found]).sum(0) - whole).abs()
        steps = ((errors > limit) | (moved > limit)).nonzero()[:, 0].tolist()
        if not steps:
            break
    worst = int((errors - limit).argmax())
    if errors[worst] <= limit[worst]:
        return _parts(found)
    raise SettingError(
        later(
            "The integral of step {step} is {error:.3f} nats away from the {whole:.3f} nats that it should give, after "
            "{points:,} points; the limit is {limit:.0%}. Choose another step or method.",
            step=worst,
            error=float(errors[worst]),
            whole=float(whole[worst]),
            points=POINTS[-1],
            limit=COMPLETE,
        )
    )


def _integral(embedded: Embedded, own: Embeddings, base: Embeddings, steps: Sequence[int], points: int) -> list[Tensor]:
    """For each stack (steps, n): the mean gradient along the line, by this many points, times the way."""
    places, shares = np.polynomial.legendre.leggauss(points)
    at = torch.from_numpy((places + 1) / 2).float()[:, None, None]  # (P, 1, 1) of the way, from 0 to 1
    weights = torch.from_numpy(shares / 2)  # (P,), sum 1
    total = [torch.zeros(len(steps), part.shape[1], dtype=torch.float64) for part in own]
    for batch in embedded.question.batches(points):
        some = slice(batch.start, batch.stop)

        def read(slopes: Embeddings, some: slice = some) -> list[Tensor]:
            products = (((x - b) * slope).double() for x, b, slope in zip(own, base, slopes, strict=True))
            return [weights[some] @ part.sum(-1).cpu() for part in products]  # (n,) each

        line = tuple(b + at[some].to(b.device) * (x - b) for x, b in zip(own, base, strict=True))
        for step, sums in enumerate(embedded.gradients(line, steps, read)):
            for rows, part in zip(total, sums, strict=True):
                rows[step] += part
    return total


def _parts(found: Sequence[Tensor]) -> Parts:
    source, *earlier = (np.asarray(rows.float().numpy(), np.float32) for rows in found)
    return Parts(source, earlier[0] if earlier else None)
