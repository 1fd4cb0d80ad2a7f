"""The record that the app starts with: drawn at once, before torch is imported."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bartviz.record import open_record

if TYPE_CHECKING:
    from bartviz.record import Record

FILE = Path(__file__).resolve().parents[1] / "embedded" / "records" / "start.safetensors"


def path() -> Path:
    """The file of the record: ``BARTVIZ_RECORD`` names another one than ours."""
    return Path(os.environ.get("BARTVIZ_RECORD") or FILE)


@cache
def record() -> Record | None:
    """The saved record, read once per process; None where there is none. Raises RecordError for a broken file."""
    return open_record(path()) if path().is_file() else None
