"""Attribution by gradients: gradient x input, the same of a contrast, and integrated gradients.

Letters in shapes: P points of the line, n tokens of a stack, e embedding width, T steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from bartviz.attribution.embedded import Embedded, Embeddings
from bartviz.attribution.erasure import erased
from bartviz.attribution.question import Parts, Question
from bartviz.errors import SettingError
from bartviz.language import later

Piece = tuple[float, float]
"""Of the line from the baseline, 0, to the text, 1: where it starts and ends."""
COMPLETE = 0.01
"""The numbers of a step sum to f at the text minus f at the baseline, up to this share of it."""
ROUNDING = 1e-3  # nats: what float32 leaves of a difference that is nothing
POINTS = 8  # of Gauss and Legendre in each piece of the line
PIECES, NARROWEST = 2, 1 / 1024  # at first, and the smallest that is halved no more


def times_input(question: Question) -> Parts:
    """The gradient of f with respect to a token's embedding, times the embedding (Shrikumar et al. 2016).

    It is the slope of f as the embedding is scaled: numbers are signed and have no fixed sum.
    """
    embedded = Embedded(question)
    own = embedded.of()

    def read(slopes: Embeddings) -> list[Tensor]:
        return [(slope * part).double().sum(-1)[0].cpu() for slope, part in zip(slopes, own, strict=True)]

    found = embedded.gradients(own, range(len(question.rows)), read)
    return _parts(question, [torch.stack(rows) for rows in zip(*found, strict=True)])


def contrast(question: Question) -> Parts:
    """Gradient x input of the token's logit minus that of another one: why this word, and not that one (Yin and Neubig
    2022, section 3). Where no other token is named, it is the likeliest other one of each step.

    What speaks for both words alike, such as what makes any verb likely, cancels out.
    """
    return times_input(question.contrasted)


def integrated(question: Question) -> Parts:
    """Integrated gradients along the straight line from a baseline, in which the mask token stands in place of every
    word, to the text (Sundararajan, Taly and Yan 2017, equation 1).

    Both sides of an encoder-decoder move together. The numbers of a step sum to f at the text minus f at the baseline
    (there, section 3: completeness). The same holds for every piece of the line, so what is wrong with a piece is
    known: those are halved that are not complete, until their errors together are at most 1% of the whole. f is steep
    in few places, so most of the points are there. Raises SettingError where pieces of 1/1,024 are not enough.
    """
    embedded = Embedded(question)
    line = _Line(embedded, embedded.of(), embedded.of(*erased(question)))
    pieces = [(piece / PIECES, (piece + 1) / PIECES) for piece in range(PIECES)]
    whole = line.rises(pieces).sum(0)
    limit = (COMPLETE * whole.abs()).clamp(min=ROUNDING)  # (T,)
    total = [torch.zeros(len(whole), part.shape[1], dtype=torch.float64) for part in line.own]
    off = torch.zeros_like(whole)  # of the pieces that are done, without sign
    points = 0
    while pieces:
        points += POINTS * len(pieces)
        found = line.integrals(pieces)  # for each stack (pieces, T, n)
        wrong = line.rises(pieces) - sum(part.sum(-1) for part in found)
        enough = bool((off + wrong.abs().sum(0) <= limit).all())
        halves = list[Piece]()
        for index, (start, end) in enumerate(pieces):
            if not enough and end - start > NARROWEST and (wrong[index].abs() > limit * (end - start)).any():
                middle = (start + end) / 2
                halves += [(start, middle), (middle, end)]
                continue
            off += wrong[index].abs()
            total = [rows + part[index] for rows, part in zip(total, found, strict=True)]
        pieces = halves
    errors = (torch.stack([rows.sum(1) for rows in total]).sum(0) - whole).abs()
    worst = int((errors - limit).argmax())
    if errors[worst] <= limit[worst]:
        return _parts(question, total)
    raise SettingError(
        later(
            "The integral of step {step} is {error:.3f} nats away from the {whole:.3f} nats that it should give, after "
            "{points:,} points; the limit is {limit:.0%}. Choose another step or method.",
            step=worst,
            error=float(errors[worst]),
            whole=float(whole[worst]),
            points=points,
            limit=COMPLETE,
        )
    )


class _Line:
    """The straight line from the embeddings of the baseline (0) to those of the text (1)."""

    def __init__(self, embedded: Embedded, own: Embeddings, base: Embeddings) -> None:
        self.embedded, self.own, self.base = embedded, own, base
        self._known = dict[float, Tensor]()  # f (T,)

    def at(self, places: Tensor) -> Embeddings:
        """The embeddings (P, n, e) at places (P,)."""
        way = places.float()[:, None, None]
        return tuple(b + way.to(b.device) * (x - b) for x, b in zip(self.own, self.base, strict=True))

    def rises(self, pieces: Sequence[Piece]) -> Tensor:
        """(pieces, T) f at the end of each piece minus f at its start."""
        places = [place for place in dict.fromkeys(chain(*pieces)) if place not in self._known]
        for batch in self.embedded.question.batches(len(places)):
            some = places[batch.start : batch.stop]
            answers = self.embedded.answers(self.at(torch.tensor(some, dtype=torch.float64))).double()
            self._known.update(zip(some, answers, strict=True))
        return torch.stack([self._known[end] - self._known[start] for start, end in pieces])

    def integrals(self, pieces: Sequence[Piece]) -> list[Tensor]:
        """For each stack (pieces, T, n): the integral of the gradient over each piece, times the way."""
        nodes, shares = (torch.from_numpy(part) / 2 for part in np.polynomial.legendre.leggauss(POINTS))
        starts, ends = torch.tensor(pieces, dtype=torch.float64)[:, :, None].unbind(1)  # (pieces, 1) each
        widths = ends - starts
        places, weights = (starts + widths * (nodes + 0.5)).flatten(), (widths * shares).flatten()  # (P,)
        steps = range(len(self.embedded.question.rows))
        slopes: list[list[list[Tensor]]] = [[[] for _ in steps] for _ in self.own]
        for batch in self.embedded.question.batches(len(places)):
            some = slice(batch.start, batch.stop)

            def read(found: Embeddings, some: slice = some) -> list[Tensor]:
                products = (((x - b) * slope).double() for x, b, slope in zip(self.own, self.base, found, strict=True))
                return [weights[some, None] * part.sum(-1).cpu() for part in products]  # (B, n) each

            for step, parts in enumerate(self.embedded.gradients(self.at(places[some]), steps, read)):
                for stack, part in enumerate(parts):
                    slopes[stack][step].append(part)
        return [
            torch.stack([torch.cat(rows).reshape(len(pieces), POINTS, -1).sum(1) for rows in stack], dim=1)
            for stack in slopes
        ]


def _parts(question: Question, found: Sequence[Tensor]) -> Parts:
    """The numbers of the stacks; those of a decoder's inputs after the last step, which is not given them, are 0."""
    source, *earlier = (np.asarray(rows.float().numpy(), np.float32) for rows in found)
    if not earlier:
        return Parts(source)
    unread = question.record.attention("decoder").shape[2] - earlier[0].shape[1]
    return Parts(source, np.pad(earlier[0], ((0, 0), (0, unread))))
