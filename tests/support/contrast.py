"""How well a text can be read on a colour."""

from __future__ import annotations


def contrast(one: str, other: str) -> float:
    """Of two colours ``#rrggbb``: 1 for the same, 21 for black and white (WCAG 2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    """Of a colour ``#rrggbb``, 0 to 1."""
    shares = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
