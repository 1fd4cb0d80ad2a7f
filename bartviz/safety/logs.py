"""The one logger, "bartviz": what the owner of a server should know, and never what a visitor wrote.

``BARTVIZ_LOG`` sets how much is told. A fault is told by its type and the lines of code it went through; its message
and the values of variables may hold a visitor's text and stay out.
"""

from __future__ import annotations

import logging
import os
import traceback

from bartviz.errors import SettingError, choices
from bartviz.language import later

SETTING = "BARTVIZ_LOG"
LEVELS = ("debug", "info", "warning", "error")
OURS = "warning"

log = logging.getLogger("bartviz")


def level() -> str:
    """What ``BARTVIZ_LOG`` says. Raises SettingError for a word that is no level."""
    said = os.environ.get(SETTING, "").strip().lower() or OURS
    if said not in LEVELS:
        told = later(
            "{name} is {levels}; leave it out for {otherwise}.", name=SETTING, levels=choices(LEVELS), otherwise=OURS
        )
        raise SettingError(told)
    return said


def begin(said: str) -> None:
    """Write what is at least of this level to stderr: called once by a server, never by the library."""
    log.setLevel(said.upper())
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        log.addHandler(handler)


def fault(what: str, error: BaseException) -> None:
    """Log a fault that nobody foresaw: ``what`` failed, in words of ours, and where."""
    log.error("%s\n%s", what, where(error))


def where(error: BaseException) -> str:
    """The traceback of an error and of those that led to it, without what they say."""
    parts: list[str] = []
    seen: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in seen:
        seen.append(following)
        frames = "".join(traceback.format_tb(following.__traceback__))
        kind = type(following)
        parts.insert(0, f"Traceback (most recent call last):\n{frames}{kind.__module__}.{kind.__qualname__}")
        hidden = following.__suppress_context__
        following = following.__cause__ or (None if hidden else following.__context__)
    return "\n\nwhich led to\n\n".join(parts)
