"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

VIEWS = (
    {"view": "lines", "range": "log"},
    {"view": "text", "range": "row", "hide": "true", "divide": "true"},
    {"weights": "all", "kind": "encoder"},
    {"weights": "layer", "words": "true", "small": "layer"},
)
