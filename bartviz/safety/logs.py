"""The logger, "bartviz", for the owner of a server; it never contains what a visitor wrote.

``BARTVIZ_LOG`` sets the level. A fault is logged by its type and traceback; its message and the values of variables may
contain a visitor's text and are left out.
"""

from __future__ import annotations

import logging
import os
import traceback

from bartviz.errors import SettingError, choices
from bartviz.language import later

SETTING = "BARTVIZ_LOG"
LEVELS = ("debug", "info", "warning", "error")
DEFAULT = "warning"

log = logging.getLogger("bartviz")


def level() -> str:
    """The level set by ``BARTVIZ_LOG``. Raises SettingError for an unknown one."""
    name = os.environ.get(SETTING, "").strip().lower() or DEFAULT
    if name not in LEVELS:
        message = later(
            "{name} must be {levels}; unset it for {otherwise}.",
            name=SETTING,
            levels=choices(LEVELS),
            otherwise=DEFAULT,
        )
        raise SettingError(message)
    return name


def begin(level: str) -> None:
    """Log to stderr from this level up: called once by a server, never by the library."""
    log.setLevel(level.upper())
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        log.addHandler(handler)


def fault(what: str, error: BaseException) -> None:
    """Log an unexpected fault: ``what`` failed, and where."""
    log.error("%s\n%s", what, where(error))


def where(error: BaseException) -> str:
    """The traceback of an error and of its causes, without their messages."""
    parts: list[str] = []
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        seen.append(current)
        frames = "".join(traceback.format_tb(current.__traceback__))
        kind = type(current)
        parts.insert(0, f"Traceback (most recent call last):\n{frames}{kind.__module__}.{kind.__qualname__}")
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)
    return "\n\nwhich led to\n\n".join(parts)
