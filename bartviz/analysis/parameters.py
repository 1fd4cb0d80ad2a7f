"""Every matrix and vector of a model from its configuration alone: closed form, no weights, no torch.

A matrix that a model uses in several places (BART's embeddings: encoder, decoder, output layer) is one matrix. It is
listed in each place, and counted in the first: ``count`` sums to the model's size, ``elements`` to the naive total.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from math import prod
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from bartviz.errors import ModelError, SettingError, choices
from bartviz.families import config as configs
from bartviz.families.catalogue import CATALOGUE, entry
from bartviz.families.config import Config, Sizes, Stack
from bartviz.families.family import Part, Parts, Side, Variant
from bartviz.families.matrices import POSITIONS
from bartviz.language import later

if TYPE_CHECKING:
    import pandas as pd

    from bartviz.record.record import ModelInfo

Component = Literal["shared", "encoder", "decoder", "head"]


class Loaded(Protocol):
    """The part of a model from ``bartviz.load`` that is needed, so that torch is not imported here."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def config(self) -> Any: ...

    @property
    def network(self) -> Any: ...


Model = str | PathLike[str] | Config | Loaded
Shape = tuple[int, ...]
# Name -> shape, the earlier name of the same tensor or None, whether training changes it.
Built = Mapping[str, tuple[Shape, str | None, bool]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One matrix or vector in one place. ``count`` is 0 for a reuse of another one (``shared_with``)."""

    component: Component
    layer: int | None
    role: str
    name: str
    shape: Shape
    count: int
    shared_with: str | None
    elements: int
    trainable: bool


def parameters(model: Model, *, architecture: str | None = None) -> pd.DataFrame:
    """One row per matrix or vector of a model, in reading order: embeddings, layers, head.

    ``model`` is a name of the catalogue, a folder with a config.json, a configuration (a mapping that names its
    ``model_type``), or a loaded model. ``architecture`` is transformers' class, such as ``BertForMaskedLM``; without it
    the class that is loaded or that the configuration names, else the base model (BERT with its pooler) or, of a family
    that writes, the one that does.

    Columns: component (shared, encoder, decoder, head), layer (from 0; <NA> outside layers), role, name (as in
    transformers' state dict), shape, count, shared_with, elements, trainable.
    ``count`` sums to the number of parameters. A matrix tied to an earlier row has count 0, its numbers in ``elements``
    and that row's name in ``shared_with``; a layer that reuses another's weights (ALBERT) repeats that layer's names.
    ``trainable`` is False for computed (sinusoidal) positions, which transformers keeps as parameters and counts.

    Raises ModelError for an unknown name or impossible sizes, SettingError for an unknown architecture or if ``model``
    is something else.

    >>> table = bartviz.parameters("facebook/bart-base")  # from the configuration, without weights
    >>> int(table["count"].sum())
    139420416
    """
    import pandas as pd

    found = rows(configuration(model), architecture)
    table = pd.DataFrame({column.name: [getattr(row, column.name) for row in found] for column in fields(Parameter)})
    return table.astype({"layer": "Int64", "shared_with": "string"})


def from_table(table: pd.DataFrame) -> tuple[Parameter, ...]:
    """The rows of a table from ``parameters``."""
    import pandas as pd

    columns = [table[column.name].astype(object).tolist() for column in fields(Parameter)]
    cells: list[list[Any]] = [[None if cell is pd.NA else cell for cell in column] for column in columns]
    return tuple(Parameter(*row) for row in zip(*cells, strict=True))


def configuration(model: Model) -> Config:
    """The configuration that a name, a folder, a mapping or a model refers to; raises ModelError, SettingError."""
    if isinstance(model, Mapping):
        return model
    if not isinstance(model, str | PathLike):
        return _of_loaded(model)
    known = entry(fspath(model))
    if known is not None:
        return known.config
    with suppress(OSError):  # a name too long to be that of a folder
        if Path(model).is_dir():
            return configs.read(model)
    names = choices(known.name for known in CATALOGUE)
    raise ModelError(later("No model of that name. Choose {names}, or a folder with a config.json.", names=names))


def _of_loaded(model: Loaded) -> Config:
    """The configuration of a loaded model, with the class that it was loaded as and the ties that it has.

    A T5 checkpoint with an output matrix of its own unties it, whatever its configuration says.
    """
    try:
        found = {**model.config.to_dict(), "architectures": [model.info.architecture]}
        output = model.network.get_output_embeddings()
        if output is not None:
            found["tie_word_embeddings"] = output.weight is model.network.get_input_embeddings().weight
        return found
    except (AttributeError, TypeError):
        raise SettingError(
            later(
                "Parameters are counted for a name, a folder with a config.json, a configuration, or a model "
                "from bartviz.load, not for a {type}.",
                type=type(model).__name__,
            )
        ) from None


def architecture_of(config: Config, architecture: str | None = None) -> str:
    """The architecture: the requested one, else the configuration's, else the family's default."""
    known = configs.sizes(config).family.variants
    if architecture is not None:
        if architecture not in known:
            raise SettingError(later("A model of this family is one of {choices}.", choices=choices(known)))
        return architecture
    named = config.get("architectures")
    first = named[0] if isinstance(named, list | tuple) and named else None
    return first if isinstance(first, str) and first in known else next(iter(known))


def total(model: Model, *, architecture: str | None = None) -> int:
    """The number of parameters of a model, each counted once."""
    return sum(row.count for row in rows(configuration(model), architecture))


def rows(config: Config, architecture: str | None = None) -> tuple[Parameter, ...]:
    """The rows of ``parameters``, as tuples: about half a millisecond for a large model."""
    return rows_of(configs.sizes(config), architecture_of(config, architecture))


@lru_cache(maxsize=64)
def rows_of(sizes: Sizes, architecture: str) -> tuple[Parameter, ...]:
    """``rows`` from sizes; ``architecture`` must be one of the family's."""
    variant = sizes.family.variants[architecture]
    ties = _ties(sizes, variant)
    found: list[Parameter] = []
    seen: set[str] = set()
    for component, layer, part in _places(sizes, variant):
        found.append(_parameter(component, layer, part, sizes, ties, seen))
        seen.add(part.name)
    return tuple(found)


def listing(network: Any) -> Built:
    """The parameters of a live network, those of its base model first, each with the earlier name of the same tensor
    where it is used again."""
    base = f"{network.base_model_prefix}."
    first: dict[int, str] = {}
    parameters: dict[str, tuple[Shape, str | None, bool]] = {}
    found = network.named_parameters(remove_duplicate=False)
    for name, tensor in sorted(found, key=lambda one: not one[0].startswith(base)):
        parameters[name] = (tuple(tensor.shape), first.get(id(tensor)), tensor.requires_grad)
        first.setdefault(id(tensor), name)
    return parameters


def fits(sizes: Sizes, architecture: str, network: Any) -> bool:
    """Whether a live network has the matrices of a class with these sizes: names, shapes, ties. Its base model may have
    another name, and the pooler does not count, which some checkpoints lack."""
    ours = {row.name: (row.shape, row.shared_with) for row in reversed(rows_of(sizes, architecture))}
    theirs = {name: (shape, tied) for name, (shape, tied, _trained) in listing(network).items()}
    return _inside(ours, sizes.family.base) == _inside(theirs, f"{network.base_model_prefix}.")


def _inside(matrices: Mapping[str, tuple[Shape, str | None]], base: str) -> dict[str, tuple[Shape, str | None]]:
    """The matrices by names without that of the base model."""
    return {
        name.removeprefix(base): (shape, tied and tied.removeprefix(base))
        for name, (shape, tied) in matrices.items()
        if not name.removeprefix(base).startswith("pooler.")
    }


def _parameter(
    component: Component, layer: int | None, part: Part, sizes: Sizes, ties: Mapping[str, str], seen: set[str]
) -> Parameter:
    letters = _letters(sizes, sizes.decoder if component == "decoder" else sizes.encoder or sizes.decoder)
    shape = tuple(letters[letter] for letter in part.shape.split())
    shared_with = part.name if part.name in seen else ties.get(part.name)
    computed = part.role == POSITIONS and sizes.family.positions == "sinusoidal"
    elements = prod(shape)
    count = elements if shared_with is None else 0
    return Parameter(component, layer, part.role, part.name, shape, count, shared_with, elements, not computed)


Place = tuple[Component, int | None, Part]


def _places(sizes: Sizes, variant: Variant) -> Iterator[Place]:
    """Every matrix of the model with its full name, in reading order."""
    family = sizes.family
    base = "" if variant.bare else family.base
    if sizes.shared:
        yield from _named("shared", None, base, family.shared)
    if family.encoder is not None:
        yield from _side("encoder", base, family.encoder, sizes)
    if family.decoder is not None and variant.decoder:
        yield from _side("decoder", base, family.decoder, sizes)
    if variant.pooler:
        yield from _named("head", None, base, family.pooler)
    yield from _named("head", None, "", variant.head)


def _side(component: Component, base: str, side: Side, sizes: Sizes) -> Iterator[Place]:
    stack = sizes.encoder if component == "encoder" else sizes.decoder
    assert stack is not None  # a family with this side has its sizes
    before, after = (
        tuple(part for part in ends if sizes.projected or not part.role.startswith("embedding projection"))
        for ends in (side.before, side.after)
    )
    yield from _named(component, None, base, before)
    for layer in range(stack.layers * sizes.inner_layers):
        path = base + side.layer.format(*_address(layer, stack, sizes))
        yield from _named(component, layer, path, (*(side.later if layer else side.first), *side.parts))
    yield from _named(component, None, base, after)


def _address(layer: int, stack: Stack, sizes: Sizes) -> tuple[int, ...]:
    """The indices of a layer's weights: its own number or, in ALBERT, its group and the index in the group."""
    if not sizes.groups:
        return (layer,)
    outer, inner = divmod(layer, sizes.inner_layers)
    return int(outer / (stack.layers / sizes.groups)), inner


def _named(component: Component, layer: int | None, path: str, parts: Parts) -> Iterator[Place]:
    return ((component, layer, part._replace(name=path + part.name)) for part in parts)


def _ties(sizes: Sizes, variant: Variant) -> dict[str, str]:
    """Name -> the name of the matrix that it is. T5's two embeddings are one whatever the configuration says."""
    base = "" if variant.bare else sizes.family.base
    ties: dict[str, str] = {}
    if sizes.shared and (sizes.tied or sizes.family.tying == "output"):
        ties |= {base + name: base + source for name, source in sizes.family.shared_ties.items()}
    if sizes.tied:
        ties |= {name: _source(source, base, sizes) for name, source in variant.ties.items()}
    return ties


def _source(source: str, base: str, sizes: Sizes) -> str:
    if source == ".shared.weight" and not sizes.shared:
        source = ".decoder.embed_tokens.weight"
    return base + source[1:] if source.startswith(".") else source


@lru_cache(maxsize=256)
def _letters(sizes: Sizes, stack: Stack) -> Mapping[str, int]:
    return {
        "V": sizes.vocabulary,
        "U": sizes.target_vocabulary,
        "d": sizes.width,
        "e": sizes.embedding_width,
        "f": stack.feed_forward,
        "a": stack.inner,
        "k": stack.keys,
        "q": stack.inner + 2 * stack.keys,
        "h": stack.head_width,
        "g": 2 * stack.feed_forward,
        "H": stack.heads,
        "P": sizes.position_rows,
        "S": sizes.segments,
        "B": sizes.buckets,
        "C": sizes.labels,
        "E": sizes.experts,
        "1": 1,
        "2": 2,
    }
