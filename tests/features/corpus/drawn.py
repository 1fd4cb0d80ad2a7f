"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from bartviz.features.corpus.parts_patterns import PATTERNS

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {
    "corpus_heads": "atlas",
    "corpus_values": "distribution",
    "corpus_distances": "distances",
    "corpus_against": "atlas_pair",
}
TEXTS = tuple(PATTERNS)  # what is typed is written so in every language
