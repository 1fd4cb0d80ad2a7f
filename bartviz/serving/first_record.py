"""The record that the app starts with: drawn at once, before torch is imported."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bartviz.errors import RecordError
from bartviz.language import later
from bartviz.record.record import open_record
from bartviz.serving.read_once import read_once

if TYPE_CHECKING:
    from bartviz.record.record import Record

FILE = Path(__file__).resolve().parents[1] / "embedded" / "records" / "start.safetensors"
NAME = "BARTVIZ_RECORD"


@read_once
def read() -> tuple[Record | None, RecordError | None]:
    """The saved record, read once per process, and the error of the file named by ``BARTVIZ_RECORD``, if any.

    If that file cannot be read, the embedded record is used and the log names the file.
    """
    named = os.environ.get(NAME)
    if not named:
        return _opened(FILE) if FILE.exists() else (None, None)
    record, error = _opened(Path(named))
    if error is None:
        return record, None
    logging.getLogger("bartviz").warning("%s names %s. %s", NAME, named, error)
    return _opened(FILE)[0], RecordError(
        later(
            "The record that {name} names cannot be shown. {reason} Set {name} to a file that bartviz has "
            "saved, or unset it, and restart the app; until then it shows the record that ships with it.",
            name=NAME,
            reason=error.args[0],
        )
    )


def _opened(file: Path) -> tuple[Record | None, RecordError | None]:
    try:
        return open_record(file), None
    except RecordError as error:
        return None, error.with_traceback(None)


def record() -> Record | None:
    """The saved record, or None if none can be read."""
    return read()[0]


def error() -> RecordError | None:
    """Why the saved record cannot be read, or None."""
    return read()[1]
