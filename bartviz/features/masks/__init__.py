"""Masks: numbers, figures, and the page."""
