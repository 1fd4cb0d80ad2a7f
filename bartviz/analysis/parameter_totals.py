"""Totals of a model's parameters by part, shared matrices, and the comparison with a built model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import pandas as pd

from bartviz.analysis import matrix_titles
from bartviz.analysis.parameters import Built, Component, Parameter
from bartviz.language import _, mark, plural
from bartviz.language.percentages import percent

Part = Literal["embeddings", "encoder layers", "decoder layers", "head"]
PARTS: tuple[Part, ...] = ("embeddings", "encoder layers", "decoder layers", "head")
COMPONENTS: tuple[Component, ...] = ("shared", "encoder", "decoder", "head")
SUBLAYERS = ("self-attention", "cross-attention", "feed-forward")

# What a matrix is used for, by the component and role of the row that uses it.
_USES: Mapping[tuple[str, str], str] = {
    ("encoder", "token embedding"): mark("encoder input"),
    ("decoder", "token embedding"): mark("decoder input"),
    ("head", "output layer weight"): mark("output layer"),
    ("head", "output layer bias"): mark("output layer"),
}


@dataclass(frozen=True, slots=True)
class Shared:
    """A matrix used in several places, counted once, at ``name``. ``uses`` lists its uses in reading order."""

    name: str
    role: str
    shape: tuple[int, ...]
    elements: int
    uses: tuple[str, ...]


def part(row: Parameter) -> Part:
    """Which of the four parts a matrix belongs to; embeddings take their layer norm and projection with them."""
    if row.component == "head":
        return "head"
    if row.component == "shared" or (row.layer is None and not row.role.startswith("final")):
        return "embeddings"
    return "encoder layers" if row.component == "encoder" else "decoder layers"


def sublayer(role: str) -> str:
    """Which sublayer of a layer a role belongs to, its layer norm included."""
    if role == "relative position bias":
        return "self-attention"
    return next((name for name in SUBLAYERS if role.startswith(name)), role)


def parts(rows: Sequence[Parameter]) -> dict[str, int]:
    """Parameters by part, each counted once; sums to the model's size."""
    found: Counter[str] = Counter()
    for row in rows:
        found[part(row)] += row.count
    return {name: found[name] for name in PARTS}


def by_component(rows: Sequence[Parameter]) -> pd.DataFrame:
    """component, counted (each matrix once), used (every matrix that the component uses)."""
    found = [
        (name, sum(row.count for row in mine), sum(row.elements for row in mine))
        for name in COMPONENTS
        if (mine := [row for row in rows if row.component == name])
    ]
    return pd.DataFrame(found, columns=["component", "counted", "used"])


def coarse(rows: Sequence[Parameter]) -> list[tuple[Component, str, int, int, int]]:
    """The parts in reading order: component, role ("" of layers), how many layers (0 of others), parameters, those of
    every matrix that it uses. All layers of a component are one part, and so are a weight and its bias.
    """
    found: Counter[tuple[Component, str]] = Counter()
    used: Counter[tuple[Component, str]] = Counter()
    for row in rows:
        role = "" if row.layer is not None else row.role.removesuffix(" weight").removesuffix(" bias")
        found[row.component, role] += row.count
        used[row.component, role] += row.elements
    layers = Counter(
        component for component, layer in {(row.component, row.layer) for row in rows} if layer is not None
    )
    return [
        (component, role, 0 if role else layers[component], count, used[component, role])
        for (component, role), count in found.items()
    ]


def total(rows: Sequence[Parameter]) -> int:
    """Parameters of the model, each counted once."""
    return sum(row.count for row in rows)


def naive(rows: Sequence[Parameter]) -> int:
    """The total if a matrix is counted at every use, which is wrong unless nothing is shared."""
    return sum(row.elements for row in rows)


def shared(rows: Sequence[Parameter]) -> tuple[Shared, ...]:
    """The matrices outside the layers that are used more than once, largest first (not ALBERT's repeated layers)."""
    users: dict[str, list[Parameter]] = {}
    for row in rows:
        if row.shared_with is not None and row.layer is None:
            users.setdefault(row.shared_with, []).append(row)
    owners = {row.name: row for row in rows if row.name in users and row.shared_with is None}
    found = [
        Shared(name, owner.role, owner.shape, owner.elements, tuple(_use(row) for row in _places(owner, users[name])))
        for name, owner in owners.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.elements))


def _places(owner: Parameter, users: list[Parameter]) -> list[Parameter]:
    """The uses of a shared matrix; if it is stored in one of its places (the encoder), that is a use too."""
    return users if owner.component == "shared" else [owner, *users]


def _use(row: Parameter) -> str:
    use = _USES.get((row.component, row.role))
    if use is not None:
        return _(use)
    return _("{component} {role}", component=matrix_titles.title(row.component), role=matrix_titles.title(row.role))


def layer_share(rows: Sequence[Parameter], component: Component, name: str) -> float:
    """The share of a sublayer in the parameters of a component's first layer, 0 to 1; 0.0 without layers."""
    layer = [row for row in rows if row.component == component and row.layer == 0]
    whole = sum(row.elements for row in layer)
    return sum(row.elements for row in layer if sublayer(row.role) == name) / whole if whole else 0.0


def notice(rows: Sequence[Parameter]) -> str:
    """One sentence: the most striking fact about this model's sizes, with numbers."""
    size, every = total(rows), naive(rows)
    repeated = {row.layer for row in rows if row.layer is not None and row.shared_with == row.name}
    if repeated:
        layers = 1 + max(row.layer for row in rows if row.layer is not None)
        return plural(
            "{layers} layers share one set of weights: {size:,} parameters do the work of {every:,}.",
            "{layers} layers share {count} sets of weights: {size:,} parameters do the work of {every:,}.",
            layers - len(repeated),
            layers=layers,
            size=size,
            every=every,
        )
    found, ties = parts(rows), shared(rows)
    largest = max(found, key=lambda name: found[name])
    if ties and len(ties[0].shape) == 2:
        tokens, width = ties[0].shape
        return _(
            "Of {size:,} parameters {share} are in the {part}. One matrix, {tokens:,} tokens × {width:,}, serves as "
            "{uses}: {once}, counted once.",
            size=size,
            share=percent(found[largest] / size),
            part=matrix_titles.title(largest),
            tokens=tokens,
            width=width,
            uses=_listed(ties[0].uses),
            once=percent(ties[0].elements / size),
        )
    return _(
        "Of {size:,} parameters {share} are in the {part}; no matrix is used twice.",
        size=size,
        share=percent(found[largest] / size),
        part=matrix_titles.title(largest),
    )


def plain_notice(rows: Sequence[Parameter]) -> str:
    """One sentence for a beginner: how many numbers the model is, and which part has most of them."""
    found, size = parts(rows), total(rows)
    largest = max(found, key=lambda name: found[name])
    return _(
        "The model consists of {size:,} numbers; {share} of them are in the {part}.",
        size=size,
        share=percent(found[largest] / size),
        part=matrix_titles.title(largest),
    )


def difference(rows: Sequence[Parameter], others: Sequence[Parameter], names: tuple[str, str]) -> str:
    """One sentence: which of two models is larger, and in which part they differ most."""
    sizes = total(rows), total(others)
    here, there = parts(rows), parts(others)
    apart = max(PARTS, key=lambda name: abs(here[name] - there[name]))
    if here == there:
        return _("{one} and {other} have equally many parameters in every part.", one=names[0], other=names[1])
    first, second = (0, 1) if sizes[0] >= sizes[1] else (1, 0)
    values = {
        "larger": names[first],
        "smaller": names[second],
        "part": matrix_titles.title(apart),
        "more": (here, there)[first][apart],
        "less": (here, there)[second][apart],
    }
    if sizes[0] == sizes[1]:
        return _(
            "{larger} and {smaller} are equally large, and differ most in the {part}: {more:,} against {less:,} "
            "parameters.",
            **values,
        )
    times = sizes[first] / sizes[second]
    return _(
        "{larger} has {times} times as many parameters as {smaller}; they differ most in the {part}: {more:,} against "
        "{less:,}.",
        times=f"{times:.2f}" if times < 2 else f"{times:,.1f}",
        **values,
    )


def beside(rows: Sequence[Parameter], others: Sequence[Parameter], names: tuple[str, str]) -> pd.DataFrame:
    """The parts of two models, each matrix counted once: part, and a column for each model; last their sums."""
    one, other = parts(rows), parts(others)
    lines = [(matrix_titles.title(name), one[name], other[name]) for name in PARTS if one[name] or other[name]]
    first, second = names if names[0] != names[1] else (f"{names[0]} (1)", f"{names[1]} (2)")
    return pd.DataFrame([*lines, (_("sum"), total(rows), total(others))], columns=["part", first, second])


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else _("{one} and {other}", one=", ".join(names[:-1]), other=names[-1])


@dataclass(frozen=True, slots=True)
class Comparison:
    """The closed form compared with a built model: how many names agree in shape and ties, and those that do not."""

    equal: int
    different: tuple[str, ...]
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    closed: int
    built: int

    @property
    def passed(self) -> bool:
        return not (self.different or self.missing or self.unexpected) and self.closed == self.built


def compare(rows: Sequence[Parameter], built: Built) -> Comparison:
    """Compare the rows with the parameters of a built model: names, shapes, ties, total.

    missing: in the closed form, not in the build; unexpected: in the build alone.
    """
    first: dict[str, Parameter] = {}
    for row in rows:
        first.setdefault(row.name, row)
    both = [name for name in first if name in built]
    different = tuple(name for name in both if (first[name].shape, first[name].shared_with) != built[name][:2])
    return Comparison(
        equal=len(both) - len(different),
        different=different,
        missing=tuple(name for name in first if name not in built),
        unexpected=tuple(name for name in built if name not in first),
        closed=total(rows),
        built=sum(prod(shape) for shape, tied, _own in built.values() if tied is None),
    )
