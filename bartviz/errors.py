"""The errors that bartviz raises: what happened, the limit or the choices, and what to do next.

No message carries the user's text, a path of the machine or a stack: each may be shown to a visitor as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from bartviz.language import _, later


class BartvizError(Exception):
    """Base of all errors of bartviz; its text is one or two plain sentences for the user.

    Made with ``language.later``, so that it appears in the reader's language, whichever thread raised it.
    """

    def __str__(self) -> str:
        return _(said) if self.args and isinstance(said := self.args[0], str) else super().__str__()

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is sent to another process: Python would call ``__init__`` with the message alone."""
        return _restored, (type(self), self.args), self.__dict__


class TextError(BartvizError, ValueError):
    """The text (or the file it came in) cannot be used: empty, too long, not UTF-8."""


class TooLong(TextError):
    """A limit is exceeded: ``count`` is the size (or what was read before stopping), ``limit`` the maximum.

    ``can_cut``: the caller can use the first or the last ``limit`` instead.
    """

    def __init__(self, message: str, count: int, limit: int, *, can_cut: bool = False) -> None:
        super().__init__(message)
        self.count = count
        self.limit = limit
        self.can_cut = can_cut
        if can_cut:  # for whoever reads the stack in Python; the app offers buttons
            self.add_note(_('Pass truncate="first" or truncate="last" to have only that part read.'))


class ModelError(BartvizError, ValueError):
    """A model is missing, fails validation, or has an architecture without the attention interface."""


class NotFetched(ModelError):
    """A model is not on this machine, and nobody has asked for its download; ``model`` is its name."""

    def __init__(self, message: str, model: str) -> None:
        super().__init__(message)
        self.model = model


class RecordError(BartvizError, ValueError):
    """A record's parts contradict each other, or a saved record cannot be opened."""


class WeightsOnlyError(BartvizError, ValueError):
    """A record was made from attention weights, and this needs more: queries, keys, scores, or the model."""


class SettingError(BartvizError, ValueError):
    """A setting has a value that does not exist; the message lists the choices."""


class PatternError(SettingError):
    """A pattern of attention cannot be read; ``position`` is the index of the character where it goes wrong."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class FontWarning(UserWarning):
    """A picture has characters that no font of this machine has, so that boxes are drawn for them."""


class PackageError(BartvizError, ModuleNotFoundError):
    """A package is not installed that only this needs; the message says how to install it."""


EXTRAS = {
    "anywidget": "notebook",
    "duckdb": "find",
    "prometheus_client": "app",
    "pyarrow": "corpus",
    "ray": "ray",
    "segno": "app",
    "shtab": "app",
    "starlette": "app",
    "streamlit": "app",
    "typst": "paper",
}
"""The extra that a package belongs to, if that is not ``models``."""


def needs(name: str, package: str | None) -> str:
    """The message that ``name`` needs a package that is not installed, and how to install it. Not with the name of
    bartviz itself, which pip does not find unless it is given a folder or a file."""
    extra = EXTRAS.get(package or "", "models")
    return later(
        "{name} needs {package}, which is not installed. It is in the extra {extra}: pip install '.[{extra}]' in a "
        "copy of the repository.",
        name=name,
        package=package,
        extra=extra,
    )


def missing(package: str) -> PackageError:
    """The error where a single package is not installed, which is enough."""
    message = later("{package} is not installed, and this needs it: pip install {package}", package=package)
    return PackageError(message, name=package)


class BudgetError(BartvizError):
    """The work would need more memory than allowed; the message gives the number and the limit."""


class Cancelled(BartvizError):
    """The user, or a newer request of the same session, stopped the work."""


class Busy(BartvizError):
    """The compute queue is full; the message says how many wait."""


E = TypeVar("E", bound=BaseException)


def _restored(kind: type[E], args: tuple[object, ...]) -> E:
    return kind.__new__(kind, *args)


def without_stack(error: E) -> E:
    """An error that is kept, without the frames it went through: they would hold all that the work held."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def choices(values: Iterable[object]) -> str:
    """The values as a readable list for an error: ``a, b or c``; in the reader's language, as by ``later``."""
    names = [value if isinstance(value, str) else str(value) for value in values]
    if len(names) < 2:
        return names[0] if names else later("none")
    several = names[0]
    for name in names[1:-1]:
        several = later("{several}, {name}", several=several, name=name)
    return later("{several} or {last}", several=several, last=names[-1])
