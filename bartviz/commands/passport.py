"""The command ``passport``: everything an atlas has on a head, as a page to print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.commands.output import EXAMPLES, print_json, say

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to the parser."""
    passport = commands.add_parser(
        "passport",
        help="write everything measured for a head of an atlas as a page to print",
        epilog=EXAMPLES + 'bartviz passport atlas "cross L1H4" head.html --measure alignment',
    )
    passport.add_argument("atlas", type=Path, metavar="DIR", help="folder of the atlas")
    passport.add_argument("head", metavar="HEAD", help='the head, such as "cross L1H4"')
    passport.add_argument("page", type=Path, metavar="OUT", help="the HTML file to write")
    passport.add_argument("--measure", help="of the distribution and the examples (that of its role)")
    passport.add_argument("--json", action="store_true", help="print JSON")
    passport.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page."""
    from bartviz.corpus.atlas import open_atlas
    from bartviz.record import store

    page = open_atlas(options.atlas).passport(options.head, measure=options.measure).encode()
    store.replace(options.page, page)
    if options.json:
        print_json({"atlas": str(options.atlas), "saved": str(options.page), "bytes": len(page)})
    else:
        say(f"saved    {options.page}")
    return 0
