"""The command ``headvis``: a folder for the HeadVis frontend, of a decoder-only model over a file of texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.commands.corpus import add_file, add_form
from bartviz.commands.output import EXAMPLES, print_json, say

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to the parser."""
    headvis = commands.add_parser(
        "headvis",
        help="write every head of a decoder-only model for the HeadVis frontend",
        description="Write six numbers of every head, and texts of each, as the HeadVis frontend and Neuronpedia's "
        "importers read them: DIR/MODEL/headvis/DATASET. For models with a decoder alone, such as GPT-2.",
        epilog=EXAMPLES + "bartviz headvis texts.txt --model ./gpt2 --model-id gpt2-small --out exports",
    )
    add_file(headvis)
    headvis.add_argument("--model", required=True, help="a name of the catalogue, or a folder with a checkpoint")
    headvis.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of all exports")
    headvis.add_argument("--column", metavar="COLUMN", help="of the texts: a name, or a number from 1")
    add_form(headvis)
    headvis.add_argument("--dataset", metavar="NAME", help="of the texts (the name of the file)")
    headvis.add_argument("--model-id", metavar="NAME", help="of the model on Neuronpedia (its own name)")
    headvis.add_argument("--texts", type=int, metavar="N", help="read the first N rows (all)")
    headvis.add_argument("--cut", action="store_true", help="read the beginning of a text that is too long")
    headvis.add_argument("--intervals", type=int, default=5, metavar="N", help="parts by largest weight (%(default)s)")
    headvis.add_argument("--samples", type=int, default=3, metavar="N", help="texts of a part (%(default)s)")
    headvis.add_argument("--top-samples", type=int, default=10, metavar="N", help="of the highest part (%(default)s)")
    headvis.add_argument("--keys", type=int, default=8, metavar="N", help="weights that a row keeps (%(default)s)")
    headvis.add_argument("--least", type=float, default=0.005, metavar="X", help="the least weight (%(default)s)")
    headvis.add_argument("--seed", type=int, default=0, metavar="N", help="of the lot (%(default)s)")
    headvis.add_argument("--json", action="store_true", help="print JSON")
    headvis.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print where the folder is."""
    from itertools import islice

    from bartviz.corpus.headvis import save_headvis
    from bartviz.corpus.read import Columns, Form, Line, check, lines
    from bartviz.models.load import load

    columns, form = Columns(options.column), Form(options.header, options.quotes, options.encoding)
    check(options.corpus, columns, form)
    rows = list(islice(lines(options.corpus, columns, form, paragraphs=options.paragraphs), options.texts))
    texts = [row.text for row in rows if isinstance(row, Line)]
    path = save_headvis(
        options.out,
        texts,
        load(options.model, name=options.name, device=options.device),
        dataset=options.dataset or options.corpus.stem,
        model_id=options.model_id,
        truncate="first" if options.cut else None,
        intervals=options.intervals,
        samples=options.samples,
        top_samples=options.top_samples,
        keys=options.keys,
        least=options.least,
        seed=options.seed,
    )
    left = len(rows) - len(texts)
    if options.json:
        print_json({"texts": len(texts), "left_out": left, "saved": str(path)})
        return 0
    say(f"texts    {len(texts):,}, {left:,} rows left out")
    say(f"saved    {path}")
    return 0
