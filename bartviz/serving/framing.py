"""Which sites may show the app in a frame: none but its own, unless ``BARTVIZ_FRAME_ANCESTORS`` names others."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from bartviz.errors import SettingError
from bartviz.language import later

SETTING = "BARTVIZ_FRAME_ANCESTORS"
_LABEL = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_SITE = re.compile(rf"https?://(\*\.)?{_LABEL}(\.{_LABEL})*(:\d{{1,5}})?")


def sites() -> list[str]:
    """The sites that the setting names, such as ``https://course.example``. Raises SettingError for what is none."""
    named = os.environ.get(SETTING, "").lower().replace(",", " ").split()
    if not all(_SITE.fullmatch(site) for site in named):
        message = later(
            "{name} lists sites with their scheme and without a path: https://course.example https://*.school.example.",
            name=SETTING,
        )
        raise SettingError(message)
    return named


def headers(allowed: Sequence[str]) -> dict[str, str]:
    """The headers that tell a browser who may frame a page.

    ``X-Frame-Options`` cannot name other sites; where there are some it is left out, and browsers go by the policy.
    """
    policy = {"Content-Security-Policy": " ".join(["frame-ancestors 'self'", *allowed])}
    return policy if allowed else {"X-Frame-Options": "SAMEORIGIN", **policy}
