"""Heads: numbers, figures, and the page."""
