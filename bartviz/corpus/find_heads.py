"""Which heads of a model follow patterns, over many texts: effect, test and replication.

The texts are divided by lot. Heads are found in one half, at a false-discovery rate over all heads that were tried; a
head is replicated if it passes the same tests in the other half, too. Parts of the texts are measured by one process or
several, and a run that was stopped is resumed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bartviz.analysis import pattern_masks
from bartviz.analysis.pattern_masks import Function
from bartviz.callbacks import never, silent
from bartviz.corpus import head_effects, head_tests, read
from bartviz.corpus import workers as workers_of
from bartviz.corpus.encode import check_columns
from bartviz.corpus.found_heads import FoundHeads
from bartviz.corpus.head_tests import LEAST, RATE
from bartviz.corpus.pattern_work import Folder, Measuring, Part
from bartviz.corpus.read import Bad, Columns, Form, Line
from bartviz.corpus.run_folder import jobs
from bartviz.corpus.workers import Report
from bartviz.errors import SettingError, TextError, choices
from bartviz.language import later
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.patterns import nodes
from bartviz.patterns.grammar import Pattern, parse
from bartviz.record.attention import KINDS, Head, Kind
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import depths
from bartviz.text.clean import clean
from bartviz.version import versions

SIZE = 2_048  # rows of a part
MOST = 32  # patterns of a run
FUNCTION = "function "  # before the name of a pattern that is one
_FIELDS = ("text", "pair", "target", "gold")
Given = str | Pattern | Function
Texts = str | PathLike[str] | Iterable[str | Sequence[str] | Mapping[str, Any]]


@torch_defaults()
def find_heads(
    model: str | Model,
    texts: Texts,
    pattern: Given | Sequence[Given] | Mapping[str, Given],
    *,
    seed: int = 0,
    columns: Columns | None = None,
    form: Form | None = None,
    paragraphs: bool = False,
    kinds: Sequence[Kind] | None = None,
    rate: float = RATE,
    least: float = LEAST,
    silence: bool = False,
    name: str | None = None,
    device: str = "cpu",
    parts: str | PathLike[str] | None = None,
    workers: int = 1,
    ray: str | None = None,
    size: int = SIZE,
    report: Report = silent,
    cancelled: Callable[[], bool] = never,
) -> FoundHeads:
    """Which heads of a model follow a pattern over many texts.

    model: one that is loaded; or a name as ``bartviz.load`` accepts it, with ``name`` and ``device`` as there, which
    each of several workers loads once.
    texts: the path of a corpus as ``bartviz corpus`` reads it, or texts: strings, pairs (source, target), or mappings
    with ``text`` and any of ``pair``, ``target``, ``gold``, and the columns that the pattern names (a value for each
    word, between spaces).
    pattern: as docs/patterns.md describes; or a function of a record and a kind of attention that returns a mask
    (query, key), for which each text is captured once more. Several, as a list or by names of your own, are tested in
    one pass over the texts, and the false-discovery rate is that over all heads and patterns.
    seed: of the lot that divides the texts in halves. A repeated text counts once.
    columns, form, paragraphs: of a file, as for a corpus. kinds: of attention; by default all for which the pattern has
    a meaning.
    rate, least: the false-discovery rate, and the share of weight that the lower end of a head's interval must reach.
    silence: also what silencing each head that is found changes, two more passes over all texts for each; by default
    left out, because a pattern that many heads follow takes many.
    parts: a folder for what is measured, from which the same call goes on after a stop; by default none is kept.
    workers: processes; ray: the address of a Ray cluster on which they run, or "local" for a Ray of this run's own.
    size: rows of a part: what is lost at most for each worker if the run is stopped.
    report: called with a ``Progress`` after each part, and once more for each where heads are silenced. cancelled:
    looked at after every text and layer, if this process works alone; True ends the run.
    Raises PatternError, SettingError for settings or a pattern without a meaning for the model, TextError where the
    pattern applies in no text, PackageError without Ray, Cancelled.

    >>> texts = ["I want to buy a car.", "The old man sleeps.", "We see a dog.", "She reads two books."]
    >>> texts += ["He is my friend.", "Tom lives in Boston."]
    >>> bartviz.find_heads(model, texts, "from any to previous token", kinds=["encoder"]).found["head"].tolist()
    [4]
    """
    if not 0 < rate < 1 or not 0 <= least < 1:
        raise SettingError(later("The rate is between 0 and 1, and the least share at least 0 and below 1."))
    several = not isinstance(pattern, str | Pattern) and not callable(pattern)
    patterns = _patterns(pattern)
    known = tuple(patterns.values())
    _check(model, known, workers, size, ray, parts)
    loading = partial(load, model, name=name, device=device) if isinstance(model, str) else None
    loaded = model if isinstance(model, Model) else load(model, name=name, device=device)
    of_each = tuple(_kinds(loaded, one, kinds) for one in known)
    wanted = [kind for kind in KINDS if any(kind in one for one in of_each)]
    about, rows = _rows(loaded, texts, known, columns or Columns(), form, paragraphs=paragraphs)
    texts_of = {name: _written(one) for name, one in patterns.items()}
    written = texts_of if several else _written(known[0])
    settings = {"seed": seed, "rate": rate, "least": least, "kinds": wanted}
    if silence:
        settings["silence"] = head_effects.outcome(loaded, rows)
    manifest = {
        "model": asdict(loaded.info),
        "corpus": dict(about),
        "settings": {"pattern": written, "seed": seed, "kinds": wanted, "size": size},
    }
    running = _Running(Measuring(loaded, known, of_each, seed, cancelled=cancelled), loading, rows, workers, ray, size)
    with _folder(parts) as path:
        shares = running.measured(path, manifest, int(str(about["rows"])), report)
        table = head_tests.table(shares, rate, least, tuple(patterns) if several else ())
        if silence:
            rows_of = (
                [table[table["found"] & (table["pattern"] == name)] for name in patterns]
                if several
                else [table[table["found"]]]
            )
            found = tuple(
                tuple(Head(*row) for row in one[["kind", "layer", "head"]].to_numpy().tolist()) for one in rows_of
            )
            place = path / f"silenced-{hashlib.sha256(repr(found).encode()).hexdigest()[:8]}"
            silenced = {**manifest, "heads": [[str(head) for head in one] for one in found]}
            again = running.silencing(found)
            effects = again.measured(place, silenced, int(str(about["rows"])), report) if any(found) else None
            table = head_tests.with_effects(table, effects)
        began = running.began
    return FoundHeads(
        texts_of,
        table,
        loaded.info,
        about,
        settings,
        shares.texts,
        shares.repeated,
        shares.bad,
        versions() | ({} if began == versions() else {"began_with": began}),
    )


def _patterns(given: Given | Sequence[Given] | Mapping[str, Given]) -> dict[str, Pattern | Function]:
    """The patterns by their names: one is named by itself, as each of a list. Raises SettingError, PatternError."""
    if isinstance(given, Mapping):
        named = list(given.items())
    else:
        several = [given] if isinstance(given, str | Pattern) or callable(given) else given
        named = [(one if isinstance(one, str) else _written(one), one) for one in several]
    names = [name for name, _ in named]
    if not 0 < len(names) <= MOST:
        raise SettingError(
            later("One run tries 1 to {most} patterns, and these are {count}.", most=MOST, count=len(names))
        )
    twice = next((name for name in names if not name or names.count(name) > 1), None)
    if twice is not None:
        raise SettingError(later("Two patterns have the name {name!r}, or one has none: name each.", name=twice))
    return {name: pattern_masks.known(one) for name, one in named}


def _written(pattern: Pattern | Function) -> str:
    if isinstance(pattern, Pattern):
        return pattern.text
    return f"{FUNCTION}{getattr(pattern, '__name__', 'without a name')}"


def _check(
    model: str | Model,
    patterns: Sequence[Pattern | Function],
    workers: int,
    size: int,
    ray: str | None,
    parts: str | PathLike[str] | None,
) -> None:
    """Raise SettingError for settings that do not exist, or not together."""
    if workers < 1 or size < 1:
        raise SettingError(later("Workers and rows of a part are at least 1."))
    several = workers > 1 or ray is not None
    if several and not isinstance(model, str):
        raise SettingError(
            later("Several workers each load the model: give its name or its folder, or use one worker.")
        )
    if not all(isinstance(one, Pattern) for one in patterns) and (several or parts is not None):
        raise SettingError(
            later("A function is known in this process alone: use one worker and no folder of parts, or a pattern.")
        )


@contextmanager
def _folder(parts: str | PathLike[str] | None) -> Iterator[Path]:
    """The folder of the parts, for as long as the run lasts where none is kept."""
    if parts is not None:
        yield Path(parts)
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


@dataclass
class _Running:
    """Who measures the parts of which rows."""

    measuring: Measuring
    loading: Callable[[], Model] | None
    rows: Callable[[], Iterator[Line | Bad]]
    workers: int
    ray: str | None
    size: int
    began: Mapping[str, object] | None = None

    def silencing(self, heads: tuple[tuple[Head, ...], ...]) -> _Running:
        """The same, for what silencing these heads of each pattern does."""
        known = self.measuring
        measuring = Measuring(known.model, known.patterns, known.kinds, known.seed, heads, known.cancelled)
        return _Running(measuring, self.loading, self.rows, self.workers, self.ray, self.size)

    def measured(self, path: Path, manifest: Mapping[str, Any], count: int, report: Report) -> head_tests.Values:
        """What all parts say; those that the folder lacks are measured. Raises SettingError for another run's."""
        folder = Folder(path, manifest, resume=True)
        self.began = folder.began
        known = self.measuring
        loading = self.loading or (lambda: known.model)
        texts = tuple(one.text for one in known.patterns if isinstance(one, Pattern))
        starting = partial(_measuring, loading, texts, known.kinds, known.seed, known.heads)
        todo = jobs(self.rows(), self.size)
        workers_of.measure(folder, known, starting, todo, count, report, workers=self.workers, ray=self.ray)
        parts: Iterator[Part] = map(folder.get, jobs(self.rows(), self.size))
        return head_tests.Values.of(parts)


def _measuring(
    loading: Callable[[], Model],
    patterns: tuple[str, ...],
    kinds: tuple[tuple[Kind, ...], ...],
    seed: int,
    heads: tuple[tuple[Head, ...], ...],
) -> Measuring:
    """What a worker of its own measures with."""
    return Measuring(loading(), tuple(map(parse, patterns)), kinds, seed, heads)


def _kinds(model: Model, pattern: Pattern | Function, asked: Sequence[Kind] | None) -> tuple[Kind, ...]:
    there = tuple(kind for kind in KINDS if kind in depths(model.network))
    if asked is not None and (not asked or not set(asked) <= set(there)):
        raise SettingError(later("The kinds of attention of this model are {choices}.", choices=choices(there)))
    fit = pattern.kinds(there) if isinstance(pattern, Pattern) else there
    found = fit if asked is None else tuple(kind for kind in fit if kind in asked)
    if not found:
        raise SettingError(
            later(
                "The pattern {pattern!r} has a meaning for {choices} attention of this model alone.",
                pattern=_written(pattern),
                choices=choices(fit),
            )
        )
    return found


def _rows(
    model: Model,
    texts: Texts,
    patterns: Sequence[Pattern | Function],
    columns: Columns,
    form: Form | None,
    *,
    paragraphs: bool,
) -> tuple[dict[str, object], Callable[[], Iterator[Line | Bad]]]:
    """What the corpus is, and its rows, which can be read again and again."""
    more = frozenset().union(*(one.columns for one in patterns if isinstance(one, Pattern)))
    if isinstance(texts, str | PathLike):
        path = Path(texts)
        if isinstance(texts, str) and not path.exists():
            raise TextError(later("There is no file at that path. Texts are given as a list."))
        check_columns(model, columns)
        _check_links(patterns, columns.gold is not None)
        read.check(path, columns, form, more)
        lines = partial(read.lines, path, columns, form, more=more, paragraphs=paragraphs)
        about = {"name": path.name, "digest": read.digest(path), "rows": sum(1 for _ in lines())}
        asked = {name: value for name in _FIELDS if (value := getattr(columns, name)) is not None}
        written = {} if form is None or form == Form() else {"form": asdict(form)}
        split = {"paragraphs": True} if paragraphs else {}
        return about | {"columns": asked} | written | split, lines
    rows = [_line(number, text, more) for number, text in enumerate(texts)]
    has = {name: any(getattr(row, name) is not None for row in rows) for name in _FIELDS}
    check_columns(model, Columns(None, *(name if has[name] else None for name in _FIELDS[1:])))
    _check_links(patterns, has["gold"])
    whole = json.dumps([[row.text, row.pair, row.target, row.gold, row.columns] for row in rows])
    return {
        "name": "texts",
        "digest": hashlib.sha256(whole.encode()).hexdigest()[:32],
        "rows": len(rows),
    }, lambda: iter(rows)


def _check_links(patterns: Sequence[Pattern | Function], there: bool) -> None:
    if not there and any(isinstance(one, Pattern) and nodes.LINKS in one.needs for one in patterns):
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
