"""The record that the app starts with: drawn at once, before torch is imported."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bartviz.errors import RecordError
from bartviz.record import open_record

if TYPE_CHECKING:
    from bartviz.record import Record

FILE = Path(__file__).resolve().parents[1] / "embedded" / "records" / "start.safetensors"


def path() -> Path:
    """The file of the record: ``BARTVIZ_RECORD`` names another one than ours."""
    return Path(os.environ.get("BARTVIZ_RECORD") or FILE)


@cache
def read() -> Record | RecordError | None:
    """The saved record, read once per process; what is wrong with it; None where there is none."""
    try:
        return open_record(path()) if path().exists() else None
    except RecordError as error:
        return error.with_traceback(None)


def record() -> Record | None:
    """The saved record, or None where there is none that can be read."""
    found = read()
    return None if isinstance(found, RecordError) else found


def error() -> RecordError | None:
    """Why the saved record cannot be read, or None."""
    found = read()
    return found if isinstance(found, RecordError) else None
