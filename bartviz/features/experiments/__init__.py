"""Experiments: numbers, figures, and the page."""
