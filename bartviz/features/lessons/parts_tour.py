"""Guided tours: each step sets the view of a real page and asks a question about it.

The frame calls ``prepare`` before any widget is drawn, each page ``strip``, and the app ``drawn`` at the end.
"""

from bartviz.ui.frame.tour.strip import strip
from bartviz.ui.frame.tour.walk import drawn, prepare

__all__ = ["drawn", "prepare", "strip"]
