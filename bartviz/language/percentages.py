"""Shares and probabilities in per cent, never rounded to none or all.

``filled`` is ``str.format`` for messages: ``{share:%}`` is written by ``percent``, and so is a share that
``{share:.0%}`` would write as 0% or 100%, and that is neither, or that is beyond what ``percent`` writes in digits.
"""

from __future__ import annotations

import math
import string
import unicodedata
from collections.abc import Mapping
from numbers import Real


def percent(share: float) -> str:
    """A share or probability (0 to 1) in per cent: 92%, 3.1%, <0.1%, >99.9%; never rounded to none or all."""
    value = 100 * share
    if 0 < value < 0.1:
        return "<0.1%"
    if 99.9 < value < 100:
        return ">99.9%"
    return f"{value:.0f}%" if 9.95 <= value < 99.5 or value in (0, 100) else f"{value:.1f}%"


def tenths(share: float) -> str:
    """As ``percent``, always with one decimal, for shares that a reader may add up: 91.7%, 8.3%, 100%."""
    said = percent(share)
    return said if "." in said or share in (0, 1) else f"{100 * share:.1f}%"


def of_before(change: float) -> str:
    """A change of log p (nats) as what the probability is then, if before it was 100%: 79%, <1%, ×40."""
    times = math.exp(min(change, 99.0))
    return f"×{times:,.0f}" if times >= 10 else f"{100 * times:.0f}%" if times >= 0.005 else "<1%"


def fine(share: float) -> str:
    """As ``percent``, but a small share has two digits, too: 0.31%, 0.034%, <0.001%."""
    if share >= 0.01 or share == 0:
        return percent(share)
    return "<0.001%" if share < 1e-5 else f"{100 * share:#.2g}%"


def filled(message: str, values: Mapping[str, object]) -> str:
    """``message`` with its ``{names}`` filled, as by ``str.format``, its shares never rounded to none or all, and words
    that are read from right to left isolated: they would move what is next to them."""
    values = {name: isolated(value) if isinstance(value, str) else value for name, value in values.items()}
    return _FORMATTER.vformat(message, (), values) if "%}" in message else message.format(**values)


def isolated(text: str) -> str:
    """The text within marks (FSI, PDI) that keep its direction to itself, where a letter is read from right to left."""
    if text.isascii() or not any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text):
        return text
    return text if text.startswith("\u2068") and text.endswith("\u2069") else f"\u2068{text}\u2069"


class _Formatter(string.Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        if format_spec == "%" and isinstance(value, Real):
            return percent(float(value))
        text = format(value, format_spec)
        if not format_spec.endswith("%") or not isinstance(value, Real):
            return text
        share, written = float(value), float(text.replace(",", "").removesuffix("%"))
        beyond = 0 < share < 0.001 or 0.999 < share < 1  # one number is not 0.1% here and <0.1% there
        return percent(share) if beyond or (share > 0 and written == 0) or (share < 1 and written == 100) else text


_FORMATTER = _Formatter()
