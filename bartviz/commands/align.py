"""The command ``align``: word links in Pharaoh's format, of saved records (without torch), or of a corpus."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bartviz.analysis import aligners as ranks
from bartviz.analysis import alignment, gold_alignment
from bartviz.analysis.gold_alignment import Gold, Score
from bartviz.commands import align_corpus
from bartviz.commands.output import EXAMPLES, STDIN, print_json, rows_of, say, say_table
from bartviz.errors import TextError
from bartviz.record.attention import Head
from bartviz.record.record import Reading, Record, open_record
from bartviz.record.store import LARGEST_FILE
from bartviz.safety import files

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST_GOLD = 64 << 20  # bytes


def add(commands: Any) -> None:
    """Add the command to the parser."""
    align = commands.add_parser(
        "align",
        help="print the word links of saved records, or of a corpus",
        description="Print word links by cross-attention in Pharaoh's format: one line per saved record, or per row of "
        "a corpus that a model (--model) reads. With --rank, which heads align instead.",
        epilog=EXAMPLES
        + "bartviz align car.safetensors\n  bartviz align *.safetensors --heads L2H0,L3H1 --gold gold.txt\n  "
        + "bartviz align car.safetensors --rank --json\n"
        "  bartviz align train.en --target-file train.de --model bart-tiny-en-de --split spaces\n"
        "  bartviz align pairs.tsv --model models/marian --column en --target de --rank --format ctranslate2\n"
        "  cut -f 1,2 pairs.tsv | bartviz align - --model bart-tiny-en-de --column en --target de",
    )
    align.add_argument(
        "records",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="saved records, such as run.safetensors; with --model a corpus; - reads a record, or a .tsv, from stdin",
    )
    align.add_argument(
        "--heads", metavar="L2H0,L3H1", help="mean of these heads (by default the head with the best agreement)"
    )
    align.add_argument("--layer", type=int, help="mean of a layer's heads instead")
    align.add_argument(
        "--reading",
        choices=get_args(Reading),
        help="rows are named by what they do (predicts; over a corpus the better of both)",
    )
    align.add_argument("--method", choices=alignment.METHODS, default="mutual", help="how links are made (%(default)s)")
    align.add_argument("--threshold", type=float, default=alignment.THRESHOLD, help="of that method (%(default)s)")
    align.add_argument("--possible", action="store_true", help="add links found in only one direction, as 1?2")
    align.add_argument("--gold", type=Path, metavar="FILE", help="alignments made by hand, one line per record or row")
    align.add_argument("--one-based", action="store_true", help="gold counts words from 1")
    align.add_argument("--swap", action="store_true", help="gold gives the target word first")
    align.add_argument("--rank", action="store_true", help="print all heads and layers instead, best first")
    align_corpus.add(align)
    align.add_argument("--json", action="store_true", help="print JSON, one line per record or row")
    align.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print links to stdout, and their source and scores to stderr."""
    if options.model is not None:
        with align_corpus.piped(options):
            return align_corpus.run(options)
    align_corpus.refuse_without_model(options)
    options.reading = options.reading or "predicts"
    gold = _gold_lines(options)
    total = Score(0, 0, 0, 0)
    for index, path in enumerate(options.records):
        record = open_record(sys.stdin.buffer.read(LARGEST_FILE) if str(path) == STDIN else path)
        known = _gold(record, gold[index], options) if gold else None
        if options.rank:
            _rank(record, known, options, path)
            continue
        heads = _heads(record, options)
        shown = alignment.table(record, heads, reading=options.reading)
        links = alignment.links(shown.weights, options.method, threshold=options.threshold)
        either = alignment.links(shown.weights, "union") if options.possible else ()
        score = None if known is None else gold_alignment.score(links, known)
        total = total if score is None else total + score
        if options.json:
            possible = sorted(set(either) - set(links))
            judged = {} if score is None else {"error_rate": score.error_rate}
            print_json(
                {"file": str(path), "heads": shown.name, "reading": options.reading, "links": sorted(links)}
                | {"possible": possible}
                | judged
            )
            continue
        say(gold_alignment.write(links, either))
        say(f"{shown.name}, rows named by what they {options.reading.removesuffix('s')}", error=True)
    if gold and not options.rank:
        say(total.measures(), error=True)
    return 0


def _heads(record: Record, options: argparse.Namespace) -> Sequence[Head]:
    if options.heads is not None:
        return tuple(Head.parse(name, kinds=("cross",)) for name in options.heads.split(","))
    if options.layer is not None:
        return alignment.heads_of(record, options.layer)
    return ranks.best(ranks.aligners(record), options.reading).heads


def _rank(record: Record, gold: Gold | None, options: argparse.Namespace, path: Path) -> None:
    frame = ranks.ranking(ranks.aligners(record), method=options.method, threshold=options.threshold, gold=gold)
    if options.json:
        print_json({"file": str(path), "ranking": rows_of(frame)})
    else:
        say_table(frame.to_string(index=False, float_format="{:.3f}".format))


def _gold_lines(options: argparse.Namespace) -> list[str]:
    """The lines of the gold file, one per record; empty without a file. Raises TextError."""
    if options.gold is None:
        return []
    try:
        lines = files.read(options.gold, LARGEST_GOLD).decode("utf-8-sig").splitlines()
    except files.TooLarge as error:
        raise TextError(
            f"The file of alignments has {error.size:,} bytes; at most {error.most:,} are read. Split it."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise TextError("The file of alignments cannot be read as UTF-8 text.") from error
    if len(lines) != len(options.records):
        raise TextError(
            f"The file of alignments has {len(lines)} lines for {len(options.records)} records: give one for each."
        )
    return lines


def _gold(record: Record, text: str, options: argparse.Namespace) -> Gold:
    source, target = alignment.lines(record)
    return gold_alignment.read(text, len(source), len(target), base=1 if options.one_based else 0, swap=options.swap)
