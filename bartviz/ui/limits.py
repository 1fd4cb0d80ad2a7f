"""What the app may use, read once from the environment: refused with its name where a value makes no sense."""

from __future__ import annotations

import os
from dataclasses import dataclass

from bartviz.errors import SettingError
from bartviz.language import later

LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Megabytes of models and of records kept in memory, and how many runs may wait at the gate."""

    model_mb: int = 2048
    record_mb: int = 256
    queue: int = 256

    @classmethod
    def read(cls) -> Limits:
        """From ``BARTVIZ_MODEL_MB``, ``BARTVIZ_RECORD_MB`` and ``BARTVIZ_QUEUE``. Raises SettingError."""
        ours = cls()
        return cls(
            _whole("BARTVIZ_MODEL_MB", ours.model_mb),
            _whole("BARTVIZ_RECORD_MB", ours.record_mb),
            _whole("BARTVIZ_QUEUE", ours.queue),
        )


def _whole(name: str, otherwise: int) -> int:
    text = os.environ.get(name, "").strip()
    if not text:
        return otherwise
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST)) else 0
    if not 1 <= value <= LARGEST:
        said = later("{name} is a whole number from 1 to {largest:,}; leave it out for {otherwise:,}.",
                     name=name, largest=LARGEST, otherwise=otherwise)  # fmt: skip
        raise SettingError(said)
    return value
