"""The app's limits, read once from the environment; an invalid value is rejected by name."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass

from bartviz.errors import SettingError
from bartviz.language import later

LARGEST = 1_000_000
# Characters that a text field takes: twice of what is read, so that a text that is a little too long is refused with
# its number. All fields of a visitor together hold at most ``server.maxWidgetStateSize`` (.streamlit/config.toml).
TYPED = 200_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Memory limits in megabytes.

    ``model_mb``: models, including those loading or in use; ``record_mb``: records and other results, including those
    on display. The limits of uploads follow from it.
    """

    model_mb: int = 2048
    record_mb: int = 256

    @property
    def upload_mb(self) -> int:
        """Uploaded files of one visitor."""
        return max(self.record_mb // 32, 1)

    @property
    def uploads_mb(self) -> int:
        """Uploaded files of all visitors."""
        return max(self.record_mb // 2, 1)

    @classmethod
    def read(cls) -> Limits:
        """Read ``BARTVIZ_MODEL_MB`` and ``BARTVIZ_RECORD_MB``. Raises SettingError."""
        defaults = cls()
        return cls(**{name: _whole(f"BARTVIZ_{name.upper()}", value) for name, value in asdict(defaults).items()})


def device() -> str:
    """Where models compute: the setting ``BARTVIZ_DEVICE``, by default the CPU."""
    return os.environ.get("BARTVIZ_DEVICE", "").strip() or "cpu"


def compute() -> str:
    """Where runs compute: the setting ``BARTVIZ_COMPUTE``, the address of a Ray with replicas; empty: here."""
    return os.environ.get("BARTVIZ_COMPUTE", "").strip()


def _whole(name: str, otherwise: int) -> int:
    text = os.environ.get(name, "").strip()
    if not text:
        return otherwise
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST)) else 0
    if not 1 <= value <= LARGEST:
        message = later(
            "{name} must be a whole number from 1 to {largest:,}; unset it for {otherwise:,}.",
            name=name,
            largest=LARGEST,
            otherwise=otherwise,
        )
        raise SettingError(message)
    return value
