"""What the app may use, read once from the environment: refused with its name where a value makes no sense."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass

from bartviz.errors import SettingError
from bartviz.language import later

LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What is kept in memory, in megabytes, and how many runs may wait at the gate.

    ``model_mb``: of models, those that are loading or in use included; ``record_mb``: of records and other results,
    those that visitors look at included; ``upload_mb`` and ``uploads_mb``: of the files of one visitor, and of all.
    """

    model_mb: int = 2048
    record_mb: int = 256
    queue: int = 256
    upload_mb: int = 8
    uploads_mb: int = 128

    @classmethod
    def read(cls) -> Limits:
        """From ``BARTVIZ_MODEL_MB`` and so on, each name in capitals. Raises SettingError."""
        ours = cls()
        return cls(**{name: _whole(f"BARTVIZ_{name.upper()}", value) for name, value in asdict(ours).items()})


def _whole(name: str, otherwise: int) -> int:
    text = os.environ.get(name, "").strip()
    if not text:
        return otherwise
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST)) else 0
    if not 1 <= value <= LARGEST:
        said = later(
            "{name} is a whole number from 1 to {largest:,}; leave it out for {otherwise:,}.",
            name=name,
            largest=LARGEST,
            otherwise=otherwise,
        )
        raise SettingError(said)
    return value
