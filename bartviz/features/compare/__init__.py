"""Compare: numbers, figures, and the page."""
