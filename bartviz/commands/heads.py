"""The command ``heads``: the heads that follow a pattern over a file of texts; or a receipt of them, verified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.commands.output import DEVICE, EXAMPLES, print_json, say
from bartviz.errors import SettingError

if TYPE_CHECKING:
    import argparse

    from bartviz.corpus.workers import Progress

DIFFERS = 1  # the exit status where a receipt is not what is computed


def add(commands: Any) -> None:
    """Add the command to the parser."""
    heads = commands.add_parser(
        "heads",
        help="find the heads that follow a pattern over a file of texts",
        description="Find the heads of a model that follow a pattern (docs/patterns.md) over a file of texts: against "
        "even attention and shuffled marks, over all heads, and again in a held-out half.",
        epilog=EXAMPLES + 'bartviz heads texts.txt --model bert-tiny-en --pattern "from any to previous token"\n'
        "  bartviz heads pairs.tsv --model bart-tiny-en-de --column en --target de "
        '--pattern "from any to same word" --out receipt.json\n'
        "  bartviz heads --verify receipt.json",
    )
    heads.add_argument("corpus", type=Path, nargs="?", metavar="FILE", help="a file of texts, as for bartviz corpus")
    heads.add_argument("--model", help="a name of the catalogue, or a folder with a checkpoint")
    heads.add_argument("--pattern", help='such as "from any to previous token"')
    heads.add_argument("--column", metavar="COLUMN", help="of the texts: a name, or a number from 1")
    heads.add_argument("--pair", metavar="COLUMN", help="of second sentences, for encoder models")
    heads.add_argument("--target", metavar="COLUMN", help="of given outputs, for encoder-decoder models")
    heads.add_argument("--gold", metavar="COLUMN", help="of alignments made by hand, such as 0-0 1?2")
    heads.add_argument("--seed", type=int, default=0, metavar="N", help="of the lot for the two halves (%(default)s)")
    heads.add_argument("--device", default="cpu", metavar="NAME", help=DEVICE)
    heads.add_argument("--out", type=Path, metavar="JSON", help="the receipt to write")
    heads.add_argument("--verify", type=Path, metavar="JSON", help="a receipt to compute again")
    heads.add_argument("--json", action="store_true", help="print JSON")
    heads.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the heads that were found, or what a receipt says otherwise."""
    return _find(options) if options.verify is None else _verify(options)


def _report(progress: Progress) -> None:
    say(f"{progress.rows:,} of {progress.all:,} rows, {progress.rate:,.0f} rows/s", error=True)


def _find(options: argparse.Namespace) -> int:
    for name, value in (("FILE", options.corpus), ("--model", options.model), ("--pattern", options.pattern)):
        if value is None:
            raise SettingError(f"{name} is missing: give FILE, --model and --pattern, or --verify with a receipt.")
    from bartviz.analysis.pattern_masks import known
    from bartviz.corpus.find_heads import find_heads
    from bartviz.corpus.read import Columns
    from bartviz.models.load import load

    pattern = known(options.pattern)  # before the model is loaded
    model = load(options.model, device=options.device)
    columns = Columns(options.column, options.pair, options.target, options.gold)
    found = find_heads(model, options.corpus, pattern, seed=options.seed, columns=columns, report=_report)
    if options.out is not None:
        found.save(options.out)
    if options.json:
        saved = None if options.out is None else str(options.out)
        print_json({**found.content(), "replicated": found.replicated, "saved": saved})
        return 0
    say(f"texts    {found.texts:,}, {found.repeated:,} repeated, {len(found.bad):,} rows left out")
    for row in found.found.to_dict("records"):
        control = "" if row["shuffled"] != row["shuffled"] else f", shuffled {row['shuffled']:.2f}"
        say(
            f"{row['kind']} L{row['layer']}H{row['head']}  {row['share']:.2f} ({row['low']:.2f} to {row['high']:.2f}), "
            f"even {row['even']:.2f}{control}, q {row['q']:.1e}, "
            f"{'replicated' if row['replicated'] else 'not replicated'}: {row['held_out_share']:.2f}"
        )
    say(f"found    {len(found.found)} of {len(found.table)} heads, {len(found.replicated)} replicated")
    if options.out is not None:
        say(f"saved    {options.out}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from bartviz.corpus.verify_heads import verify_heads
    from bartviz.models.load import load

    model = None if options.model is None else load(options.model, device=options.device)
    found = verify_heads(options.verify, options.corpus, model, report=_report)
    if options.json:
        print_json({"receipt": str(options.verify), "equal": bool(found), "differences": found.differences})
    elif found:
        say("equal    every number to 1e-6")
    else:
        for line in found.differences:
            say(f"differs  {line}")
    return 0 if found else DIFFERS
