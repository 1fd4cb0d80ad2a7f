"""The atlas of a corpus: what each head does, how sure that is, and the texts where it does most and least.

A folder of Parquet files and a description; it opens without torch.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz.analysis.corpus import of_head, ranges
from bartviz.analysis.corpus_against import Pair, against, paired_against, shared_kinds
from bartviz.analysis.corpus_roles import roles
from bartviz.analysis.means import alike
from bartviz.arrays import Floats
from bartviz.corpus import look_tables, schema, tables, text_values
from bartviz.corpus.find import LIMIT, Found, check_heads, find, least_of, with_head
from bartviz.corpus.look_tables import TOKENS
from bartviz.corpus.looks import Looks
from bartviz.corpus.passport import passport
from bartviz.corpus.read import Bad, Line
from bartviz.corpus.relations import Relations
from bartviz.corpus.run_folder import FORMAT, Shard
from bartviz.corpus.run_folder import write as write_file
from bartviz.corpus.stability import resampled, stability, text_blocks
from bartviz.corpus.sums import Bins, Partial, Whole, bins_of, merged
from bartviz.errors import SettingError, TextError, choices, missing
from bartviz.language import later
from bartviz.record.attention import KINDS, Head, HeadName, Kind
from bartviz.safety import files
from bartviz.version import versions

if TYPE_CHECKING:
    import pandas as pd

DESCRIPTION = "atlas.json"
MOST_BAD = 1_000_000  # rows that were left out and are listed; all are counted


@dataclass(frozen=True)
class Atlas:
    """The measures of every head over a corpus.

    ``description`` has the model, the corpus, the settings, the number of texts, and the versions (with the commit)
    that it was computed with; ``began_with`` has those of the beginning, where a run was finished with others. The
    tables of an atlas that was not written to its ``path`` are ``held``, by name, as they would be in that folder, and
    the values of its texts are in ``kept``, a file or its bytes, if they are anywhere else.

    >>> atlas = bartviz.open_atlas("atlas")
    >>> cross = atlas.heads[(atlas.heads["kind"] == "cross") & (atlas.heads["measure"] == "alignment")]
    >>> cross.nlargest(1, "mean")[["layer", "head"]].values.tolist()  # the head that aligns best
    [[1, 4]]
    """

    path: Path
    description: Mapping[str, Any]
    held: Mapping[str, pd.DataFrame] = field(default_factory=dict, repr=False, compare=False)
    kept: text_values.Source | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        of = self.description
        return f"<Atlas of {of['model']['name']}: {of['texts']:,} texts of {of['corpus']['name']}>"

    @property
    def source(self) -> str:
        """Where the texts are from, and their licence, as the page shows it below them; empty if it is not known."""
        return str(self.description["corpus"].get("source", ""))

    @cached_property
    def heads(self) -> pd.DataFrame:
        """A line for each head and measure: kind, layer, head, measure, n texts where it is defined, mean, sd, the 95%
        interval of the mean from low to high, even, the mean of even attention, and the mean's standard error se with
        its degrees of freedom df, enlarged where neighbouring texts are alike; NaN where undefined."""
        return self._table("heads")

    @cached_property
    def examples(self) -> pd.DataFrame:
        """The texts with the highest and the lowest values, some drawn at random, and typical ones: of others drawn at
        random those nearest to the mean. Columns: kind, layer, head, measure, which ("highest", "lowest", "random",
        "typical"), rank, value, and the text: file, line, text, pair, target."""
        found, texts = self._table("examples"), self._table("texts")
        if not found["number"].isin(texts["number"]).all():
            raise self._contradicts("examples")
        return found.merge(texts, on="number", how="left").drop(columns="number")

    @property
    def wider(self) -> float:
        """How many times as wide the intervals are, in the median, because rows that stand next to each other are
        alike; 1 where they are not, or are too few to say."""
        return float(self.description.get("wider", 1.0))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention, in reading order."""
        return tuple(kind for kind in KINDS if (self.heads["kind"] == kind).any())

    @cached_property
    def histograms(self) -> pd.DataFrame:
        """How many texts have a value in each bin: kind, layer, head, measure, bin (where it begins), texts. The last
        bin of a measure has all values above, too."""
        found = self._table("histograms")
        if not schema.counts_agree(self.heads, found):
            raise self._contradicts("histograms")
        return found

    @cached_property
    def bad(self) -> pd.DataFrame:
        """The rows that were left out, the first million of them: number, file, line, reason. How many there are is
        ``left_out`` of the description."""
        return self._table("bad")

    @cached_property
    def relations(self) -> pd.DataFrame:
        """Of a corpus with trees, how often each head follows an arc: kind, layer, head, relation, arcs, to_head (the
        share of words that look most at their head, among other words), to_dependent (of heads that look most at the
        word), and one_distance: the share of arcs of the most frequent distance in words, which a head that always
        looks so far would follow. Empty without trees."""
        there = "relations" in (self.held or self.description["files"])
        return self._table("relations") if there else tables.relations({})

    def looks(self, head: HeadName | None = None, *, special: bool = True) -> pd.DataFrame:
        """What heads look at: the tokens that get more of a head's weight than even attention would give them, and
        those whose rows give more of theirs to other words than the head's rows do in the mean.

        A line for a token of a ``head``, or of each, from the highest ``low`` down: kind, layer, head, side ("key":
        looked at, "query": looks), token as the app shows it (with ⋯ before it where it continues a word), special,
        whole (how many of them are words by themselves), n (how many there are), texts (that have it), share, even,
        lift, and its 95% interval from low to high.
        Of a key, ``share`` is its share of the weight of all rows, ``even`` what even attention would give. Of a query,
        ``share`` is its share of the weight on tokens that are neither special nor the row's own (nor, in a decoder,
        the first), ``even`` its share of the rows. ``lift`` is share / even. Rows of special tokens are not counted.
        The interval is that of ``analysis.ratios.of_ratios`` over texts.
        Tokens in fewer than 20 texts are left out; for each side there are at most 15 tokens that are special, and 15
        that are not.
        special: False leaves special tokens out, and their weight: shares are then of what others get.
        Empty where no token is in so many texts. Raises SettingError for an atlas of an earlier version, or a head that
        it lacks.

        >>> looks = atlas.looks("encoder L0H0", special=False)
        >>> bool((looks["lift"] >= looks["low"]).all()), sorted(set(looks["side"]))
        (True, ['key', 'query'])
        """
        found = self._looking("looks", head).astype({"special": bool})
        if not special:
            found = found[~found["special"]]
            share, even = found.pop("words_share"), found.pop("words_even")
            scaled = {"share": found["share"] / share, "even": found["even"] / even}
            found = found.assign(**scaled, **{end: found[end] * even / share for end in ("low", "high")})
        columns = [name for name in TOKENS if name not in ("low", "high", "words_share", "words_even")]
        return found.assign(lift=found["share"] / found["even"])[[*columns, "lift", "low", "high"]].reset_index(
            drop=True
        )

    def distances(self, head: HeadName | None = None) -> pd.DataFrame:
        """How far a ``head``, or each, looks: the share of its weight by distance, the key's position less the row's,
        in tokens.

        A line for each range of distances: kind, layer, head, special, nearest and farthest (ends included, infinite
        beyond 128), share, its 95% interval from low to high, and even, the share of even attention. The last line of
        a head is the share of special tokens, which have no distance here. Shares of a head sum to 1. Of
        cross-attention positions are those in either text, special tokens before it not counted. Rows of special tokens
        are not counted.
        Raises SettingError for an atlas of an earlier version, or a head that it lacks.

        >>> far = atlas.distances("encoder L0H0")
        >>> len(far), round(far["share"].sum(), 3)
        (22, 1.0)
        """
        return self._looking("distances", head).astype({"special": bool})

    @property
    def has_looks(self) -> bool:
        """Whether it says what heads look at; atlases of earlier versions do not."""
        return "looks" in (self.held or self.description["files"])

    def _looking(self, name: str, head: HeadName | None) -> pd.DataFrame:
        if not self.has_looks:
            raise SettingError(
                later("This atlas does not say what heads look at: an earlier version made it. Create it again.")
            )
        found = self._looking_at[name]
        if head is None:
            return found.copy()
        wanted = Head.parse(head, kinds=self.kinds)
        if of_head(self.heads, wanted).empty:
            raise SettingError(f"There is no head {wanted} in this atlas: choose {choices(ranges(self.heads))}.")
        return of_head(found, wanted).reset_index(drop=True)

    @cached_property
    def _looking_at(self) -> Mapping[str, pd.DataFrame]:
        return {name: self._table(name) for name in ("looks", "distances")}

    @property
    def roles(self) -> pd.DataFrame:
        """The heads that have a role, as ``analysis.corpus_roles.roles`` names them in the current language."""
        return roles(self.heads)

    def bins(self, measure: str) -> Bins:
        """The bins of a measure's histogram."""
        return bins_of(measure, schema.own_bins(self.description))

    @property
    def numbers(self) -> Whole:
        """(N,) the row in the corpus, from 0, of each text that has values. Raises SettingError as ``values``."""
        return self._values.numbers

    def values(self, kind: Kind, measure: str) -> Floats:
        """The value of a measure for each text: (texts, layers, heads), NaN where it is not defined.

        The texts are those of ``numbers``. Raises SettingError for an atlas without values, which ``bartviz corpus
        --values`` keeps, or a kind or measure that it lacks.
        """
        known = self._values.measures
        if kind not in known:
            raise SettingError(f"The atlas has no {kind} attention: choose {choices(known)}.")
        if measure not in known[kind]:
            raise SettingError(f"There are no values of {measure} for each text: choose {choices(known[kind])}.")
        return self._values.of(kind, measure)

    def measures_with_values(self, kind: Kind) -> tuple[str, ...]:
        """The measures that ``values`` gives for this kind. Raises SettingError for an atlas without values."""
        return self._values.measures.get(kind, ())

    def unpaired(self, other: Atlas) -> str:
        """Why ``against`` cannot pair the texts of two atlases; empty if it can."""
        for atlas in (self, other):
            if not atlas.has_values:
                return later("{name} has no values of each text", name=atlas.description["model"]["name"])
        one, two = self._values, other._values
        shared, first, second = np.intersect1d(one.numbers, two.numbers, assume_unique=True, return_indices=True)
        differ = one.digests[first] != two.digests[second]
        if differ.any():
            row = int(shared[differ.argmax()]) + 1
            return later("their texts differ, first in row {row:,}", row=row)
        return "" if len(shared) else later("they share no text")

    def against(self, other: Atlas | str | Path, *, paired: bool = False) -> pd.DataFrame:
        """This atlas and another one, or the one in a folder, head by head, with their difference, as
        ``analysis.corpus_against.against`` compares them.

        paired: over the same texts, text by text, as ``analysis.corpus_against.paired_against``: its intervals are
        narrower, because a text that is hard for one model is hard for the other.
        Raises SettingError where no kind of attention has the same layers and heads in both, and for ``paired`` where
        an atlas has no values of each text, or their texts differ.

        >>> table = atlas.against("other")
        >>> bool((table["difference"] == table["other_mean"] - table["mean"]).all())
        True
        """
        two = other if isinstance(other, Atlas) else open_atlas(other)
        if not paired:
            return against(self.heads, two.heads)
        reason = self.unpaired(two)
        if reason:
            raise SettingError(
                later(
                    "These atlases cannot be compared text by text: {reason}. Create both with bartviz corpus --values "
                    "over the same file.",
                    reason=reason,
                )
            )
        shared, first, second = np.intersect1d(self.numbers, two.numbers, assume_unique=True, return_indices=True)
        both = {
            kind: [name for name in names if name in two._values.measures.get(kind, ())]
            for kind, names in self._values.measures.items()
        }
        pairs = (
            Pair(kind, name, shared, self.values(kind, name)[first], two.values(kind, name)[second])
            for kind in shared_kinds(self.heads, two.heads)
            for name in both[kind]
        )
        return paired_against(self.heads, two.heads, pairs)

    @property
    def has_values(self) -> bool:
        """Whether it has the values of each text."""
        return self.kept is not None or text_values.NAME in self.description.get("files", {})

    @cached_property
    def _values(self) -> text_values.TextValues:
        if not self.has_values:
            raise SettingError("This atlas has no values of each text: run bartviz corpus with --values.")
        source = self._kept()
        if source != self.kept:
            self._check_kept(source)
        shapes = {
            kind: (int(rows["layer"].max()) + 1, int(rows["head"].max()) + 1)
            for kind in self.kinds
            for rows in [self.heads[self.heads["kind"] == kind]]
        }
        return text_values.TextValues(source, self.path.name, self.description["texts"], shapes)

    def _kept(self) -> text_values.Source:
        return self.path / text_values.FILE if self.kept is None else self.kept

    def _check_kept(self, source: text_values.Source) -> None:
        try:
            same = text_values.digest(source) == self.description["files"][text_values.NAME]
            reason = later("it was changed after the atlas was created")
        except OSError:
            same, reason = False, later("it is missing or cannot be read")
        if not same:
            raise self._unread(text_values.FILE, reason)

    def kept_size(self) -> int:
        """The bytes of the file of values."""
        source = self._kept()
        return len(source) if isinstance(source, bytes) else files.size_of(source)

    def kept_bytes(self) -> bytes:
        """The file of values."""
        source = self._kept()
        return source if isinstance(source, bytes) else files.read(source, schema.LARGEST)

    def passport(self, head: HeadName, *, measure: str | None = None) -> str:
        """All that is known of a head, such as "cross L2H5", as one HTML page that can be printed.

        ``measure``: of its distribution and examples, by default the one that names it. Raises SettingError for a head
        or a measure that the atlas lacks.
        """
        return passport(self, Head.parse(head, kinds=self.kinds), measure)

    def stability(self, *, size: int | None = None, seed: int = 0) -> pd.DataFrame:
        """The interval of each mean by a bootstrap over the parts of the run, as ``corpus.stability.stability``
        computes it; or over blocks of ``size`` rows, of an atlas that keeps the values of its texts. Raises
        SettingError for a folder without the run's shards, for an atlas without values, and for fewer than ten blocks.
        """
        if size is None:
            return stability(self._folder(), seed=seed)
        if size < 1:
            raise SettingError("A block has at least one row.")
        blocks = [
            text_blocks(kind, names, size, self.numbers, [self.values(kind, name) for name in names])
            for kind, names in self._values.measures.items()
        ]
        return resampled(blocks, seed=seed)

    def find(self, /, *, limit: int = LIMIT, unique: bool = False, **fields: Any) -> Found:
        """The edges that match every field, the highest weights first; how many match in all.

        kind, layer, head: of the head; or head alone, such as "cross L2H5". query, key: the text of a token as it is
        shown, or "number", "punctuation", "capitalised", "special" ("=number" is that text). where: the key is
        "earlier", "later" or the "same" token, or key minus query position; of self-attention alone. least: weight.
        same: whether both tokens are equal.
        unique: show the highest edge of each text alone, and of texts that are repeated the first; ``count`` has all.
        Raises SettingError for other fields or values, or an atlas without single edges; PackageError without duckdb.
        Warns where ``least`` is below the weight above which the run kept edges.
        """
        fields = with_head(fields, self.kinds)
        check_heads(fields, self.heads)
        found = find(self._folder(), fields, limit, unique=unique)
        kept = self.description["settings"].get("edges", 0.0)
        if fields.get("least") is not None and least_of(fields["least"]) < kept:
            warnings.warn(f"This atlas stores edges above {kept:g}: weaker ones are not counted.", stacklevel=2)
        return found

    def _folder(self) -> Path:
        if self.held:
            raise SettingError(
                "This atlas is only in memory. Create it with bartviz corpus, which stores more of a run."
            )
        return self.path

    def check(self) -> None:
        """Raise SettingError if a table is damaged, was changed, or contradicts the others."""
        _ = self.heads, self.histograms, self.examples, self.bad, self.relations
        if self.has_looks:
            _ = self._looking_at
        if self.has_values:
            _ = self.numbers

    def save(self, path: str | Path) -> Atlas:
        """Write the atlas to a folder, its tables first and at last its description; returns the one that is there.

        Raises SettingError for a folder that has other files, OSError.
        """
        folder = Path(path)
        known = {DESCRIPTION, text_values.FILE, *(f"{name}.parquet" for name in schema.TABLES)}
        if folder.exists() and not {entry.name for entry in folder.iterdir()} <= known:
            raise SettingError(f"{folder.name} contains other files: choose a new folder.")
        folder.mkdir(parents=True, exist_ok=True)
        return write(folder, self)

    def _contradicts(self, name: str) -> SettingError:
        return SettingError(
            later(
                "{file} of the atlas {name} cannot be read: it contradicts the other tables.",
                file=f"{name}.parquet",
                name=self.path.name,
            )
        )

    def _unread(self, file: str, reason: str) -> SettingError:
        return SettingError(
            later("{file} of the atlas {name} cannot be read: {reason}.", file=file, name=self.path.name, reason=reason)
        )

    def _table(self, name: str) -> pd.DataFrame:
        if self.held:
            return self.held[name]
        file = self.path / f"{name}.parquet"
        reason: str | None = None
        try:
            data = files.read(file, schema.LARGEST)
        except files.TooLarge as error:
            reason = later("it has {size:,} bytes, and at most {most:,} are read", size=error.size, most=error.most)
        except OSError:
            reason = later("it is missing or cannot be read")
        else:
            if schema.digest(data) != self.description["files"][name]:
                reason = later("it was changed after the atlas was created")
        if reason is not None:
            raise self._unread(file.name, reason)
        return schema.read(name, data, file.name, self.path.name, schema.own_bins(self.description))


def open_atlas(path: str | Path) -> Atlas:
    """The atlas in a folder that ``bartviz corpus`` has written, or in the file that the app offers. Needs no torch.

    Raises SettingError for another folder, or a run that is not finished; PackageError without pyarrow.

    >>> atlas = bartviz.open_atlas("atlas")
    >>> sorted(set(atlas.heads["kind"]))
    ['cross', 'decoder', 'encoder']
    """
    folder = Path(path)
    _check_parquet()
    if folder.suffix.lower() == ".zip" and folder.is_file():
        from bartviz.corpus import one_file  # which needs this module

        return one_file.unpack(files.read(folder, one_file.LARGEST), folder.name)
    try:
        written = files.read(folder / DESCRIPTION, schema.LARGEST_DESCRIPTION)
    except OSError as error:
        unfinished = (folder / "run.json").is_file()
        advice = "its run is not finished: add --resume." if unfinished else "bartviz corpus writes one."
        raise SettingError(f"There is no atlas in {folder.name}: {advice}") from error
    return Atlas(folder, described(written, folder.name))


def described(written: bytes, name: str) -> dict[str, Any]:
    """The description of an atlas from its file. Raises SettingError for one that is damaged or of another version."""
    try:
        description = json.loads(written[: schema.LARGEST_DESCRIPTION])
    except (ValueError, RecursionError):
        description = None  # it is no description at all
    if isinstance(description, dict) and description.get("format", FORMAT) != FORMAT:
        raise SettingError(
            later("The atlas in {name} was made by another version of bartviz: create it again.", name=name)
        )
    schema.check_description(description, name)
    assert isinstance(description, dict)
    return description


def added(manifest: Mapping[str, object], shards: Iterable[Shard], random: Shard, rows: Iterable[Line | Bad]) -> Atlas:
    """The atlas of all shards. Raises TextError where no row can be used."""
    sums: dict[Kind, Partial] = {}
    bad: list[Bad] = []
    relations: dict[Kind, Relations] = {}
    looks: dict[Kind, Looks] = {}
    texts = cut = 0
    complete = True
    for shard in shards:
        sums = merged([sums, shard.sums])
        for kind, found in shard.relations.items():
            relations[kind] = relations[kind] + found if kind in relations else found
        complete &= bool(shard.looks) or not shard.texts  # a part may be of an earlier version
        for kind, looked in shard.looks.items():
            looks[kind] = looks[kind] + looked if kind in looks else looked
        bad += shard.bad
        texts += shard.texts
        cut += shard.cut
    if not texts:
        if not bad:
            raise TextError(later("There are no rows."))
        raise TextError(later("None of the {count:,} rows can be used. {reason}", count=len(bad), reason=bad[0].reason))
    about = dict(manifest) | {"versions": versions()} | ({"cut": cut} if cut else {})
    made = in_memory(about, sums, random.sums, texts, bad, rows, relations)
    if not complete:
        return made
    shapes = {kind: part.shape for kind, part in sums.items()}
    more = {"looks": look_tables.tokens(looks, shapes), "distances": look_tables.distances(looks, shapes)}
    return replace(made, held={**made.held, **{name: schema.typed(name, table) for name, table in more.items()}})


def in_memory(
    manifest: Mapping[str, Any],
    sums: Mapping[Kind, Partial],
    random: Mapping[Kind, Partial],
    texts: int,
    bad: Sequence[Bad],
    rows: Iterable[Line | Bad],
    relations: Mapping[Kind, Relations],
) -> Atlas:
    """The atlas of these sums; ``random`` are those over random tokens, ``rows`` the corpus again, for the examples."""
    import pandas as pd

    every, own = [*sums.values(), *random.values()], schema.own_bins(manifest)
    examples = pd.concat([tables.examples(part) for part in sums.values()], ignore_index=True)
    wanted = frozenset(examples["number"].tolist())
    held = {
        "heads": pd.concat([tables.heads(part) for part in every], ignore_index=True),
        "histograms": pd.concat([tables.histograms(part, own) for part in every], ignore_index=True),
        "examples": examples,
        "texts": tables.texts(rows, wanted),
        "bad": pd.DataFrame([asdict(row) for row in bad[:MOST_BAD]], columns=["number", "file", "line", "reason"]),
        "relations": tables.relations(relations),
    }
    held = {name: schema.typed(name, table) for name, table in held.items()}
    about = dict(manifest) | {"texts": texts, "left_out": len(bad)}
    wider = alike(np.concatenate([part.means.wider for part in sums.values()]))
    about |= {"wider": round(wider, 2)} if wider > 1 else {}
    return Atlas(Path(str(manifest["corpus"]["name"])), about, held)


def write(folder: Path, made: Atlas) -> Atlas:
    """Write the tables of an atlas to a folder, and at last its description; the atlas that is there."""
    description, data_of = packed(made)
    if made.has_values:
        source, target = made._kept(), folder / text_values.FILE
        if isinstance(source, bytes):
            write_file(target, source)
        elif source != target:
            shutil.copyfile(source, target)
    for name, data in data_of.items():
        write_file(folder / f"{name}.parquet", data)
    write_file(folder / DESCRIPTION, json.dumps(description, indent=1).encode())
    return Atlas(folder, description)


def packed(made: Atlas) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The description and the tables of an atlas as its files hold them; the values of each text are in the description
    alone."""
    names = [name for name in made.description.get("files", {}) if name != text_values.NAME]
    tables_of = made.held or {name: made._table(name) for name in names}
    data = {name: schema.packed(name, table) for name, table in tables_of.items()}
    more = {text_values.NAME: text_values.digest(made._kept())} if made.has_values else {}
    return schema.sealed(made.description, data, more), data


def _check_parquet() -> None:
    """Raise PackageError without the package that reads Parquet."""
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError as error:
        raise missing("pyarrow") from error
