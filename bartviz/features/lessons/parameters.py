"""Where the parameters are: embeddings, attention, feed-forward, and one matrix that is used three times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bartviz.features.lessons.answers import Choice, Number
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.language.percentages import percent
from bartviz.record.record import Record

if TYPE_CHECKING:  # these import pandas, which only this lesson's answers need
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
    next_largest = max(row.count for row in found if row.count < largest.elements)
    return {
        "next": next_largest,
        "positions": max(row.count for row in found if "position" in row.role),
        "quarter": largest.elements > total / 4,
        "count": largest.elements,
        "words": words,
        "width": width,
        "share": percent(largest.elements / total),
        "total": total,
    }


def _dictionary(rows: tuple[Parameter, ...]) -> str:
    """The share of the token embedding matrix, formatted as on the page."""
    from bartviz.analysis import parameter_totals

    return percent(parameter_totals.shared(rows)[0].elements / parameter_totals.total(rows))


def _shared(record: Record) -> Mapping[str, object]:
    from bartviz.analysis import parameter_totals

    found = _rows(BASE)
    total, naive, largest = (
        parameter_totals.total(found),
        parameter_totals.naive(found),
        parameter_totals.shared(found)[0],
    )
    places = 1 + (naive - total) // largest.elements  # the table lists it where it is stored and at each use
    return {"total": total, "naive": naive, "uses": len(largest.uses), "places": places, "count": largest.elements}


def _layer(rows: tuple[Parameter, ...], component: str) -> dict[str, int]:
    """The parameters of a component's first layer by sublayer; each norm counts with its sublayer."""
    from bartviz.analysis import parameter_totals

    sums: dict[str, int] = {}
    for row in rows:
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
        "more": forward > attention,
        "square": square,
        "wide": wide,
        "matrices": len(matrices),
    }


def _cross(record: Record) -> Mapping[str, object]:
    found = _rows(BASE)
    encoder, decoder = (sum(_layer(found, name).values()) for name in ("encoder", "decoder"))
    return {
        "encoder": encoder,
        "decoder": decoder,
        "more": decoder - encoder,
        "share": (decoder - encoder) / encoder,
        "larger": decoder > encoder,
        "forward": _layer(found, "decoder")["feed-forward"],
    }


def _large(record: Record) -> Mapping[str, object]:
    from bartviz.analysis import parameter_totals

    found: dict[str, object] = {}
    shares: list[float] = []
    for name, model in (("base", BASE), ("large", LARGE)):
        of = _rows(model)
        share = parameter_totals.shared(of)[0].elements / parameter_totals.total(of)
        shares.append(share)
        found |= {name: parameter_totals.total(of), f"{name}_share": percent(share)}
    return {**found, "smaller": shares[1] < shares[0]}


def _tiny(record: Record) -> Mapping[str, object]:
    from bartviz.analysis import parameter_totals

    of, base = _rows(TINY), _rows(BASE)
    total = parameter_totals.total(of)
    return {
        "total": total,
        "share": _dictionary(of),
        "times": parameter_totals.total(base) / total,
        "agrees": record.model.parameters,
        "base": parameter_totals.total(base),
    }


def _times(record: Record) -> float:
    found = _tiny(record)["times"]
    assert isinstance(found, float)
    return found


LESSON = Lesson(
    "parameters",
    7,
    (
        Step("parameters", {"of": BASE}, facts=_embeddings, answer=Choice()),
        Step("parameters", {"of": BASE}, facts=_shared, answer=Choice()),
        Step("parameters", {"of": BASE, "part": "encoder"}, facts=_sublayers, answer=Choice()),
        Step("parameters", {"of": BASE, "part": "decoder"}, facts=_cross, answer=Choice()),
        Step("parameters", {"of": LARGE}, facts=_large, answer=Choice()),
        Step("parameters", {"of": TINY}, facts=_tiny, answer=Number(_times, within=0.1)),
    ),
    numbers=True,
)
