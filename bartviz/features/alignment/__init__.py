"""Alignment: numbers, figures, and the page."""
