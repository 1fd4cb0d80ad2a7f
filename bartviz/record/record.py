"""The result of one run of a model: a Record, the unit that is cached, saved, compared, shared and drawn.

Frozen, read-only, NumPy only: a saved record opens on a machine without torch.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from bartviz import hooks
from bartviz.arrays import Floats, Rebuilt
from bartviz.errors import RecordError, SettingError, WeightsOnlyError, choices
from bartviz.families.family import Family, ModelKind
from bartviz.families.registry import FAMILIES, family_of, unlisted
from bartviz.language import later
from bartviz.record import checks, store, tables
from bartviz.record.attention import KINDS, Attention, Head, HeadName, Kind
from bartviz.record.beam_tree import BeamTree
from bartviz.record.checks import Check
from bartviz.record.prediction import Prediction
from bartviz.record.steps import Step, Steps, bare, chosen_ids
from bartviz.record.turns import Turn, check_turns, numbers
from bartviz.record.validation import check_prediction, check_sides, check_texts, weights_only
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

Reading = Literal["reads", "predicts"]
Seal = Literal["made", "unchanged", "changed", "older"]
_MINUTE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z")
_TYPE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")  # transformers' model_type
ENDING, PAGES = ".safetensors", (".html", ".htm")  # of a record's file, and of the explorer's
NODE_BYTES = 400  # of one hypothesis of a beam tree, with its numbers


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The model that made a record. ``fingerprint`` changes when any weight or setting changes.

    ``source``: ``memory`` for a network that the caller had loaded, without a name to load it by; ``weights`` where
    only weights were given (``bartviz.from_attentions``): the family is then empty, and sizes that the weights do
    not show are 0.
    ``trained`` is judged by the weights: False if all normalisation gains are still about 1, as before any training.
    Layers and heads are 0 if a stack is missing; ``positions`` is the longest input, or None without a limit.
    ``activation`` is transformers' name for the feed-forward activation, with ``gated-`` before it if its result is
    multiplied with that of a second matrix; None in records older than the field. ``dropout`` and
    ``attention_dropout`` are the probabilities in training, of what a part of a layer adds and of the weights; None if
    they are not known. ``like``: the listed family that a type nobody has listed was read as; None for a listed one.
    """

    name: str
    source: Literal["embedded", "folder", "hub", "memory", "weights"]
    family: str
    architecture: str
    kind: ModelKind
    trained: bool
    encoder_layers: int
    encoder_heads: int
    decoder_layers: int
    decoder_heads: int
    width: int
    vocabulary: int
    positions: int | None
    parameters: int
    fingerprint: str
    activation: str | None = None
    dropout: float | None = None
    attention_dropout: float | None = None
    like: str | None = None

    def __post_init__(self) -> None:
        check_texts(self.name, self.architecture, self.fingerprint)
        listed = self.family if self.like is None else self.like
        if listed not in FAMILIES and (listed or self.source != "weights"):
            raise RecordError(f"The model's family must be {choices(FAMILIES)}.")
        if self.like is not None and (self.family in FAMILIES or not _TYPE.fullmatch(self.family)):
            raise RecordError("A family that is read as another one must be a model type that is not listed.")

    @property
    def known(self) -> Family:
        """The model's family. Raises WeightsOnlyError."""
        if not self.family:
            raise WeightsOnlyError(
                later("This record was made from attention weights only: it has no information about the model.")
            )
        if self.like is not None:
            return unlisted(self.family, self.like)
        return family_of(self.family, self.architecture)


def now() -> str:
    """The current minute, as ``Provenance.made`` has it."""
    return time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime())


@dataclass(frozen=True)
class Provenance(Rebuilt):
    """How a record was made: versions, settings, duration, why the text ended.

    ``checks`` are those that only the run could make; ``Record.check`` returns all. ``made`` is when: the date and the
    minute in UTC, as ISO 8601 writes them; empty in older records.
    """

    versions: Mapping[str, str] = field(default_factory=dict)
    dtype: str = "float32"
    settings: Mapping[str, object] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    seconds: float = 0.0
    stopped: str | None = None
    notices: tuple[str, ...] = ()
    made: str = ""

    def __post_init__(self) -> None:
        if self.made and not _MINUTE.fullmatch(self.made):
            raise RecordError("When a record was made is written like 2025-01-31T12:00Z.")
        object.__setattr__(self, "versions", MappingProxyType(dict(self.versions)))
        settings = {key: tuple(value) if isinstance(value, list) else value for key, value in self.settings.items()}
        object.__setattr__(self, "settings", MappingProxyType(settings))

    @property
    def mode(self) -> object:
        """How the text was made, a ``vocabulary.Mode``; None in a record that does not say."""
        return self.settings.get("mode")


@dataclass(frozen=True)
class Record:
    """One run: the unit that is cached, saved, compared, shared and drawn.

    An encoder-only model has ``encoder``, a decoder-only model ``decoder``, an encoder-decoder all three. Of given
    weights those of an encoder may be missing.
    ``decoder.query`` are the decoder's *inputs*, start token first. ``output`` has one token for each of those rows,
    the next one, so ``output[t]`` is what row t *predicts* while ``decoder.query[t]`` is what it *reads*.
    ``beams`` is the tree of a beam search, whose best hypothesis the record shows, or None.
    ``pair_text`` is the second sentence, where ``source.segments`` is 1; None without one, and in older records.
    ``prediction`` is what the model's head says of the text, if it was fine-tuned to label texts; else None.
    ``turns`` are the messages of a chat among the tokens of the source; empty for any other text.
    ``seal``: ``made`` by this run, or opened from a file that is ``unchanged`` since it was saved, ``changed``, or
    ``older`` than the digest that would show it.

    >>> record.kinds, record.source.labels[1:4], record.target_text
    (('encoder', 'decoder', 'cross'), ('I', 'want', 'to'), 'Ich möchte ein Auto kaufen.')
    """

    model: ModelInfo
    source_text: str
    target_text: str | None
    encoder: Attention | None
    decoder: Attention | None
    cross: Attention | None
    output: Tokens | None = None
    steps: Sequence[Step] = ()
    provenance: Provenance = field(default_factory=Provenance)
    beams: BeamTree | None = None
    pair_text: str | None = None
    prediction: Prediction | None = None
    turns: tuple[Turn, ...] = ()
    seal: Seal = field(default="made", init=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.steps, Steps):
            object.__setattr__(self, "steps", tuple(self.steps))
        for kind in KINDS:
            attention = getattr(self, kind)
            if attention is not None and attention.kind != kind:
                raise RecordError(f"The record's {kind} attention says that it is {attention.kind} attention.")
        if not self.kinds:
            raise RecordError("A record needs attention of at least one kind.")
        check_sides(self.encoder, self.decoder, self.cross)
        rows = 0 if self.decoder is None else self.decoder.shape[2]
        if self.output is not None and len(self.output) != rows:
            raise RecordError(f"{len(self.output)} output tokens for {rows} decoder rows: each row predicts one.")
        if any(not 0 <= step.row < rows for step in bare(self.steps)):
            raise RecordError("A step names a decoder row that the record does not have.")
        if self.beams is not None:
            winner = [self.beams.nodes[node].token.token_id for node in self.beams.path(self.beams.best)]
            if winner != chosen_ids(self.steps):
                raise RecordError("The best hypothesis of the beam tree is not the text of the record.")
        if self.prediction is not None:
            check_prediction(self.prediction, self.attention("encoder").mask, rows)
        check_texts(*self.texts, self.target_text or "")
        check_turns(self.turns, len(self.source))

    def __repr__(self) -> str:
        texts = [text if len(text) <= 60 else f"{text[:59]}…" for text in (self.source_text, self.target_text) if text]
        shapes = ", ".join(repr(self.attention(kind)) for kind in self.kinds)
        return f"<Record of {self.model.name}: {' → '.join(map(repr, texts))}, {shapes}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is sent to another process: as the bytes of a saved file, whose digest shows a change there, too."""
        borrowed = tuple(kind for kind in self.kinds if self.attention(kind).borrowed)
        return _reopened, (store.encode(self), self.seal, borrowed)

    def holding(self, equal: Mapping[str, Any]) -> Record:
        """This record with attention of equal numbers, whose arrays are held elsewhere: it was made and sealed as this
        one was. (Of ``dataclasses.replace`` comes a record that was made there.)"""
        same = replace(self, **equal)
        object.__setattr__(same, "seal", self.seal)
        return same

    def __copy__(self) -> Record:
        return self  # nothing of it can change

    def __deepcopy__(self, memo: dict[int, Any]) -> Record:
        return self

    def _repr_html_(self) -> str:
        """A notebook shows the explorer in a frame of its own, which stays alive in the saved notebook."""
        framed: str = hooks.explorer().frame(self)
        return framed

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that this record holds, in reading order."""
        return tuple(kind for kind in KINDS if getattr(self, kind) is not None)

    def attention(self, kind: str) -> Attention:
        """The attention of one kind; raises SettingError that lists the kinds of this record."""
        if kind in self.kinds:
            attention: Attention = getattr(self, kind)
            return attention
        raise SettingError(f"This record has no {kind} attention: choose {choices(self.kinds)}.")

    def head(self, name: HeadName) -> Floats:
        """(Q, K) the weights of one head, such as "cross L2H5", ``("cross", 2, 5)`` or a ``Head``: those of
        ``record.cross.head(2, 5)``. Rows sum to 1. Raises SettingError for a head that is not there."""
        head = Head.parse(name, kinds=self.kinds)
        return self.attention(head.kind).head(head.layer, head.head)

    def rows(self, kind: Kind, reading: Reading | None = None) -> Tokens:
        """The tokens that label the rows of one kind: what a decoder row *reads*, or what it *predicts*.

        By default rows of cross-attention are labelled by what they predict, all others by what they read. Raises
        SettingError for a kind that the record does not have, or another reading.
        """
        if reading is None:
            reading = "predicts" if kind == "cross" else "reads"
        if reading not in get_args(Reading):
            raise SettingError(f"The reading is one of {choices(get_args(Reading))}.")
        attention = self.attention(kind)
        if reading == "predicts" and kind != "encoder" and self.output is not None:
            return self.output
        return attention.query

    def roles(self, reading: Reading = "reads") -> tuple[str | None, ...]:
        """The role of the message that each token of a chat belongs to, such as "user" or "assistant"; None for what no
        message owns, such as the template's first token, and everywhere in other texts.

        reading: of the tokens that the rows read, or of those that they predict: the next ones. Raises SettingError.
        """
        if reading not in get_args(Reading):
            raise SettingError(f"The reading is one of {choices(get_args(Reading))}.")
        roles = [None if turn < 0 else self.turns[turn].role for turn in numbers(self.turns, len(self.source))]
        return tuple(roles if reading == "reads" else [*roles[1:], *roles[-1:]])

    @property
    def from_weights(self) -> bool:
        """Whether it was made from weights (``bartviz.from_attentions``): no queries, keys, values or model."""
        return not all(self.attention(kind).has_scores for kind in self.kinds)

    def expect_model(self) -> None:
        """Raise WeightsOnlyError where there is no model that could run the text again, nor queries and keys."""
        if self.from_weights:
            raise weights_only()

    @property
    def source(self) -> Tokens:
        """The tokens of the source text: those that the encoder reads, or a decoder-only model's own."""
        attention = self.encoder or self.cross or self.decoder
        assert attention is not None  # kinds is not empty
        return attention.key

    @property
    def reads_own_text(self) -> bool:
        """Whether its model has a decoder alone, which reads one text and continues it."""
        return self.encoder is None and self.cross is None

    @property
    def texts(self) -> tuple[str, ...]:
        """The source text and, for a pair, the second sentence: the spans of each segment index into these."""
        return (self.source_text,) if self.pair_text is None else (self.source_text, self.pair_text)

    @property
    def log_probability(self) -> float:
        """Sum of the steps' log-probabilities, in nats: log p(target | source)."""
        return float(sum(step.log_probability for step in bare(self.steps)))

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays, and by the tree of a beam search."""
        tree = 0 if self.beams is None else NODE_BYTES * len(self.beams.nodes)
        return sum(self.attention(kind).nbytes for kind in self.kinds) + tree

    def check(self) -> tuple[Check, ...]:
        """The checks of this record, recomputed now.

        They cover: kinds, layers and heads against the model; the kind of each mask; the tokens of both axes; weights
        times values against the fast kernel's output, for sampled heads and rows of every layer; for given weights, the
        sum of every row and the cells that the mask closes; ids, probabilities and text of the steps; what the run
        itself compared; and whether the file is as it was saved.
        """
        return checks.run(self)

    @cached_property
    def checked(self) -> tuple[Check, ...]:
        """The results of ``check``, computed once: a record is read-only."""
        return checks.run(self, again=False)

    @property
    def sound(self) -> bool:
        """Whether every check passes. False for an older file and for a record made by hand, which cannot be
        verified."""
        return all(check.passed for check in self.checked)

    def to_numpy(self, *kinds: str) -> dict[Kind, Floats]:
        """Kind -> weights (L, H, Q, K) float32, as ``attention(kind).head(layer, head)`` gives them.

        kinds: those to convert; all if none is named. Raises SettingError, BudgetError (over 2 GB).
        """
        return tables.arrays(self, kinds)

    def to_dataframe(self, *kinds: str, reading: Reading | None = None) -> pd.DataFrame:
        """One line for each cell of each head, in the order of ``to_numpy``: kind, layer, head, query, key,
        query_token, key_token, weight.

        Layers, heads, queries and keys count from 0; a masked cell has the weight 0. reading: what labels the rows, as
        in ``rows``. Raises SettingError, BudgetError (over 2 GB).
        """
        return tables.table(self, kinds, reading)

    def to_xarray(self, *kinds: str, reading: Reading | None = None) -> dict[Kind, Any]:
        """Kind -> xarray.DataArray of the weights: dimensions layer, head, query and key, coordinates "query_token" and
        "key_token".

        Raises PackageError if xarray is not installed, SettingError, BudgetError (over 2 GB).
        """
        return tables.labelled(self, kinds, reading)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the record as one file: of safetensors, which ``bartviz.open`` reads without torch, or, if its name
        ends in ``.html``, the explorer, which any browser shows without a network (``bartviz.save``).

        Raises SettingError for a name that ends otherwise, OSError.
        """
        check_ending(path)
        if Path(path).suffix.lower() == ENDING:
            store.write(path, self)
        else:
            hooks.explorer().save(self, path)


def check_ending(path: str | PathLike[str]) -> None:
    """Raise SettingError unless a record can be saved under this name."""
    if Path(path).suffix.lower() not in (ENDING, *PAGES):
        raise SettingError(
            later(
                "A record is saved as {record}, or as a page for any browser as {page}. For pictures and tables see "
                "bartviz.paper and to_dataframe.",
                record=ENDING,
                page=PAGES[0],
            )
        )


def open_record(path: str | PathLike[str] | bytes, *, allow_unsound: bool = False) -> Record:
    """Read a saved record, without torch.

    path: the file, or its bytes.
    allow_unsound: also open a record that was changed after it was saved, or that contradicts itself; ``check`` then
    shows what is wrong, and ``sound`` is False.
    Raises RecordError, which says in one sentence what is wrong with the file.

    >>> record.save("car.safetensors")
    >>> bartviz.open("car.safetensors").target_text
    'Ich möchte ein Auto kaufen.'
    """
    record, seal = store.decode(path, Record) if isinstance(path, bytes) else store.read(path, Record)
    object.__setattr__(record, "seal", seal)
    if allow_unsound:
        return record
    if seal == "changed":
        raise RecordError(
            later(
                "The record was changed after it was saved. Save it again from the run that made it, or open "
                "it as it is with allow_unsound=True."
            )
        )
    failed = next((check for check in record.checked if check.failed), None)
    if failed is not None:
        raise RecordError(
            later(
                "The record contradicts itself: {name} ({value:.2g}, limit {limit:.2g}). Run it again, or "
                "open it as it is with allow_unsound=True.",
                name=later(failed.name) if failed.kind is None else f"{failed.kind} {later(failed.name)}",
                value=failed.value,
                limit=failed.limit,
            )
        )
    return record


def _reopened(data: bytes, seal: Seal, borrowed: tuple[Kind, ...] = ()) -> Record:
    """A record that was sent from another process, as sound as it was there; changed if its bytes are.

    ``borrowed``: the kinds whose output matrices belong to the model there.
    """
    record, kept = store.decode(data, Record)
    for kind in borrowed:
        object.__setattr__(record.attention(kind), "borrowed", True)
    object.__setattr__(record, "seal", seal if kept == "unchanged" and seal in get_args(Seal) else "changed")
    return record
