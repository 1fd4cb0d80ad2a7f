"""The command ``find``: single edges of an atlas, by head, tokens and distance."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.commands.output import EXAMPLES, print_json, rows_of, say
from bartviz.errors import SettingError

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to the parser."""
    find = commands.add_parser(
        "find",
        help="find where heads look, in an atlas with single edges",
        description="Find single edges of an atlas. The run needs --edges. Fields: kind, layer, head, query, key (a "
        "token, or number, punctuation, capitalised, special), where (earlier, later, same, or key minus query), "
        "least (weight), same (true: both tokens are equal). A head may also be written as one: head='cross L2H5'.",
        epilog=EXAMPLES + "bartviz find atlas key=, where=earlier least=0.8\n  bartviz find atlas kind=cross same=true",
    )
    find.add_argument("atlas", type=Path, metavar="DIR", help="folder of the atlas")
    find.add_argument("fields", nargs="*", metavar="FIELD=VALUE", help="conditions, all of which must hold")
    find.add_argument("--limit", type=int, default=20, metavar="N", help="edges to print (%(default)s)")
    find.add_argument("--unique", action="store_true", help="show each text once, with its highest edge")
    find.add_argument("--json", action="store_true", help="print JSON")
    find.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print how many edges match, and those of the highest weight."""
    from bartviz.corpus.atlas import open_atlas

    if not all("=" in word for word in options.fields):
        raise SettingError("Fields are written as FIELD=VALUE, such as layer=0.")
    pairs = [word.split("=", 1) for word in options.fields]
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SettingError(f"The field {twice} is given twice. All fields must hold: give each once.")
    for name, option in (("limit", "--limit 3"), ("unique", "--unique")):
        if name in names:
            raise SettingError(f"{name} is an option, not a field: {option}.")
    fields: dict[str, Any] = dict(pairs)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        found = open_atlas(options.atlas).find(limit=options.limit, unique=options.unique, **fields)
    for note in notes:
        say(str(note.message), error=True)
    if options.json:
        print_json({"count": found.count, "edges": rows_of(found.edges)})
        return 0
    say(f"{found.count:,} edges, {len(found.edges):,} shown" + (", each of another text" if options.unique else ""))
    for row in found.edges.to_dict("records"):
        head = f"{row['kind']} L{row['layer']}H{row['head']}"
        edge = f"{row['query_token']} ({row['query']}) -> {row['key_token']} ({row['key']})"
        say(f"{row['weight']:.3f}  {head}  {edge}  | {row['text']}")
    return 0
