"""The command ``alive``: models in one HTML file, which run in any browser on any text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.commands.output import EXAMPLES, in_bytes, print_json, say

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to the parser."""
    alive = commands.add_parser(
        "alive",
        help="write one HTML file in which models run, in any browser, without a server or a network",
        epilog=EXAMPLES
        + "bartviz alive bart-tiny-en-de translator.html\n  "
        + "bartviz alive bart-tiny-en-de bert-tiny-en class.html --text 'It is late.'\n  "
        + "bartviz alive ./my-checkpoint site   # a folder for a web host, which large models need",
    )
    alive.add_argument("models", nargs="+", metavar="MODEL", help="names or folders of models; each becomes a tab")
    alive.add_argument("page", type=Path, metavar="OUT", help="the file to write, .html, or a folder")
    alive.add_argument("--text", help="what the page shows at first")
    alive.add_argument("--json", action="store_true", help="print JSON")
    alive.set_defaults(run=_write)


def _write(options: argparse.Namespace) -> int:
    import bartviz
    from bartviz.explorer import live

    live.save([bartviz.load(name) for name in options.models], options.page, text=options.text)
    written = [options.page] if options.page.is_file() else sorted(options.page.iterdir())
    size = sum(file.stat().st_size for file in written)
    if options.json:
        print_json({"models": options.models, "saved": str(options.page), "bytes": size})
    else:
        say(f"saved    {options.page} ({in_bytes(size)})")
    return 0
