"""Decoding: numbers, figures, and the page."""
