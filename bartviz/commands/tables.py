"""The commands ``parameters`` and ``models``: what is known of models without loading them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bartviz.commands.output import EXAMPLES, print_json, rows_of, say, say_table

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add both commands to the parser."""
    parameters = commands.add_parser(
        "parameters",
        help="show where a model's parameters are",
        epilog=EXAMPLES + "bartviz parameters facebook/bart-base\n  bartviz parameters bert-tiny-en --json",
    )
    parameters.add_argument("name", nargs="?", metavar="model", help="a name of the catalogue, or a folder")
    parameters.add_argument("--model", help="the same, as an option like in other commands")
    parameters.add_argument("--json", action="store_true", help="print JSON")
    parameters.add_argument("--latex", action="store_true", help="print a short LaTeX table with booktabs")
    parameters.set_defaults(run=_parameters, refuse=parameters.error)

    models = commands.add_parser(
        "models", help="list the known models", epilog=EXAMPLES + "bartviz models\n  bartviz models --json"
    )
    models.add_argument("--json", action="store_true", help="print JSON")
    models.set_defaults(run=_models)


def _parameters(options: argparse.Namespace) -> int:
    import bartviz

    if (options.name is None) == (options.model is None):
        options.refuse("name one model")
    name = options.name or options.model
    if options.latex:
        say_table(bartviz.paper.latex(bartviz.paper.parameters(name), caption=name).rstrip("\n"))
        return 0
    table = bartviz.parameters(name)
    if options.json:
        print_json(rows_of(table))
    else:
        say_table(table.to_string())
    return 0


def _models(options: argparse.Namespace) -> int:
    from bartviz.families.catalogue import CATALOGUE

    if options.json:
        print_json(
            [{name: getattr(entry, name) for name in ("name", "kind", "source", "title")} for entry in CATALOGUE]
        )
        return 0
    for entry in CATALOGUE:
        say(f"{entry.name:32} {entry.kind:16} {entry.source:9} {entry.title}")
    return 0
