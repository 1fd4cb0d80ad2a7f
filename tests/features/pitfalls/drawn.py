"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {
    "pitfalls_gap": "gap",
    "pitfalls_quiet": "quiet",
    "pitfalls_mean_": "heads",
    "pitfalls_sinks": "heads",
    "pitfalls_hidden": "heads",
    "pitfalls_": "heads",
    "pitfalls_trained": "heads",
    "pitfalls_random": "heads",
}
