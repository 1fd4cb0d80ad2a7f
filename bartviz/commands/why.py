"""The command ``why``: which methods of attribution name the words that a model needs, over a file of texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.verdicts import BETTER, WORSE
from bartviz.commands.attribute import LISTED, NAMES
from bartviz.commands.corpus import Shown, add_file, add_form, add_workers
from bartviz.commands.output import EXAMPLES, print_json, rows_of, say
from bartviz.language.percentages import percent

if TYPE_CHECKING:
    import argparse

    import pandas as pd

OPERATORS = ("delete", "mask", "exchange", "fill-in")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    why = commands.add_parser(
        "why",
        help="judge methods of attribution over a file of texts",
        description="Judge methods of attribution over a file of texts: take the words away that each method names, "
        "and compare with random words. The table is written as CSV and Parquet.",
        epilog=EXAMPLES + "bartviz why texts.txt --model bart-tiny-en-de --out why\n"
        "  bartviz why pairs.tsv --column en --model bart-tiny-en-de --out why --texts 1000 --workers 2 --resume\n"
        "  bartviz why texts.txt --model bert-tiny-en --out why --method rollout --method best-head --operator mask",
    )
    add_file(why)
    why.add_argument("--model", required=True, help="a name of the catalogue, or a folder with a checkpoint")
    why.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the run and of its table")
    why.add_argument("--column", metavar="COLUMN", help="of the texts: a name, or a number from 1")
    add_form(why)
    why.add_argument("--method", action="append", choices=NAMES, metavar=LISTED, help="may be repeated (all)")
    why.add_argument(
        "--operator",
        action="append",
        choices=OPERATORS,
        help="what becomes of a word that is taken away; may be repeated (all; fill-in where a model fills gaps)",
    )
    why.add_argument("--filler", metavar="MODEL", help="a model that fills masks, for fill-in: BERT or BART")
    why.add_argument("--texts", type=int, metavar="N", help="read the first N rows (all); a resumed run may read more")
    why.add_argument(
        "--orders", type=int, metavar="N", help="random orders of each text; more where there are few texts (8)"
    )
    why.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn at random (%(default)s)")
    add_workers(why)
    why.add_argument("--size", type=int, metavar="N", help="rows per part: the most that a stopped run loses (20)")
    why.add_argument("--resume", action="store_true", help="resume a run that was stopped")
    why.add_argument("--json", action="store_true", help="print JSON")
    shown = Shown()
    why.set_defaults(run=lambda options: run(options, shown), stopped=shown.stopped)


def run(options: argparse.Namespace, shown: Shown) -> int:
    """Print progress to stderr, and the verdicts to stdout."""
    from bartviz.corpus.read import Form
    from bartviz.corpus.why import CSV, ORDERS, PARQUET, SIZE, why

    form = Form(options.header, options.quotes, options.encoding)
    found = why(
        options.corpus,
        options.model,
        options.out,
        column=options.column,
        form=form,
        paragraphs=options.paragraphs,
        name=options.name,
        device=options.device,
        methods=None if options.method is None else [NAMES[one] for one in options.method],
        operators=options.operator,
        filler=options.filler,
        texts=options.texts,
        orders=ORDERS if options.orders is None else options.orders,
        seed=options.seed,
        workers=options.workers,
        ray=options.ray,
        resume=options.resume,
        size=SIZE if options.size is None else options.size,
        report=shown.report,
    )
    if options.json:
        counts = {"texts": found.texts, "left_out": found.left_out, "reasons": {**found.reasons}}
        counts |= {"refused": {**found.refused}, "agree": found.agree}
        print_json({**counts, "table": rows_of(found.table), "saved": str(options.out)})
        return 0
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in found.reasons.items())
    say(f"texts    {found.texts:,}, {found.left_out:,} rows left out" + (f" ({reasons})" if reasons else ""))
    for method, times in found.refused.items():
        say(f"refused  {method}: {times:,} texts")
    for line in _counts(found.table):
        say(line)
    if found.agree is not None:
        say(f"halves   {percent(found.agree)} of the verdicts are the same in each half of the texts")
    say(f"saved    {options.out}: {CSV}, {PARQUET}")
    return 0


def _counts(table: pd.DataFrame) -> list[str]:
    """A line for each method: for each operator how many of its measures are better or worse than chance."""
    operators = list(dict.fromkeys(table.operator))
    room = max(map(len, METHODS))
    lines = [f"{'':{room}}  " + "  ".join(f"{name:>9}" for name in operators)]
    for method in dict.fromkeys(table.method):
        cells = list[str]()
        for operator in operators:
            verdicts = table[(table.method == method) & (table.operator == operator)].verdict
            better, worse = int((verdicts == BETTER).sum()), int((verdicts == WORSE).sum())
            cells.append(f"+{better}" + (f" -{worse}" if worse else "") + f" of {len(verdicts)}")
        lines.append(f"{method:{room}}  " + "  ".join(f"{cell:>9}" for cell in cells))
    return lines
