"""Denoising: numbers, figures, and the page."""
