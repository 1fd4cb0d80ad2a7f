"""Models side by side: sizes, architecture, input and training as one table, each cell with where it comes from.

Values are computed from configurations and the parameter table; facts that only a paper has cite the paper. No weights,
no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import pandas as pd

from bartviz.analysis import parameter_totals
from bartviz.analysis.activations import CURVES
from bartviz.analysis.costs import BYTES, Costs
from bartviz.analysis.parameters import Model, Parameter, architecture_of, configuration, rows_of
from bartviz.families import config as configs
from bartviz.families.catalogue import Entry, entry
from bartviz.families.config import Config, Sizes, Stack
from bartviz.families.family import Training
from bartviz.language import _, mark

Group = Literal["sizes", "architecture", "input", "training"]
Origin = Literal["configuration", "computed", "family", "paper"]
Cell = str | int | float | bool | None
GROUPS: Mapping[Group, str] = MappingProxyType(
    {"sizes": mark("Sizes"), "architecture": mark("Architecture"), "input": mark("Input"), "training": mark("Training")}
)
ORIGINS: Mapping[Origin, str] = MappingProxyType(
    {
        "configuration": mark("read from the configuration"),
        "computed": mark("computed from the configuration"),
        "family": mark("how transformers builds this family"),
        "paper": mark("from the paper"),
    }
)
LENGTH = 512  # tokens of a text for which memory and operations are given


@dataclass(frozen=True)
class Subject:
    """One model of the table: its configuration, and what is derived from it."""

    name: str
    config: Config

    @cached_property
    def sizes(self) -> Sizes:
        return configs.sizes(self.config)

    @cached_property
    def rows(self) -> tuple[Parameter, ...]:
        return rows_of(self.sizes, architecture_of(self.config))

    @cached_property
    def costs(self) -> Costs:
        return Costs(self.config)

    @property
    def training(self) -> Training:
        return self.sizes.family.training

    @property
    def own(self) -> Entry | None:
        """What the catalogue says of this model alone."""
        return entry(self.name)

    @property
    def objective(self) -> str:
        """What it was first trained to do."""
        own = self.own
        return self.training.objective if own is None or own.objective is None else own.objective

    @property
    def stacks(self) -> tuple[Stack, ...]:
        return tuple(stack for stack in (self.sizes.encoder, self.sizes.decoder) if stack is not None)

    @property
    def length(self) -> int:
        """The text length for costs: LENGTH, or the longest that the model reads."""
        return min(LENGTH, self.sizes.positions or LENGTH)


@dataclass(frozen=True)
class Property:
    """One row of the table. ``of`` returns the cell: a value, a message to translate (str), or None if the model has no
    such thing. ``plain``: what the row means, for a beginner, who sees no others."""

    word: str
    group: Group
    label: str
    origin: Origin
    of: Callable[[Subject], Cell]
    form: str = "{}"
    plain: str = ""


def subject(model: Model, name: str | None = None) -> Subject:
    """A model of the table by its name in the catalogue, a folder or a configuration. Raises ModelError."""
    config = configuration(model)
    subject = Subject(name or (model if isinstance(model, str) else str(config["model_type"])), config)
    assert subject.sizes  # raises here what is wrong with the configuration
    return subject


def tables(models: Sequence[Model]) -> pd.DataFrame:
    """One row per property, one column per model, with the columns property, group and origin before them.

    Cells are numbers, truth values or English texts; None where a model has no such thing.
    Raises ModelError for a model that is not known.
    """
    found = [subject(model) for model in models]
    rows: list[dict[str, Cell]] = []
    for each in PROPERTIES:
        about: dict[str, Cell] = {"property": each.word, "group": each.group, "origin": each.origin}
        rows.append(about | {one.name: each.of(one) for one in found})
    return pd.DataFrame(rows, dtype=object)


def cell_text(each: Property, cell: Cell) -> str:
    """The text of a cell in the reader's language."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return _("yes") if cell else _("no")
    return _(cell) if isinstance(cell, str) else each.form.format(cell)


def differs(each: Property, subjects: Sequence[Subject]) -> bool:
    """Whether the models of the table differ in this property."""
    return len({str(each.of(one)) for one in subjects}) > 1


def _pair(of: Callable[[Stack], int]) -> Callable[[Subject], Cell]:
    """One number if encoder and decoder agree (or only one exists), else both."""

    def cell(one: Subject) -> Cell:
        found = [of(stack) for stack in one.stacks]
        return found[0] if len(set(found)) == 1 else " + ".join(f"{number:,}" for number in found)

    return cell


def _layers(side: Literal["encoder", "decoder"]) -> Callable[[Subject], Cell]:
    def cell(one: Subject) -> Cell:
        stack = getattr(one.sizes, side)
        return None if stack is None else int(stack.layers)

    return cell


def _share(wanted: Callable[[Parameter], bool]) -> Callable[[Subject], Cell]:
    """The share of all parameters that are of that sort, each counted once."""
    return lambda one: sum(row.count for row in one.rows if wanted(row)) / parameter_totals.total(one.rows)


def _sublayer(name: str) -> Callable[[Parameter], bool]:
    return lambda row: row.layer is not None and name in parameter_totals.sublayer(row.role)


def _norms(one: Subject) -> Cell:
    """Layer norms of one layer; of an encoder-decoder both numbers."""
    found = []
    for side in ("encoder", "decoder"):
        roles = {row.role for row in one.rows if row.component == side and row.layer == 0 and "layer norm" in row.role}
        found += [len({role.removesuffix(" bias").removesuffix(" weight") for role in roles})] if roles else []
    return found[0] if len(found) == 1 else " + ".join(map(str, found))


def _kind(one: Subject) -> Cell:
    kind = one.sizes.family.kind
    return {"encoder": mark("encoder"), "decoder": mark("decoder")}.get(kind, mark("encoder and decoder"))


def _position(one: Subject) -> Cell:
    return {
        "learned": mark("learned"),
        "sinusoidal": mark("sinusoidal, computed"),
        "relative": mark("relative, in the scores"),
        "rotary": mark("rotary, in queries and keys"),
    }[one.sizes.family.positions]


def _norm(one: Subject) -> Cell:
    return {
        "post": mark("after the sum (post-norm)"),
        "pre": mark("before the sublayer (pre-norm)"),
        "inner": mark("on what the sublayer adds"),
    }[one.sizes.family.norm]


def _activation(one: Subject) -> Cell:
    name = CURVES.get(one.sizes.activation, (one.sizes.activation, None))[0]
    return f"{name}, gated" if one.sizes.gated else name


def _tied(one: Subject) -> Cell:
    """Whether the output layer is the token embedding, in the first class of the family that has an output layer."""
    for architecture in one.sizes.family.variants:
        output = [row for row in rows_of(one.sizes, architecture) if row.role == "output layer weight"]
        if output:
            return any(row.shared_with is not None for row in output)
    return None


def _one_embedding(one: Subject) -> Cell:
    """Whether encoder and decoder share one embedding matrix."""
    if len(one.stacks) < 2:
        return None
    found = [row.shared_with or row.name for row in one.rows if row.role == "token embedding"]
    return len(set(found)) == 1


def _prefix(one: Subject) -> Cell:
    """The prefix of a task; a model that learned another objective than its family knows no tasks by it."""
    return one.training.prefix if one.objective == one.training.objective else None


def _start(one: Subject) -> Cell:
    """The id of the first decoder input, as the configuration has it."""
    found = one.config.get("decoder_start_token_id")
    return int(found) if found is not None else None


def _bias(one: Subject) -> Cell:
    """Whether the projections of self-attention have biases."""
    roles = {row.role for row in one.rows if row.layer == 0 and row.role.startswith("self-attention")}
    return any(role.endswith("bias") and "norm" not in role for role in roles)


def _final_norm(one: Subject) -> Cell:
    return any(row.role.startswith("final layer norm") for row in one.rows)


PROPERTIES: tuple[Property, ...] = (
    Property(
        "parameters",
        "sizes",
        mark("Parameters, each counted once"),
        "computed",
        lambda one: parameter_totals.total(one.rows),
        "{:,}",
        mark("the numbers that training sets"),
    ),
    Property(
        "encoder_layers",
        "sizes",
        mark("Encoder layers"),
        "configuration",
        _layers("encoder"),
        plain=mark("one after the other, to read a text"),
    ),
    Property(
        "decoder_layers",
        "sizes",
        mark("Decoder layers"),
        "configuration",
        _layers("decoder"),
        plain=mark("one after the other, for each next token"),
    ),
    Property(
        "width",
        "sizes",
        mark("Width"),
        "configuration",
        lambda one: one.sizes.width,
        "{:,}",
        mark("how many numbers stand for a token"),
    ),
    Property(
        "heads",
        "sizes",
        mark("Heads of a layer"),
        "configuration",
        _pair(lambda stack: stack.heads),
        plain=mark("each looks at the tokens in its own way"),
    ),
    Property("head_width", "sizes", mark("Width of a head"), "computed", _pair(lambda stack: stack.head_width)),
    Property(
        "feed_forward",
        "sizes",
        mark("Feed-forward width"),
        "configuration",
        _pair(lambda stack: stack.feed_forward),
        "{:,}",
    ),
    Property(
        "vocabulary",
        "sizes",
        mark("Vocabulary"),
        "configuration",
        lambda one: one.sizes.vocabulary,
        "{:,}",
        mark("how many different tokens there are"),
    ),
    Property(
        "longest",
        "sizes",
        mark("Longest text, tokens"),
        "configuration",
        lambda one: mark("no limit") if one.sizes.positions is None else one.sizes.positions,
        "{:,}",
        mark("a longer one is cut or refused"),
    ),
    Property(
        "embeddings",
        "sizes",
        mark("Share of the embeddings"),
        "computed",
        _share(lambda row: parameter_totals.part(row) == "embeddings"),
        "{:.1%}",
    ),
    Property("attention", "sizes", mark("Share of attention"), "computed", _share(_sublayer("attention")), "{:.1%}"),
    Property(
        "feed_forward_share",
        "sizes",
        mark("Share of the feed-forward layers"),
        "computed",
        _share(_sublayer("feed-forward")),
        "{:.1%}",
    ),
    Property(
        "bytes",
        "sizes",
        mark("Weights in float32, MB"),
        "computed",
        lambda one: parameter_totals.total(one.rows) * BYTES["float32"] / 1e6,
        "{:,.0f}",
        mark("the memory that all parameters take, 4 bytes each"),
    ),
    Property(
        "maps",
        "sizes",
        mark("All attention weights, up to 512 tokens, MB"),
        "computed",
        lambda one: one.costs.memory(one.length).attention / 1e6,
        "{:,.0f}",
    ),
    Property(
        "operations",
        "sizes",
        mark("Multiply-adds of a pass, up to 512 tokens, billions"),
        "computed",
        lambda one: float(one.costs.operations(one.length)["multiply_adds"].sum()) / 1e9,
        "{:,.1f}",
    ),
    Property(
        "kind",
        "architecture",
        mark("Consists of"),
        "family",
        _kind,
        plain=mark("an encoder reads a text, a decoder writes one"),
    ),
    Property("norm", "architecture", mark("LayerNorm"), "family", _norm),
    Property("norms", "architecture", mark("LayerNorms of a layer"), "computed", _norms),
    Property("final_norm", "architecture", mark("LayerNorm after the last layer"), "computed", _final_norm),
    Property("activation", "architecture", mark("Activation"), "configuration", _activation),
    Property("positions", "architecture", mark("Positions"), "family", _position),
    Property("bias", "architecture", mark("Attention has biases"), "computed", _bias),
    Property(
        "one_embedding", "architecture", mark("Encoder and decoder share their embedding"), "computed", _one_embedding
    ),
    Property("tied", "architecture", mark("Output layer is the embedding (tied)"), "computed", _tied),
    Property(
        "tokenizer",
        "input",
        mark("Tokenizer"),
        "family",
        lambda one: one.training.tokenizer,
        plain=mark("the way to cut a text into tokens"),
    ),
    Property(
        "single",
        "input",
        mark("One text"),
        "family",
        lambda one: one.training.single,
        plain=mark("A, with the special tokens around it"),
    ),
    Property("pair", "input", mark("Two texts"), "family", lambda one: one.training.pair),
    Property("segments", "input", mark("Segments"), "configuration", lambda one: one.sizes.segments or None),
    Property("prefix", "input", mark("Task prefix"), "paper", _prefix),
    Property("start", "input", mark("First decoder input, id"), "configuration", _start),
    Property(
        "objective",
        "training",
        mark("First trained to"),
        "paper",
        lambda one: one.objective,
        plain=mark("the task of its longest training"),
    ),
    Property(
        "predicts",
        "training",
        mark("Predicted in that training"),
        "paper",
        lambda one: one.training.predicts,
        plain=mark("compared with the right tokens"),
    ),
    Property(
        "fine_tuned",
        "training",
        mark("Then fine-tuned to"),
        "paper",
        lambda one: None if one.own is None else one.own.fine_tuned,
        plain=mark("the task of a second training"),
    ),
    Property(
        "paper",
        "training",
        mark("Paper"),
        "paper",
        lambda one: one.training.paper,
        plain=mark("that describes the family"),
    ),
)
