"""Which heads of a model follow a pattern, over many texts: effect, test and replication.

The texts are divided by lot. Heads are found in one half, at a false-discovery rate over all heads that were tried; a
head is replicated if it passes the same tests in the other half, too.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers

from bartviz.analysis import pattern_masks
from bartviz.analysis.evidence import Doubles, Evidence
from bartviz.analysis.pattern_masks import Function, checked
from bartviz.corpus import pattern_shares, read, receipt
from bartviz.corpus.encode import Encoded, check_columns, encode
from bartviz.corpus.measure import batches
from bartviz.corpus.pattern_shares import ABOVE, SHARE, SHUFFLED, Marks
from bartviz.corpus.read import Bad, Columns, Form, Line
from bartviz.corpus.workers import Progress, Report
from bartviz.errors import Cancelled, SettingError, TextError, choices
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.patterns import nodes
from bartviz.patterns.grammar import Pattern
from bartviz.record.attention import KINDS, Kind
from bartviz.record.record import ModelInfo
from bartviz.run.forward import capture
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import depths
from bartviz.text.clean import clean
from bartviz.version import __version__

if TYPE_CHECKING:
    import pandas as pd

PART = 2_048  # texts that are encoded at a time
RATE = 0.01
"""The false-discovery rate over all heads that are tried, in each half."""
LEAST = 0.5
"""The least share of weight, at the lower end of its interval (as for the names of heads, ``head_names.THRESHOLD``)."""
FUNCTION = "function "  # before the name of a pattern that is one
_FIELDS = ("text", "pair", "target", "gold")
Texts = str | PathLike[str] | Iterable[str | Sequence[str] | Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class FoundHeads:
    """The heads of a model, tested for a pattern.

    ``table``: a row for each head that was tried, those found first. ``share`` of weight on the pattern, ``low`` and
    ``high`` of its 95% interval over ``n`` texts, ``even`` and ``shuffled`` what even attention has there, and the
    same head where each row is given the marks of other rows (missing where all rows look for the same); ``p``
    against both, one-sided; ``q`` the false-discovery rate (Benjamini and Hochberg 1995); ``found``. The same with
    ``held_out_`` before it for the other half of the texts; ``replicated``: found, and passed there too.
    ``texts`` that were measured, ``repeated`` that were left out because they had been read before, and ``bad`` rows.

    >>> texts = ["I want to buy a car.", "We see a dog."]
    >>> found = bartviz.find_heads(model, texts, "from any to first", kinds=["decoder"])
    >>> found.pattern, found.texts, len(found.table)
    ('from any to first', 2, 32)
    """

    pattern: str
    table: pd.DataFrame
    model: ModelInfo
    corpus: Mapping[str, object]
    settings: Mapping[str, object]
    texts: int
    repeated: int
    bad: tuple[Bad, ...]

    @property
    def found(self) -> pd.DataFrame:
        """The heads that were found, the largest share first."""
        return self.table[self.table["found"]].reset_index(drop=True)

    @property
    def replicated(self) -> tuple[str, ...]:
        """The heads that were found and replicated, such as "cross L2H5"."""
        rows = self.table[self.table["replicated"]].itertuples()
        return tuple(f"{row.kind} L{row.layer}H{row.head}" for row in rows)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table."""
        return [{str(name): value for name, value in row.items()} for row in self.table.to_dict("records")]

    def content(self) -> dict[str, Any]:
        """What a receipt holds."""
        return {
            "pattern": self.pattern,
            "model": {"name": self.model.name, "fingerprint": self.model.fingerprint},
            "corpus": dict(self.corpus),
            "settings": dict(self.settings),
            "versions": {
                "bartviz": __version__,
                "transformers": transformers.__version__,
                "torch": str(torch.__version__),
                "numpy": np.__version__,
            },
            "texts": self.texts,
            "repeated": self.repeated,
            "left_out": len(self.bad),
            "table": self.rows(),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the receipt: digests of model and corpus, pattern, seed, versions, the table, and a digest of all."""
        receipt.write(Path(path), self.content())

    def __repr__(self) -> str:
        found = int(self.table["found"].sum())
        return (
            f"<FoundHeads: {found} of {len(self.table)} heads of {self.model.name} follow {self.pattern!r}, "
            f"{len(self.replicated)} replicated, {self.texts:,} texts>"
        )


@torch_defaults()
def find_heads(
    model: Model,
    texts: Texts,
    pattern: str | Pattern | Function,
    *,
    seed: int = 0,
    columns: Columns | None = None,
    form: Form | None = None,
    kinds: Sequence[Kind] | None = None,
    rate: float = RATE,
    least: float = LEAST,
    report: Report = lambda _progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> FoundHeads:
    """Which heads of a model follow a pattern over many texts.

    texts: the path of a corpus as ``bartviz corpus`` reads it, or texts: strings, pairs (source, target), or mappings
    with ``text`` and any of ``pair``, ``target``, ``gold``, and the columns that the pattern names (a value for each
    word, between spaces).
    pattern: as docs/patterns.md describes; or a function of a record and a kind of attention that returns a mask
    (query, key), for which each text is captured once more.
    seed: of the lot that divides the texts in halves. A repeated text counts once.
    columns, form: of a file, as for a corpus. kinds: of attention; by default all for which the pattern has a meaning.
    rate, least: the false-discovery rate, and the share of weight that the lower end of a head's interval must reach.
    report, cancelled: progress after each part, and whether to stop.
    Raises PatternError, SettingError for settings or a pattern without a meaning for the model, TextError where the
    pattern applies in no text, Cancelled.

    >>> texts = ["I want to buy a car.", "The old man sleeps.", "We see a dog.", "She reads two books."]
    >>> texts += ["He is my friend.", "Tom lives in Boston."]
    >>> bartviz.find_heads(model, texts, "from any to previous token", kinds=["encoder"]).found["head"].tolist()
    [4]
    """
    if not 0 < rate < 1 or not 0 <= least < 1:
        raise SettingError(later("The rate is between 0 and 1, and the least share at least 0 and below 1."))
    known = pattern_masks.known(pattern)
    wanted = _kinds(model, known, kinds)
    corpus, rows = _rows(model, texts, known, columns or Columns(), form)
    values = _Values()
    started = time.monotonic()
    while part := list(islice(rows, PART)):
        values.add(model, part, known, wanted, seed, cancelled)
        done = values.rows
        report(Progress(done, max(done, int(str(corpus["rows"]))), done, time.monotonic() - started))
    settings = {"seed": seed, "rate": rate, "least": least, "kinds": list(wanted)}
    table = values.table(rate, least)
    text = known.text if isinstance(known, Pattern) else f"{FUNCTION}{getattr(known, '__name__', 'without a name')}"
    return FoundHeads(text, table, model.info, corpus, settings, values.texts, values.repeated, tuple(values.bad))


def _kinds(model: Model, pattern: Pattern | Function, asked: Sequence[Kind] | None) -> tuple[Kind, ...]:
    there = tuple(kind for kind in KINDS if kind in depths(model.network))
    if asked is not None and (not asked or not set(asked) <= set(there)):
        raise SettingError(later("The kinds of attention of this model are {choices}.", choices=choices(there)))
    fit = pattern.kinds(there) if isinstance(pattern, Pattern) else there
    found = fit if asked is None else tuple(kind for kind in fit if kind in asked)
    if not found:
        raise SettingError(
            later("The pattern has a meaning for {choices} attention of this model alone.", choices=choices(fit))
        )
    return found


def _rows(
    model: Model, texts: Texts, pattern: Pattern | Function, columns: Columns, form: Form | None
) -> tuple[dict[str, object], Iterator[Line | Bad]]:
    """What the corpus is, and its rows."""
    more = pattern.columns if isinstance(pattern, Pattern) else frozenset()
    if isinstance(texts, str | PathLike):
        path = Path(texts)
        if isinstance(texts, str) and not path.exists():
            raise TextError(later("There is no file at that path. Texts are given as a list."))
        check_columns(model, columns)
        _check_links(pattern, columns.gold is not None)
        read.check(path, columns, form, more)
        lines = partial(read.lines, path, columns, form, more=more)
        about = {"name": path.name, "digest": read.digest(path), "rows": sum(1 for _ in lines())}
        asked = {name: value for name in _FIELDS if (value := getattr(columns, name)) is not None}
        written = {} if form is None or form == Form() else {"form": asdict(form)}
        return about | {"columns": asked} | written, lines()
    rows = [_line(number, text, more) for number, text in enumerate(texts)]
    has = {name: any(getattr(row, name) is not None for row in rows) for name in _FIELDS}
    check_columns(model, Columns(None, *(name if has[name] else None for name in _FIELDS[1:])))
    _check_links(pattern, has["gold"])
    whole = json.dumps([[row.text, row.pair, row.target, row.gold, row.columns] for row in rows])
    return {"name": "texts", "digest": hashlib.sha256(whole.encode()).hexdigest()[:32], "rows": len(rows)}, iter(rows)


def _check_links(pattern: Pattern | Function, there: bool) -> None:
    if isinstance(pattern, Pattern) and nodes.LINKS in pattern.needs and not there:
        raise SettingError(
            later("The pattern names links: name the column of alignments by hand (gold), and that of the target.")
        )


def _line(number: int, given: object, more: frozenset[str]) -> Line:
    """A text as a row of a corpus. Raises SettingError."""
    if isinstance(given, str):
        fields: dict[str, Any] = {"text": given}
    elif isinstance(given, Mapping):
        fields = dict(given)
    elif isinstance(given, Sequence) and len(given) == 2:
        fields = dict(zip(("text", "target"), given, strict=True))
    else:
        fields = {}
    if not isinstance(fields.get("text"), str) or not all(isinstance(value, str) for value in fields.values()):
        raise SettingError(
            later(
                "Text {number} is not a string, a pair (source, target), or a mapping with a text, counted from 0.",
                number=number,
            )
        )
    missing = sorted(more - fields.keys())
    if missing:
        raise SettingError(later("Text {number} has no column {name}.", number=number, name=missing[0]))
    text, pair, target, gold = (clean(fields[name]).text if name in fields else None for name in _FIELDS)
    assert text is not None
    named = tuple((name, tuple(fields[name].split())) for name in sorted(more))
    return Line(number, "texts", number + 1, text, pair, target, gold, columns=named)


class _Values:
    """What is measured of each text: for each kind (N, L, H, 3), and the share of even attention (N,)."""

    def __init__(self) -> None:
        self.shares: dict[Kind, list[np.ndarray]] = {}
        self.even: dict[Kind, list[np.ndarray]] = {}
        self.halves: list[np.ndarray] = []
        self.seen: set[bytes] = set()
        self.rows = self.texts = self.repeated = 0
        self.bad: list[Bad] = []

    def add(
        self,
        model: Model,
        part: Sequence[Line | Bad],
        pattern: Pattern | Function,
        kinds: Sequence[Kind],
        seed: int,
        cancelled: Callable[[], bool],
    ) -> None:
        """Measure some rows."""
        encoded: list[Encoded] = []
        weighings: list[dict[Kind, Marks]] = []
        halves: list[bool] = []
        self.rows += len(part)
        for line in part:
            if cancelled():
                raise Cancelled(later("The run was stopped."))
            if isinstance(line, Bad):
                self.bad.append(line)
                continue
            lot = hashlib.sha256(json.dumps([seed, line.text, line.pair, line.target]).encode()).digest()
            if lot in self.seen:
                self.repeated += 1
                continue
            try:
                labels = isinstance(pattern, Pattern) and nodes.LABELS in pattern.needs
                row = encode(model, line, labels=labels, cancelled=cancelled)
            except TextError as error:
                self.bad.append(Bad(line.number, line.file, line.line, str(error.args[0])))
                continue
            self.seen.add(lot)
            encoded.append(row)
            weighings.append(_weighings(model, row, pattern, kinds))
            halves.append(bool(lot[0] & 1))
        if not encoded:
            return
        self.texts += len(encoded)
        self.halves.append(np.array(halves))
        values: dict[Kind, np.ndarray] = {}
        even: dict[Kind, np.ndarray] = {}
        for batch in batches(encoded):
            some = [encoded[at] for at in batch]
            for kind, found in pattern_shares.shares(model, some, [weighings[at] for at in batch], cancelled).items():
                shape = len(encoded), *found.values.shape[1:]
                values.setdefault(kind, np.empty(shape, np.float32))[batch] = found.values
                even.setdefault(kind, np.empty(len(encoded)))[batch] = found.even
        for kind in kinds:
            self.shares.setdefault(kind, []).append(values[kind])
            self.even.setdefault(kind, []).append(even[kind])

    def table(self, rate: float, least: float) -> pd.DataFrame:
        """The heads of all kinds with their tests. Raises TextError where the pattern applies in no text."""
        import pandas as pd

        shares = {kind: np.concatenate(parts).astype(np.float64) for kind, parts in self.shares.items()}
        if not any(np.isfinite(found[..., SHARE]).any() for found in shares.values()):
            raise TextError(later("The pattern applies in none of the texts."))
        half = np.concatenate(self.halves)
        names = [(kind, layer, head) for kind, found in shares.items() for layer, head in np.ndindex(found.shape[1:3])]
        table = pd.DataFrame(names, columns=["kind", "layer", "head"])
        for prefix, texts in (("", ~half), ("held_out_", half)):
            values = [
                np.concatenate([_flat(found[texts][..., column]) for found in shares.values()], axis=1)
                for column in (SHARE, SHUFFLED, ABOVE)
            ]
            even = np.concatenate(
                [
                    np.repeat(np.concatenate(self.even[kind])[texts][:, None], found.shape[1] * found.shape[2], axis=1)
                    for kind, found in shares.items()
                ],
                axis=1,
            )
            evidence = Evidence.of(values[SHARE], even, values[SHUFFLED], values[ABOVE], rate=rate, least=least)
            for name in ("n", "share", "low", "high", "even", "shuffled", "p", "q"):
                table[f"{prefix}{name}"] = getattr(evidence, name)
            table[f"{prefix}found" if not prefix else "replicated"] = evidence.passes
        table["replicated"] &= table["found"]
        return table.sort_values(["found", "share"], ascending=False, kind="stable", ignore_index=True)


def _flat(values: np.ndarray) -> Doubles:
    """(N, L, H) -> (N, L H)."""
    return values.reshape(len(values), -1)


def _weighings(model: Model, row: Encoded, pattern: Pattern | Function, kinds: Sequence[Kind]) -> dict[Kind, Marks]:
    if isinstance(pattern, Pattern):
        on = pattern_shares.pairs(row, kinds)
        return {kind: Marks(pattern.mask(on[kind]), on[kind].mask) for kind in kinds}
    line = row.line
    record = capture(model, line.text, pair=line.pair, target=line.target)
    visible = {kind: np.asarray(record.attention(kind).mask, np.bool_) for kind in kinds}
    return {kind: Marks(checked(pattern(record, kind), visible[kind]), visible[kind]) for kind in kinds}
