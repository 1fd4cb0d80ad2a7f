"""The command ``heads``: the heads that follow a pattern over a file of texts; or a receipt of them, verified."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.commands.corpus import Shown, add_form, add_workers, say_alike
from bartviz.commands.output import EXAMPLES, print_json, say, say_table
from bartviz.errors import SettingError, choices

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from bartviz.corpus.found_heads import FoundHeads

DIFFERS = 1  # the exit status where a receipt is not what is computed
SHOWN = 20  # differences that are printed
FORMATS = ("text", "csv", "json", "latex")
PRINTED = ("head", "share", "even", "shuffled", "q", "held_out_share", "replicated")
"""The columns of a LaTeX table unless others are chosen, those of effects after them; as many as fit a page."""
EFFECTS = ("effect", "effect_p", "elsewhere", "apart_p")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    heads = commands.add_parser(
        "heads",
        help="find the heads that follow a pattern over a file of texts",
        description="Find the heads of a model that follow a pattern, or several (docs/patterns.md), over a file of "
        "texts: against even attention and shuffled marks, over all heads, and again in a held-out half.",
        epilog=EXAMPLES + 'bartviz heads texts.txt --model bert-tiny-en --pattern "from any to previous token"\n'
        "  bartviz heads pairs.tsv --model bart-tiny-en-de --column en --target de "
        '--pattern "from any to same word" --silence --workers 2 --out receipt.json\n'
        '  bartviz heads texts.txt --model bert-tiny-en --pattern "from any to special" --format latex\n'
        "  bartviz heads --verify receipt.json",
    )
    heads.add_argument("corpus", type=Path, nargs="?", metavar="FILE", help="a file of texts, as for bartviz corpus")
    heads.add_argument("--model", help="a name of the catalogue, or a folder with a checkpoint")
    heads.add_argument(
        "--pattern", action="append", help='such as "from any to previous token"; several times for several patterns'
    )
    heads.add_argument("--column", metavar="COLUMN", help="of the texts: a name, or a number from 1")
    heads.add_argument("--pair", metavar="COLUMN", help="of second sentences, for encoder models")
    heads.add_argument("--target", metavar="COLUMN", help="of given outputs, for encoder-decoder models")
    heads.add_argument("--gold", metavar="COLUMN", help="of alignments made by hand, such as 0-0 1?2")
    add_form(heads)
    add_workers(heads)
    heads.add_argument("--seed", type=int, default=0, metavar="N", help="of the lot for the two halves (%(default)s)")
    heads.add_argument(
        "--silence",
        action="store_true",
        help="also silence each head that is found, where the pattern applies and where it does not: "
        "two more passes over all texts for each",
    )
    heads.add_argument("--size", type=int, metavar="N", help="rows per part: the most that a stopped run loses (2,048)")
    heads.add_argument(
        "--out",
        type=Path,
        metavar="JSON",
        help="the receipt to write; until it is there, its run is kept in JSON.parts, and the same command resumes it",
    )
    heads.add_argument("--verify", type=Path, metavar="JSON", help="a receipt to compute again")
    heads.add_argument(
        "--format", choices=FORMATS, default="text", help="csv: every head; latex: those found (%(default)s)"
    )
    heads.add_argument("--columns", metavar="NAMES", help="of the table, such as kind,layer,head,share,effect")
    heads.add_argument("--json", action="store_const", const="json", dest="format", help="print JSON")
    shown = _Shown()
    heads.set_defaults(run=lambda options: run(options, shown), stopped=shown.stopped)


class _Shown(Shown):
    """Progress as it is printed, and what to say when Ctrl+C ends the run."""

    kept = False

    def stopped(self) -> str:
        """How to continue the run."""
        if not self.kept:
            return "Stopped before the end. With --out JSON a run is kept: repeat the command to start again."
        return super().stopped().replace(" with --resume", "")


def run(options: argparse.Namespace, shown: _Shown) -> int:
    """Print the heads that were found, or what a receipt says otherwise."""
    return _find(options, shown) if options.verify is None else _verify(options, shown)


def _find(options: argparse.Namespace, shown: _Shown) -> int:
    for name, value in (("FILE", options.corpus), ("--model", options.model), ("--pattern", options.pattern)):
        if value is None:
            raise SettingError(f"{name} is missing: give FILE, --model and --pattern, or --verify with a receipt.")
    from bartviz.analysis.pattern_masks import known
    from bartviz.corpus.find_heads import SIZE, find_heads
    from bartviz.corpus.read import Columns, Form, notices

    for pattern in options.pattern:
        known(pattern)  # before the model is loaded
    columns = Columns(options.column, options.pair, options.target, options.gold)
    form = Form(options.header, options.quotes, options.encoding)
    if options.corpus.exists():
        for note in notices(options.corpus, columns, form):
            say(note, error=True)
    parts = None if options.out is None else options.out.with_name(f"{options.out.name}.parts")
    shown.kept = parts is not None
    found = find_heads(
        options.model,
        options.corpus,
        options.pattern if len(options.pattern) > 1 else options.pattern[0],
        seed=options.seed,
        columns=columns,
        form=form,
        paragraphs=options.paragraphs,
        silence=options.silence,
        name=options.name,
        device=options.device,
        parts=parts,
        workers=options.workers,
        ray=options.ray,
        size=SIZE if options.size is None else options.size,
        report=shown.report,
    )
    chosen = _chosen(found.table, options.columns)
    if parts is not None:
        found.save(options.out)
        shutil.rmtree(parts)
    _print(found, chosen, options)
    return 0


def _chosen(table: pd.DataFrame, names: str | None) -> list[str]:
    """The columns that are asked for, or all. Raises SettingError for one that the table does not have."""
    there = [str(name) for name in table.columns]
    asked = there if names is None else [name.strip() for name in names.split(",")]
    unknown = [name for name in asked if name not in there]
    if unknown:
        raise SettingError(f"The table has no column {unknown[0]!r}: choose {choices(there)}.")
    return asked


def _print(found: FoundHeads, columns: list[str], options: argparse.Namespace) -> None:
    if options.format == "json":
        saved = None if options.out is None else str(options.out)
        table = [{name: row[name] for name in columns} for row in found.rows()]
        print_json({**found.content(), "table": table, "replicated": found.replicated, "saved": saved})
    elif options.format == "csv":
        say_table(found.table[columns].to_csv(index=False).rstrip("\n"))
    elif options.format == "latex":
        from bartviz.drawing.paper.table import latex, rounded

        shown = found.found[columns] if options.columns else rounded(found.found)
        there = None if options.columns else [name for name in ("pattern", *PRINTED, *EFFECTS) if name in columns]
        caption = f"{found.model.name}: {found.pattern}, {found.texts:,} texts"
        say_table(latex(shown, columns=there, caption=caption).rstrip("\n"))
    else:
        _print_text(found, options.out)


def _print_text(found: FoundHeads, out: Path | None) -> None:
    say(f"texts    {found.texts:,}, {found.repeated:,} repeated, {len(found.bad):,} rows left out")
    say_alike(found.wider)
    named = ""
    for row in found.found.to_dict("records"):
        if row.get("pattern", "") != named:
            named = row["pattern"]
            say(f"pattern  {named}")
        control = "" if row["shuffled"] != row["shuffled"] else f", shuffled {row['shuffled']:.2f}"
        say(
            f"{row['kind']} L{row['layer']}H{row['head']}  {row['share']:.2f} ({row['low']:.2f} to {row['high']:.2f}), "
            f"even {row['even']:.2f}{control}, q {row['q']:.1e}, "
            f"{'replicated' if row['replicated'] else 'not replicated'}: {row['held_out_share']:.2f}"
        )
        if found.outcome is not None:
            where = (("where it applies", "effect"), ("elsewhere", "elsewhere"))
            changes = "; ".join(
                f"{words} {row[name]:+.4f} ({row[f'{name}_low']:+.4f} to {row[f'{name}_high']:+.4f}), "
                f"p {row[f'{name}_p']:.1e}"
                for words, name in where
                if row[name] == row[name]
            )
            say(f"         silenced: {changes} nats of {found.outcome}")
    tried = "heads" if len(found.patterns) == 1 else f"heads for {len(found.patterns)} patterns"
    say(f"found    {len(found.found)} of {len(found.table)} {tried}, {len(found.replicated)} replicated")
    if out is not None:
        say(f"saved    {out}")


def _verify(options: argparse.Namespace, shown: _Shown) -> int:
    from bartviz.corpus.verify_heads import verify_heads

    found = verify_heads(
        options.verify,
        options.corpus,
        options.model,
        device=options.device,
        workers=options.workers,
        ray=options.ray,
        report=shown.report,
    )
    if options.format == "json":
        print_json({"receipt": str(options.verify), "equal": bool(found), "differences": found.differences})
    elif found:
        say("equal    every number to 1e-6")
    else:
        for line in found.differences[:SHOWN]:
            say(f"differs  {line}")
        if len(found.differences) > SHOWN:
            say(f"and {len(found.differences) - SHOWN:,} more: --json has all")
    return 0 if found else DIFFERS
