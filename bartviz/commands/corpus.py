"""The command ``corpus``: every head of a model over a file of texts, added up to an atlas."""

from __future__ import annotations

import argparse
from argparse import BooleanOptionalAction
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bartviz.commands import corpus_series
from bartviz.commands.output import DEVICE, EXAMPLES, print_json, rows_of, say
from bartviz.errors import SettingError, choices
from bartviz.reading.encodings import ENCODINGS
from bartviz.text.clean import Truncate

if TYPE_CHECKING:
    from bartviz.corpus.workers import Progress


def add(commands: Any) -> None:
    """Add the command to the parser."""
    corpus = commands.add_parser(
        "corpus",
        help="measure every head over a file of texts",
        description="Measure every head of a model over a file of texts, and store the results as an atlas.",
        epilog=EXAMPLES + "bartviz corpus texts.txt --model bert-tiny-en --out atlas\n"
        "  bartviz corpus pairs.tsv --model bart-tiny-en-de --column en --target de --out atlas --workers 2 --resume\n"
        "  bartviz corpus texts.txt --model bert-tiny-en --out atlas --workers 8 --ray local\n"
        "  bartviz corpus pairs.tsv --checkpoints run/* --column en --target de --out series",
    )
    add_file(corpus)
    measured = corpus.add_mutually_exclusive_group(required=True)
    measured.add_argument("--model", help="a name of the catalogue, or a folder with a checkpoint")
    measured.add_argument(
        "--checkpoints",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="the checkpoints of a training instead: a series, an atlas for each",
    )
    corpus.add_argument(
        "--steps", type=int, nargs="+", metavar="N", help="of the checkpoints (default: what their names end with)"
    )
    corpus.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the atlas")
    corpus.add_argument(
        "--curve",
        nargs="+",
        metavar="FILE COLUMN",
        help="a .tsv or .csv with the columns step and COLUMN, such as the loss, to be shown with a series",
    )
    corpus.add_argument("--column", metavar="COLUMN", help="of the texts: a name, or a number from 1")
    corpus.add_argument("--pair", metavar="COLUMN", help="of second sentences, for encoder models")
    corpus.add_argument("--target", metavar="COLUMN", help="of given outputs, for encoder-decoder models")
    corpus.add_argument("--gold", metavar="COLUMN", help="of alignments made by hand, such as 0-0 1?2")
    add_form(corpus)
    add_workers(corpus)
    corpus.add_argument(
        "--edges", type=float, metavar="WEIGHT", help="store single edges above this weight, for bartviz find"
    )
    corpus.add_argument(
        "--values",
        action=BooleanOptionalAction,
        help="keep the value of each text, for medians, bartviz compare and change points (default: of a series)",
    )
    corpus.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="MODULE:FUNCTION",
        help="a measure of your own, such as mine.measures:last_key; may be repeated",
    )
    corpus.add_argument(
        "--silence",
        type=int,
        default=0,
        metavar="N",
        help="silence each head in turn on about N texts, drawn at random",
    )
    corpus.add_argument(
        "--mean",
        action="store_true",
        help="with --silence: put a head's mean over the text in place of its output, not 0",
    )
    corpus.add_argument("--unique", action="store_true", help="count a text that is repeated only the first time")
    corpus.add_argument(
        "--truncate",
        choices=get_args(Truncate),
        help="read this part of a text that is too long, instead of skipping it",
    )
    corpus.add_argument(
        "--size", type=int, metavar="N", help="rows per part: the most that a stopped run loses (2,048)"
    )
    corpus.add_argument("--resume", action="store_true", help="resume a run that was stopped")
    corpus.add_argument("--json", action="store_true", help="print JSON")
    shown = Shown()
    corpus.set_defaults(run=lambda options: run(options, shown), stopped=shown.stopped)


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the file of the texts."""
    parser.add_argument(
        "corpus", type=Path, metavar="FILE", help=".txt, .csv, .tsv, .json, .jsonl, .parquet, .conllu, .gz, or a folder"
    )


def add_form(parser: argparse.ArgumentParser) -> None:
    """Add how the file is written, and where the model runs."""
    parser.add_argument(
        "--header",
        action=BooleanOptionalAction,
        help="whether the first row of a .csv or .tsv names the columns (detected by default)",
    )
    parser.add_argument(
        "--quotes",
        action=BooleanOptionalAction,
        help="whether cells are quoted (default: in a .csv; in a .tsv if detected)",
    )
    parser.add_argument("--encoding", metavar="NAME", help=f"{choices(ENCODINGS)} (by its byte order mark, else utf-8)")
    parser.add_argument(
        "--paragraphs", action="store_true", help="texts are separated by blank lines, not by line ends"
    )
    parser.add_argument("--name", help="what to call the model; by default the name of its folder or repository")
    parser.add_argument("--device", default="cpu", metavar="NAME", help=DEVICE)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add who computes."""
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (%(default)s)")
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="use workers of this Ray cluster; local starts Ray on this machine"
    )


class Shown:
    """Progress as it is printed to stderr, and what to say when Ctrl+C ends the run."""

    def __init__(self) -> None:
        self.last: Progress | None = None

    def report(self, progress: Progress) -> None:
        self.last = progress
        left = "" if progress.left is None else f", {_time(progress.left)} left"
        say(f"{progress.rows:,} of {progress.all:,} rows, {_rate(progress.rate)} rows/s{left}", error=True)

    def stopped(self) -> str:
        """The number of texts measured so far, and how to continue the run."""
        if self.last is None:
            return "Stopped before a part was measured. Repeat the command with --resume to continue."
        done = f"{self.last.rows:,} of {self.last.all:,} rows"
        return f"Stopped after {done}. Repeat the command with --resume to continue."


def run(options: argparse.Namespace, shown: Shown) -> int:
    """Print progress to stderr, and what came out to stdout."""
    from bartviz.corpus.own import imported
    from bartviz.corpus.read import Columns, Form, notices
    from bartviz.corpus.run import SIZE, corpus

    if options.checkpoints is not None:
        return corpus_series.run(options, shown.report)
    if options.steps is not None or options.curve is not None:
        raise SettingError("Steps and curves are of --checkpoints: leave --steps and --curve out for one model.")
    columns = Columns(options.column, options.pair, options.target, options.gold)
    form = Form(options.header, options.quotes, options.encoding)
    notes = notices(options.corpus, columns, form)
    for note in notes:
        say(note, error=True)
    measures = dict(imported(one) for one in options.measure)
    atlas = corpus(
        options.corpus,
        options.model,
        options.out,
        columns=columns,
        form=form,
        paragraphs=options.paragraphs,
        name=options.name,
        device=options.device,
        workers=options.workers,
        ray=options.ray,
        resume=options.resume,
        edges=options.edges,
        silence=options.silence,
        mean=options.mean,
        truncate=options.truncate,
        values=bool(options.values),
        measures=measures,
        unique=options.unique,
        size=SIZE if options.size is None else options.size,
        report=shown.report,
    )
    texts, left_out = atlas.description["texts"], atlas.description["left_out"]
    cut, repeated = atlas.description.get("cut", 0), atlas.description["corpus"].get("repeated")
    if options.json:
        found = {"roles": rows_of(atlas.roles), "bad": rows_of(atlas.bad)}
        counts = {"texts": texts, "left_out": left_out, "cut": cut}
        counts |= {} if repeated is None else {"repeated": repeated}
        print_json({**counts, "notices": notes, **found, "saved": str(options.out)})
        return 0
    once = "" if repeated is None else f", {repeated:,} repeated"
    say(f"texts    {texts:,}{once}, {left_out:,} rows left out" + (f", {cut:,} read in part" if cut else ""))
    say_alike(atlas.wider)
    for row in atlas.bad.head(5).itertuples():
        say(f"         {row.file}, line {row.line}: {row.reason}")
    for role, heads in atlas.roles.groupby("role"):
        names = ", ".join(f"{row.kind} L{row.layer}H{row.head} {row.mean:.2f}" for row in heads.itertuples())
        say(f"{role}: {names}")
    say(f"saved    {options.out}")
    return 0


def say_alike(wider: float) -> None:
    """How many times as wide intervals are because neighbouring rows are alike; nothing where they are not."""
    if wider > 1:
        say(f"alike    neighbouring rows: intervals are by blocks, {wider:.1f} times as wide as by single texts")


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"
