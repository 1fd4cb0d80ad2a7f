"""What comes out of each box of the map for one text: its shape, and the numbers themselves where they are small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import other_tokens, plain_words
from bartviz.analysis.thumbnails import MASKED, thumbnails
from bartviz.features.map.numbers import Box, Column, Stack
from bartviz.language import _, mark, plural
from bartviz.language.percentages import fine, tenths
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.record.steps import Step, told_apart
from bartviz.text.tokens import Tokens

SIDE = 24  # cells along a side of a small map, at most
WORDS = 12  # tokens that a box shows
LIKELIEST = 5  # of the next token
LOOKS: Mapping[Kind, str] = {
    "encoder": mark("tokens look at each other"),
    "decoder": mark("no token looks ahead"),
    "cross": mark("from output to text"),
}


@dataclass(frozen=True, slots=True)
class Tensor:
    """What leaves a box: ``shape`` in words, and what of it can be shown.

    ``tokens`` are labels, of which the first ``written`` are there at the step shown (None: all); ``maps`` (L, h, w)
    uint8, the mean of the heads of each layer, 0 to 240, 250 where no token may look; ``bars`` the likeliest next
    tokens with their probabilities, and last that of all others.
    """

    shape: str = ""
    tokens: tuple[str, ...] = ()
    written: int | None = None
    maps: NDArray[np.uint8] | None = None
    bars: tuple[tuple[str, float], ...] = ()


def tensor(record: Record, column: Column, box: Box, *, plain: bool = False) -> Tensor:
    """What leaves this box of this column for the record's text. ``plain``: without candidates that are written as a
    likelier one is, else those are numbered; and with words instead of shapes that only experts read."""
    tokens = read(record, column.stack)
    count, width, step = len(tokens), record.model.width, first_word(record)
    match box.gives:
        case "tokens" if column.stack == "decoder" and step is not None:
            return Tensor(_written(tokens, step.row + 1), tuple(tokens.labels[: WORDS + 1]), step.row + 1)
        case "tokens":
            ends = plain and count > 2 and bool(tokens.special[0]) and bool(tokens.special[-1])
            message = mark("{count} tokens, with start and end mark") if ends else mark("{count} tokens")
            return Tensor(_(message, count=count), tuple(tokens.labels[: WORDS + 1]))
        case "weights":
            assert box.kind is not None
            shape = _looks(record, box.kind) if plain else _attention_shape(record, box.kind)
            return Tensor(shape, maps=maps(record, box.kind))
        case "scores" if step is not None:
            message = mark("{vocabulary:,} scores for the token after “{token}”")
            if plain:
                message = mark("the likeliest of {vocabulary:,} tokens after “{token}”")
            shape = _(message, vocabulary=record.model.vocabulary, token=tokens.labels[step.row])
            return Tensor(shape, bars=_with_rest(_likeliest(step, plain=plain), record.model.vocabulary))
        case "word":
            return Tensor(tokens=() if step is None else (step.chosen.label,))
        case "gaps":
            return Tensor(_("{count} × {vocabulary:,} scores", count=count, vocabulary=record.model.vocabulary))
        case "pair" if record.prediction is not None:
            follows, other = record.prediction.probabilities[0].tolist()
            return Tensor(bars=((_("it follows"), follows), (_("it does not"), other)))
        case "pair":
            return Tensor(_("only for two texts"))
        case "states" | "sum" if plain:
            return Tensor(_in_words(record, box))
        case "states" if width:
            return Tensor(_("{count} × {width} numbers", count=count, width=width))
    return Tensor()


def _looks(record: Record, kind: Kind) -> str:
    """Where the tokens look, and that a small map is of all heads of its layer."""
    heads, looks = record.attention(kind).shape[1], _(LOOKS[kind])
    if kind != "encoder" and record.steps:  # other boxes show one step
        return _("{looks} (all steps, mean of {heads} heads)", looks=looks, heads=heads)
    return looks if heads == 1 else _("{looks} (mean of {heads} heads)", looks=looks, heads=heads)


def _in_words(record: Record, box: Box) -> str:
    """What a box gives that has states or their sum, for a newcomer."""
    if box.gives == "sum":
        then_norm = record.model.known.norm == "post"
        return _("adds the input again, then rescales") if then_norm else _("adds the input again")
    if box.page == "inside":  # feed-forward
        return plain_words.part("feed-forward")
    return _("lists of numbers") if box.page == "inputs" else plain_words.part("embeddings")


def reading_maps() -> str:
    """How the small maps are read, for a newcomer."""
    read = _("In the small squares, each row is a token and each column one that it can look at: the darker, the more.")
    return f"{plain_words.head()} {read}"


def of_maps(record: Record) -> str:
    """What else there is in the small maps, for a newcomer."""
    said = [_("Each small square is the average of a layer's heads.")]
    if record.steps:
        said.append(_("The decoder's squares show all steps; in the grey part it may not look."))
    return " ".join(said)


def _written(tokens: Tokens, written: int) -> str:
    """How many of the decoder's tokens are there at the step shown."""
    message = mark("here the first {written} of {count} tokens")
    if tokens.special[:written].all():
        message = mark("here {written} of {count} tokens: only the start")
    return _(message, written=written, count=len(tokens))


def _likeliest(step: Step, *, plain: bool) -> list[tuple[str, float]]:
    names = zip(told_apart(step.candidates), step.candidates, strict=True)
    return [(label, one.probability) for label, one in names if not plain or label == one.label][:LIKELIEST]


def of_others(record: Record, *, plain: bool) -> str:
    """How little each of the other tokens has where none has much, but all together are seen; else empty."""
    step = first_word(record)
    if step is None:
        return ""
    shown = dict(_likeliest(step, plain=plain))
    names = zip(told_apart(step.candidates), step.candidates, strict=True)
    unseen = [one.probability for label, one in names if label not in shown]
    rest, count = 1 - sum(shown.values()), record.model.vocabulary - len(shown)
    if not other_tokens.add_up(shown.values(), max(unseen, default=1.0)):  # by default: they are not known
        return ""
    return _(
        "In the output, the {count:,} others have {share} together, but only {each} each on average.",
        count=count,
        share=tenths(rest),
        each=fine(rest / count),
    )


def _with_rest(bars: list[tuple[str, float]], vocabulary: int) -> tuple[tuple[str, float], ...]:
    """These tokens with their probabilities, and all others of the vocabulary together."""
    if len(bars) >= vocabulary:
        return tuple(bars)
    others = plural("{count:,} other", "{count:,} others", vocabulary - len(bars))
    return *bars, (others, max(0.0, 1 - sum(probability for _label, probability in bars)))


def first_word(record: Record) -> Step | None:
    """The step of the first word: no rule has decided it, and it is no special token; else the first step."""
    words = (step for step in record.steps if step.rule is None and not _is_special(record, step))
    return next(words, next(iter(record.steps), None))


def _is_special(record: Record, step: Step) -> bool:
    return record.output is not None and bool(record.output.special[step.row])


def read(record: Record, stack: Stack) -> Tokens:
    """The tokens that a stack reads."""
    return record.attention("encoder" if stack == "encoder" else "decoder").query


def maps(record: Record, kind: Kind) -> NDArray[np.uint8]:
    """(L, h, w): the mean of the heads of each layer, its cells the largest weight of a block of tokens."""
    cells = thumbnails(record.attention(kind)).cells  # (L, H, h, w)
    closed = cells[:, 0] == MASKED  # (L, h, w): a mask is the same for all heads
    mean = np.where(closed, 0, cells.astype(np.float32).mean(axis=1).round()).astype(np.uint8)
    return np.where(_pooled(closed, np.logical_and), MASKED, _pooled(mean, np.maximum)).astype(np.uint8)


def _pooled(cells: NDArray[Any], of: np.ufunc) -> NDArray[Any]:
    """The last two axes shortened to ``SIDE`` at most, by one number for each block of cells."""
    for axis in (1, 2):
        step = -(-cells.shape[axis] // SIDE)
        cells = of.reduceat(cells, np.arange(0, cells.shape[axis], step), axis=axis)
    return cells


def _attention_shape(record: Record, kind: Kind) -> str:
    _layers, heads, rows, columns = record.attention(kind).shape
    return _("{rows} × {columns}, mean over {heads} heads", heads=heads, rows=rows, columns=columns)
