"""The command ``compare``: two models over the same texts, or two atlases, head by head."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.commands.output import DEVICE, EXAMPLES, print_json, rows_of, say, say_table
from bartviz.errors import SettingError, choices

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from bartviz.corpus.atlas import Atlas

SHOWN = 20  # heads that are printed


def add(commands: Any) -> None:
    """Add the command to the parser."""
    compare = commands.add_parser(
        "compare",
        help="test head by head what differs between two models, such as before and after fine-tuning",
        description="Compare two atlases head by head, or with --texts two models: each is measured over the same "
        "texts first. Atlases that keep values (bartviz corpus --values) of the same texts are compared text by text.",
        epilog=EXAMPLES + "bartviz compare base tuned --texts texts.txt --out compared\n"
        "  bartviz compare atlas other --measure entropy --table compared.csv",
    )
    compare.add_argument("one", metavar="A", help="folder of an atlas; with --texts a model")
    compare.add_argument("other", metavar="B", help="the one to compare with it")
    compare.add_argument("--texts", type=Path, metavar="FILE", help="measure the models A and B over these texts first")
    compare.add_argument(
        "--out", type=Path, metavar="DIR", help="with --texts: the folder of the atlases, in which a run is resumed"
    )
    compare.add_argument("--column", metavar="COLUMN", help="of the texts: a name, or a number from 1")
    compare.add_argument("--pair", metavar="COLUMN", help="of second sentences, for encoder models")
    compare.add_argument("--target", metavar="COLUMN", help="of given outputs, for encoder-decoder models")
    compare.add_argument("--unique", action="store_true", help="count a text that is repeated only the first time")
    compare.add_argument("--silence", type=int, default=0, metavar="N", help="as for bartviz corpus")
    compare.add_argument(
        "--mean", action="store_true", help="with --silence: the mean over the text instead of 0, as for bartviz corpus"
    )
    compare.add_argument("--workers", type=int, default=1, metavar="N", help="processes (%(default)s)")
    compare.add_argument("--device", default="cpu", metavar="NAME", help=DEVICE)
    compare.add_argument("--measure", metavar="NAME", help="of this measure alone, and corrected for its heads alone")
    compare.add_argument("--table", type=Path, metavar="CSV", help="write all heads and measures to this file")
    compare.add_argument("--json", action="store_true", help="print JSON")
    compare.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what differs, the most certain first."""
    from bartviz.analysis.verdicts import LEVEL
    from bartviz.corpus.atlas import open_atlas
    from bartviz.record import store

    if (options.texts is None) != (options.out is None):
        raise SettingError("--texts FILE and --out DIR belong together: they measure two models, A and B.")
    if options.texts is None:
        one, other = open_atlas(options.one), open_atlas(options.other)
    else:
        one, other = (_measured(options, model, place) for model, place in ((options.one, "a"), (options.other, "b")))
    reason = one.unpaired(other)
    table = _of_measure(one.against(other, paired=not reason), options.measure)
    if options.table is not None:
        store.replace(options.table, table.to_csv(index=False).encode())
    found = table[table["p_bh"] <= LEVEL].sort_values("p", kind="stable")
    strict = int((table["p_holm"] <= LEVEL).sum())
    counts = {"compared": len(table), "differ": len(found), "differ_by_holm": strict, "paired": not reason}
    if options.json:
        print_json({**counts, "reason": str(reason), "heads": rows_of(found)})
        return 0
    say(f"{one!r}")
    say(f"{other!r}")
    say("paired, text by text" if not reason else f"taken as independent: {reason}")
    say(
        f"{len(found):,} of {len(table):,} lines (a head by a measure) differ at a false discovery rate of "
        f"{100 * LEVEL:g}%, {strict:,} with Holm's correction"
    )
    columns = [
        "kind",
        "layer",
        "head",
        "measure",
        "n",
        "mean",
        "other_mean",
        "difference_low",
        "difference_high",
        "p_bh",
    ]
    if len(found):
        say_table(found[columns].head(SHOWN).to_string(index=False, float_format=lambda number: f"{number:.3g}"))
    if len(found) > SHOWN:
        say(f"and {len(found) - SHOWN:,} more: --table CSV writes all")
    return 0


def _of_measure(table: pd.DataFrame, measure: str | None) -> pd.DataFrame:
    from bartviz.analysis.corpus_against import corrected
    from bartviz.analysis.corpus_measures import in_order

    if measure is None:
        return table
    known = in_order(table["measure"].unique())
    if measure not in known:
        raise SettingError(f"The atlases do not share the measure {measure}: choose {choices(known)}.")
    return corrected(table[table["measure"] == measure]).reset_index(drop=True)


def _measured(options: argparse.Namespace, model: str, place: str) -> Atlas:
    """The atlas of one of the models in a folder of its own; a run that is there is resumed."""
    from bartviz.commands.corpus import Shown
    from bartviz.corpus.read import Columns
    from bartviz.corpus.run import corpus

    say(f"{model}:", error=True)
    return corpus(
        options.texts,
        model,
        options.out / place,
        columns=Columns(options.column, options.pair, options.target),
        device=options.device,
        workers=options.workers,
        silence=options.silence,
        mean=options.mean,
        unique=options.unique,
        values=True,
        resume=True,
        report=Shown().report,
    )
