"""The command line: ``bartviz app``, ``bartviz capture`` and the others; ``bartviz --help`` lists them."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from bartviz.errors import BartvizError, TooLong, needs
from bartviz.version import __version__

ERROR = 2
STOPPED = 130  # as a shell reports a program that Ctrl+C has ended


class _Parser(argparse.ArgumentParser):
    """A parser that keeps the lines of its examples and reports an error in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message: str) -> NoReturn:
        self.exit(_refused(f"{message}. See {self.prog} --help."))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, but what a command does not know is refused by the command, with the option that it is
        like: its own help lists what there is."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            options = [name for name in self._option_string_actions if name.startswith("--")]
            close = difflib.get_close_matches(unknown[0].split("=")[0], options, 1)
            guess = f" Do you mean {close[0]}?" if close else ""
            self.exit(_refused(f"unrecognized arguments: {' '.join(unknown)}.{guess} See {self.prog} --help."))
        return found, unknown


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, or with one sentence on stderr 2, and 130 after Ctrl+C."""
    advice: Callable[[], str] = _again
    try:
        from bartviz.safety import addresses

        options = _parser().parse_args(arguments)
        advice = getattr(options, "stopped", advice)
        command: Callable[[argparse.Namespace], int] = options.run
        addresses.check_hub()
        status = command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _refused(advice())
        return STOPPED
    except BartvizError as error:
        can_cut = isinstance(error, TooLong) and error.can_cut and "truncate" in options
        return _refused(f"{error} Add --truncate first or --truncate last." if can_cut else str(error))
    except ModuleNotFoundError as error:
        return _refused(needs("This command", error.name))
    except BrokenPipeError:  # the reader, such as ``head``, has stopped: avoid a second error at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _refused(f"the file cannot be written: {error.strerror}.")
    return status


def _refused(why: str) -> int:
    from bartviz.commands.output import say

    with suppress(BrokenPipeError):  # nobody reads it any more
        say(f"bartviz: {' '.join(why.split())}", error=True)
    return ERROR


def _again() -> str:
    return "Stopped before the end. To start again, repeat the command."


def _parser() -> argparse.ArgumentParser:
    # Here and not above: what they import takes a while, in which Ctrl+C would end in a traceback.
    from bartviz.commands import (
        align,
        alive,
        app,
        attribute,
        cite,
        compare,
        completion,
        corpus,
        files,
        find,
        heads,
        headvis,
        passport,
        run,
        serve,
        tables,
        why,
    )

    parser = _Parser(
        prog="bartviz", description="See, step through and test attention: an app, and the same from the shell."
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.set_defaults(run=lambda _options: _help(parser))
    commands = parser.add_subparsers(metavar="command")
    over_texts = (corpus, why, compare, find, heads, headvis, passport)
    for part in (app, serve, files, alive, run, attribute, align, *over_texts, tables, cite):
        part.add(commands)
    completion.add(commands, parser)
    return parser


def _help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
