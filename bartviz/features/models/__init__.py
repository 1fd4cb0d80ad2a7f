"""Models: numbers, figures, and the page."""
