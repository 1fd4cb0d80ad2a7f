"""The command line: ``bartviz app``, ``bartviz capture`` and the others; ``bartviz --help`` lists them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from bartviz.commands import align, app, completion, corpus, files, find, passport, run, serve, tables
from bartviz.errors import BartvizError
from bartviz.safety import addresses
from bartviz.version import __version__

ERROR = 2


class _Parser(argparse.ArgumentParser):
    """A parser that keeps the lines of its examples and reports an error in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message: str) -> NoReturn:
        self.exit(ERROR, f"bartviz: {message}. See {self.prog} --help.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, or 2 with one sentence on stderr."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.run
    try:
        addresses.check_hub()
        status = command(options)
        sys.stdout.flush()
    except BartvizError as error:
        return _refused(str(error))
    except ModuleNotFoundError as error:
        return _refused(f"{error.name} is not installed: pip install 'bartviz[app]'")
    except BrokenPipeError:  # the reader, such as ``head``, has stopped: avoid a second error at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _refused(f"the file cannot be written: {error.strerror}.")
    return status


def _refused(why: str) -> int:
    print(f"bartviz: {' '.join(why.split())}", file=sys.stderr)
    return ERROR


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="bartviz", description="See, step through and test attention: an app, and the same from a shell."
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.set_defaults(run=lambda _options: _help(parser))
    commands = parser.add_subparsers(metavar="command")
    for part in (app, serve, files, run, align, corpus, find, passport, tables):
        part.add(commands)
    completion.add(commands, parser)
    return parser


def _help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
