"""Where the parameters are: embeddings, attention, feed-forward, and one matrix that is used three times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bartviz.language import mark
from bartviz.record.record import Record
from bartviz.teaching.lessons.lesson import Lesson, Step

if TYPE_CHECKING:  # every page reads this file; pandas comes with these, and only this lesson's answers need them
    from bartviz.analysis.parameters import Parameter

BASE, LARGE, TINY = "facebook/bart-base", "facebook/bart-large", "bart-tiny-en-de"


def _rows(name: str) -> tuple[Parameter, ...]:
    from bartviz.analysis.parameters import configuration, rows

    return rows(configuration(name))


def _embeddings(record: Record) -> Mapping[str, object]:
    from bartviz.analysis import parameter_totals

    found = _rows(BASE)
    largest, total = parameter_totals.shared(found)[0], parameter_totals.total(found)
    words, width = largest.shape
    return {
        "count": largest.elements,
        "words": words,
        "width": width,
        "share": parameter_totals.percent(largest.elements / total),
        "total": total,
    }


def _dictionary(found: tuple[Parameter, ...]) -> str:
    """The share of the one matrix of token embeddings, as the page writes it."""
    from bartviz.analysis import parameter_totals

    return parameter_totals.percent(parameter_totals.shared(found)[0].elements / parameter_totals.total(found))


def _shared(record: Record) -> Mapping[str, object]:
    from bartviz.analysis import parameter_totals

    found = _rows(BASE)
    total, naive, largest = (
        parameter_totals.total(found),
        parameter_totals.naive(found),
        parameter_totals.shared(found)[0],
    )
    places = 1 + (naive - total) // largest.elements  # the table lists it where it is kept and at each of its uses
    return {"total": total, "naive": naive, "uses": len(largest.uses), "places": places}


def _layer(found: tuple[Parameter, ...], component: str) -> dict[str, int]:
    """Parameters of the first layer of a component, by sublayer; the last norms of a layer go with their sublayer."""
    from bartviz.analysis import parameter_totals

    sums: dict[str, int] = {}
    for row in found:
        if row.component == component and row.layer == 0:
            name = parameter_totals.sublayer(row.role)
            sums[name] = sums.get(name, 0) + row.count
    return sums


def _sublayers(record: Record) -> Mapping[str, object]:
    found = _rows(BASE)
    layer = _layer(found, "encoder")
    attention, forward = layer["self-attention"], layer["feed-forward"]
    matrices = [row for row in found if row.component == "encoder" and row.layer == 0 and len(row.shape) > 1]
    square, wide = (next(row.count for row in matrices if row.role.startswith(name)) for name in ("self", "feed"))
    return {
        "attention": attention,
        "forward": forward,
        "times": forward / attention,
        "square": square,
        "wide": wide,
        "matrices": len(matrices),
    }


def _cross(record: Record) -> Mapping[str, object]:
    found = _rows(BASE)
    encoder, decoder = (sum(_layer(found, name).values()) for name in ("encoder", "decoder"))
    return {"encoder": encoder, "decoder": decoder, "more": decoder - encoder, "share": (decoder - encoder) / encoder}


def _large(record: Record) -> Mapping[str, object]:
    from bartviz.analysis import parameter_totals

    found: dict[str, object] = {}
    for name, model in (("base", BASE), ("large", LARGE)):
        of = _rows(model)
        found |= {name: parameter_totals.total(of), f"{name}_share": _dictionary(of)}
    return found


def _tiny(record: Record) -> Mapping[str, object]:
    from bartviz.analysis import parameter_totals

    of, base = _rows(TINY), _rows(BASE)
    total = parameter_totals.total(of)
    return {
        "total": total,
        "share": _dictionary(of),
        "times": parameter_totals.total(base) / total,
        "agrees": record.model.parameters,
    }


LESSON = Lesson(
    "parameters",
    mark("Where the parameters are"),
    mark("A map of a whole model: which matrix is the largest, what is shared, what grows with size."),
    7,
    (
        Step(
            "parameters",
            mark(
                "The whole of BART-base as a map: an area is a number of parameters. Nothing is downloaded, the "
                "configuration is enough."
            ),
            mark("Which single matrix is the largest?"),
            mark(
                "The embeddings: {words:,} tokens times {width} numbers make {count:,}, {share} of all "
                "{total:,}. More than a quarter of the model is its dictionary."
            ),
            {"of": BASE},
            facts=_embeddings,
        ),
        Step(
            "parameters",
            mark(
                "That matrix is hatched in the map. Beside the map are two columns: “counted once” and “wherever used”."
            ),
            mark("Why do the two sums differ? Which one is the size of the model?"),
            mark(
                "One matrix is used in {uses} places: to read the input, to read the output so far, and to choose the "
                "next token. Counted once, the model has {total:,} parameters. To count it in all {places} places of "
                "the table gives {naive:,}, and is wrong."
            ),
            {"of": BASE},
            facts=_shared,
        ),
        Step(
            "parameters",
            mark(
                "Now look at one layer of the encoder: in the map it has two areas, self-attention and feed-forward. "
                "The table lists its matrices, four of {square:,} in self-attention, two of {wide:,} in "
                "feed-forward."
            ),
            mark("Which of the two is larger, and by how much? Guess, then point at the two areas."),
            mark(
                "Feed-forward: {forward:,} against {attention:,} with biases and norms, {times:.1f} times as many. "
                "Everybody talks about attention, but most of what a layer has learned is stored next to it."
            ),
            {"of": BASE, "part": "encoder"},
            facts=_sublayers,
        ),
        Step(
            "parameters",
            mark(
                "The layers of the decoder are larger than those of the encoder: {decoder:,} parameters against "
                "{encoder:,}. Point at a layer of each in the map."
            ),
            mark("What does a layer of the decoder have that the encoder does not need?"),
            mark(
                "Cross-attention: queries, keys, values and output once more, with its norm {more:,} parameters, "
                "{share:.0%} of an encoder layer. That is the price of looking at a source."
            ),
            {"of": BASE, "part": "decoder"},
            facts=_cross,
        ),
        Step(
            "parameters",
            mark("BART-large: twice as many layers, and each of them wider."),
            mark("Is the share of that one matrix, the dictionary, larger or smaller than in BART-base?"),
            mark(
                "Smaller: {large_share} of {large:,}, against {base_share} of {base:,}. The dictionary only "
                "gets wider; layers get wider in both directions, and there are more of them."
            ),
            {"of": LARGE},
            facts=_large,
        ),
        Step(
            "parameters",
            mark("And this is the small model that all these lessons look at."),
            mark("How many times smaller than BART-base is it? And which share does its dictionary have?"),
            mark(
                "{times:.0f} times: {total:,} parameters, {share} of them in the dictionary. Every part is there, "
                "only smaller. That is enough for everyday sentences, and small enough to see through."
            ),
            {"of": TINY},
            facts=_tiny,
        ),
    ),
)
