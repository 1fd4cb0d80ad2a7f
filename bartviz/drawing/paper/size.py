"""The width of a picture in points."""

from __future__ import annotations

from bartviz.errors import SettingError
from bartviz.language import later

COLUMN = 240.0
"""Points: a column of a page in two columns."""
LEAST, MOST = 120, 1200


def check_width(width: float) -> float:
    """The width, if a picture can have it. Raises SettingError."""
    if not LEAST <= width <= MOST:
        raise SettingError(later("A picture is {least} to {most} points wide.", least=LEAST, most=MOST))
    return float(width)
