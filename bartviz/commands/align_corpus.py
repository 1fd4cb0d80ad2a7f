"""The command ``align`` over a corpus: the links of every row, or which heads of the model align."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bartviz.analysis import alignment, gold_alignment
from bartviz.analysis.gold_alignment import Gold, Score
from bartviz.commands.output import DEVICE, STDIN, print_json, rows_of, say, say_table
from bartviz.errors import SettingError, TextError
from bartviz.record.attention import Head

if TYPE_CHECKING:
    from bartviz.corpus.alignments import Candidate, Pair, Ranking
    from bartviz.corpus.read import Bad, Line
    from bartviz.record.record import Reading, Record

    Judged = tuple[Line | Bad, Record | None, Gold | None]

SAMPLE = 500  # rows from which the best head is found
_OWN = {  # what belongs to a corpus -> the option's default
    "target_file": None,
    "column": None,
    "target": None,
    "gold_column": None,
    "format": None,
    "device": "cpu",
}


def add(align: argparse.ArgumentParser) -> None:
    """Add the options for a corpus."""
    align.add_argument("--model", help="read a corpus with this model: a name of the catalogue, or a folder")
    align.add_argument("--column", metavar="COLUMN", help="of a corpus' texts: a name, or a number from 1")
    align.add_argument("--target", metavar="COLUMN", help="of their translations (by default the model writes them)")
    align.add_argument("--target-file", type=Path, metavar="FILE", help="their translations, line by line")
    align.add_argument("--gold-column", metavar="COLUMN", help="of alignments made by hand")
    align.add_argument(
        "--split", choices=alignment.SPLITS, default="tokenizer", help="words are those of the (%(default)s)"
    )
    align.add_argument(
        "--sample", type=int, default=SAMPLE, metavar="N", help="rows that rank heads: the first %(default)s"
    )
    align.add_argument("--format", choices=tuple(FORMATS), help="with --rank: the best heads as this tool writes them")
    align.add_argument("--device", default="cpu", metavar="NAME", help=DEVICE)


def refuse_without_model(options: argparse.Namespace) -> None:
    """Raise SettingError for what belongs to a corpus."""
    given = [name for name, usual in _OWN.items() if getattr(options, name) != usual]
    if given or options.split != "tokenizer":
        name = (given or ["split"])[0].replace("_", "-")
        raise SettingError(f"--{name} belongs to a corpus: name the model that reads it, with --model.")


@contextmanager
def piped(options: argparse.Namespace) -> Iterator[None]:
    """A corpus that is given as "-": the rows on stdin, in a file, because they are read more than once."""
    if STDIN not in map(str, options.records):
        yield
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "stdin.tsv"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        options.records = [path if str(given) == STDIN else given for given in options.records]
        yield


def run(options: argparse.Namespace) -> int:
    """Print links or the ranking to stdout, and how they were made and what was left out to stderr."""
    from bartviz.corpus import alignments
    from bartviz.models.load import load

    if options.sample < 1:
        raise SettingError("--sample is at least 1.")
    if options.format is not None and not options.rank:
        raise SettingError("--format prints the heads that align best: add --rank.")
    first = list(islice(_rows(options), options.sample))  # the files are looked at before the model is loaded
    model = load(options.model, device=options.device)
    if model.info.kind != "encoder-decoder":
        raise SettingError(
            "Word links are read from cross-attention, and this model has none: choose an encoder-decoder model."
        )
    if options.rank:
        _print_ranking(options, _ranked(options, alignments.records(model, first)))
        return 0
    heads: tuple[Head, ...] = ()
    reading: Reading = options.reading or "predicts"
    if options.heads is not None:
        heads = tuple(Head.parse(name, kinds=("cross",)) for name in options.heads.split(","))
    elif options.layer is None:
        ranking = _ranked(options, alignments.records(model, first))
        alone = (one for one in ranking.ordered() if len(one.heads) == 1)
        best = next(one for one in alone if options.reading in (None, one.reading))
        heads, reading = best.named, best.reading
        say(f"{best.name} aligns best in the first {ranking.pairs:,} pairs.", error=True)
    _print_links(options, alignments.records(model, _rows(options)), heads, reading)
    return 0


def _rows(options: argparse.Namespace) -> Iterator[Line | Bad]:
    """The rows of the corpus, with their translations and alignments by hand. Raises SettingError, TextError."""
    from bartviz.corpus import parallel, read
    from bartviz.corpus.read import Columns

    if len(options.records) != 1:
        raise SettingError("With --model, align reads one corpus: a file, or a folder of files.")
    path = options.records[0]
    if options.target_file is not None:
        if named := next((name for name in ("column", "target", "gold_column") if getattr(options, name)), None):
            raise SettingError(f"Parallel files have no columns: leave out --{named.replace('_', '-')}.")
        return parallel.lines(path, options.target_file, options.gold)
    if options.gold is not None:
        raise SettingError("--gold FILE belongs to parallel files or saved records: name the --gold-column of a table.")
    return read.lines(path, Columns(options.column, target=options.target, gold=options.gold_column))


def _ranked(options: argparse.Namespace, pairs: Iterator[Pair]) -> Ranking:
    from bartviz.corpus.alignments import Ranking

    ranking = Ranking(options.split, options.method, options.threshold)
    for _row, record, known in _judged(options, pairs):
        if record is not None:
            ranking.add(record, known)
    if not ranking.pairs:
        raise TextError("No row of the corpus has words in both texts: there is nothing to align.")
    return ranking


def _judged(options: argparse.Namespace, pairs: Iterator[Pair]) -> Iterator[Judged]:
    """Each row with its record and its alignment by hand; without a record where it is left out, which is said."""
    from bartviz.corpus import alignments
    from bartviz.corpus.read import Bad

    for pair in pairs:
        if isinstance(pair, Bad):
            say(f"{pair.file}, line {pair.line:,}: {pair.reason}", error=True)
            yield pair, None, None
            continue
        row, record = pair
        known = None
        if row.gold is not None:
            try:
                known = alignments.gold(row, record, options.split, one_based=options.one_based, swap=options.swap)
            except TextError as error:
                say(f"{row.file}, line {row.line:,}: {error}", error=True)
        yield row, record, known


def _print_links(options: argparse.Namespace, pairs: Iterator[Pair], heads: tuple[Head, ...], reading: Reading) -> None:
    """A line for each row, an empty one for a row that is left out, so that the lines stay parallel to the corpus."""
    total, name = Score(0, 0, 0, 0), ""
    for row, record, known in _judged(options, pairs):
        links, either = frozenset[tuple[int, int]](), frozenset[tuple[int, int]]()
        if record is not None:
            chosen = heads or alignment.heads_of(record, options.layer)
            shown = alignment.table(record, chosen, reading=reading, split=options.split)
            links = alignment.links(shown.weights, options.method, threshold=options.threshold)
            either = alignment.links(shown.weights, "union") if options.possible else links
            name = shown.name
        if known is not None:
            total += gold_alignment.score(links, known)
        if options.json:
            written = {"links": sorted(links), "possible": sorted(either - links)} if record is not None else {}
            target = {} if record is None else {"target": record.target_text}
            print_json({"file": row.file, "line": row.line} | target | written)
        else:
            say(gold_alignment.write(links, either))
    if name:
        say(f"{name}, rows named by what they {reading.removesuffix('s')}", error=True)
    if total.found or total.sure:
        say(total.measures(), error=True)


def _print_ranking(options: argparse.Namespace, ranking: Ranking) -> None:
    frame = ranking.table()
    if options.format is not None:
        for line in FORMATS[options.format](ranking):
            say(line)
    elif options.json:
        print_json({"pairs": ranking.pairs, "ranking": rows_of(frame)})
    else:
        say_table(frame.to_string(index=False, float_format="{:.3f}".format))
    judged = "error rate" if "error rate" in frame else "agreement"
    say(f"{ranking.pairs:,} pairs, the best first by {judged}.", error=True)


def _best(ranking: Ranking, *, most: int | None = None) -> Candidate:
    """The best first heads of a layer, at most so many, whose rows are named by what they predict: the tools that
    these lists are for do so."""
    return next(
        one
        for one in ranking.ordered()
        if one.first and one.reading == "predicts" and (most is None or len(one.heads) <= most)
    )


def _pairs(ranking: Ranking) -> list[list[int]]:
    """[layer, head] of the heads that align nearly as well as the best one does."""
    alone = [one for one in ranking.ordered() if len(one.heads) == 1 and one.reading == "predicts"]
    return [[one.layer, *one.heads] for one in alone if ranking.agreement[one] >= NEARLY * ranking.agreement[alone[0]]]


def _marian(ranking: Ranking) -> list[str]:
    return [f"transformer-guided-alignment-layer: {_best(ranking, most=1).layer + 1}"]


def _layer_heads(ranking: Ranking) -> list[str]:
    best = _best(ranking)
    return [f"alignment_layer: {best.layer}", f"alignment_heads: {len(best.heads)}"]


def _hooks(ranking: Ranking) -> list[str]:
    return [f"decoder.{layer}.cross_attn.hook_pattern {head}" for layer, head in _pairs(ranking)]


FORMATS: Mapping[str, Callable[[Ranking], list[str]]] = {
    "marian": _marian,
    "opennmt": _layer_heads,
    "fairseq": _layer_heads,
    "ctranslate2": _layer_heads,
    "transformers": lambda ranking: [json.dumps({"alignment_heads": _pairs(ranking)})],
    "transformerlens": _hooks,
}
"""How other tools are told which heads align. Marian takes the first head of a layer, counted from 1; OpenNMT, fairseq
and CTranslate2 the mean of the first heads of a layer, counted from 0; Whisper in transformers and CTranslate2 a list
of heads; TransformerLens names the weights of a layer's heads."""
NEARLY = 0.9  # of the best head's agreement
