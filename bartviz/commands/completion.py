"""The command ``completion``: what a shell needs to complete the commands, their options and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bartviz.commands.output import EXAMPLES

if TYPE_CHECKING:
    import argparse

SHELLS = ("bash", "zsh", "fish")


def add(commands: Any, parser: argparse.ArgumentParser) -> None:
    """Add the command to ``parser``, whose commands it completes."""
    completion = commands.add_parser(
        "completion",
        help="print the script with which your shell completes these commands",
        epilog=EXAMPLES
        + "bartviz completion bash > ~/.local/share/bash-completion/completions/bartviz\n  "
        + "bartviz completion fish > ~/.config/fish/completions/bartviz.fish",
    )
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(run=lambda options: _print(parser, options.shell))


def _print(parser: argparse.ArgumentParser, shell: str) -> int:
    import shtab

    print(shtab.complete(parser, shell))
    return 0
