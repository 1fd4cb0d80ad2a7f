"""The command ``cite``: the entry of a bibliography, with what a result was computed with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.commands.output import EXAMPLES, print_json, say
from bartviz.version import __version__, versions

if TYPE_CHECKING:
    import argparse

TITLE = "bartviz: see, step through and test attention in BERT, BART and their relatives"
AUTHOR = "The bartviz developers"
LICENSE = "Apache-2.0"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    cite = commands.add_parser(
        "cite",
        help="print the BibTeX entry of bartviz, with the versions that made a result",
        epilog=EXAMPLES + "bartviz cite >> paper.bib\n  bartviz cite car.safetensors\n  bartviz cite atlas",
    )
    cite.add_argument(
        "result",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a saved record, or the folder of an atlas: its versions, commit and model are named (by default those of "
        "this installation)",
    )
    cite.add_argument("--json", action="store_true", help="print JSON")
    cite.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    made, model = _made(options.result)
    if options.json:
        print_json({"title": TITLE, "author": AUTHOR, "license": LICENSE, "versions": dict(made), "model": model})
        return 0
    for line in entry(made, model):
        say(line)
    return 0


def entry(made: Mapping[str, str], model: Mapping[str, str] | None = None) -> list[str]:
    """The lines of the BibTeX entry. ``made``: the versions by package, and the commit; ``model``: name and
    fingerprint of the model that the result is of."""
    from bartviz.drawing.paper.table import escape

    others = [f"{name} {value}" for name, value in made.items() if name != "bartviz"]
    if model is not None:
        others.append(f"model {model['name']}, fingerprint {model['fingerprint']}")
    fields = {
        "title": TITLE,
        "author": f"{{{AUTHOR}}}",
        "version": made.get("bartviz", __version__),
        "license": LICENSE,
        "note": escape("; ".join(others)),
    }
    lines = [f"  {name:<7} = {{{value}}}," for name, value in fields.items() if value]
    return ["@software{bartviz,", *lines, "}"]


def _made(result: Path | None) -> tuple[Mapping[str, str], Mapping[str, str] | None]:
    """The versions, and the model, of a result; of this installation without one. Raises BartvizError."""
    if result is None:
        return versions(), None
    if result.is_dir():
        from bartviz.corpus.atlas import open_atlas

        about = open_atlas(result).description
        return about.get("versions", {}), {name: str(about["model"][name]) for name in ("name", "fingerprint")}
    from bartviz.record.record import open_record

    record = open_record(result)
    return record.provenance.versions, {"name": record.model.name, "fingerprint": record.model.fingerprint}
